package framework_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"

	"polychrome.dev/controller/test/framework/widget"
)

// app is the container of the Deployment that is ours.
func app(d *appsv1.Deployment) corev1.Container {
	for _, c := range d.Spec.Template.Spec.Containers {
		if c.Name == "app" {
			return c
		}
	}
	return corev1.Container{}
}

// TestDriftOfAnyOwnedFieldIsHealed has somebody change or remove one field
// after the other.
func TestDriftOfAnyOwnedFieldIsHealed(t *testing.T) {
	t.Parallel()
	d := newDeployer(t)
	container := func(change string) string {
		return `{"spec":{"template":{"spec":{"containers":[{"name":"app",` + change + `}]}}}}`
	}
	for what, patch := range map[string]string{
		"a label changed":               `{"metadata":{"labels":{"widget":"theirs"}}}`,
		"a label removed":               `{"metadata":{"labels":{"widget":null}}}`,
		"the replicas":                  `{"spec":{"replicas":1}}`,
		"the image":                     container(`"image":"example.test/wrong:1"`),
		"a variable changed":            container(`"env":[{"name":"FULL","value":"theirs"}]`),
		"a variable removed":            container(`"env":[{"name":"FULL","$patch":"delete"}]`),
		"a quantity":                    container(`"resources":{"requests":{"cpu":"999m"}}`),
		"a quantity removed":            container(`"resources":{"requests":{"memory":null}}`),
		"a port removed":                container(`"ports":[{"containerPort":80,"$patch":"delete"}]`),
		"the memory of what was wanted": `{"metadata":{"annotations":{"example.test/applied-hash":null}}}`,
	} {
		d.applies(1, "drift of "+what, func() { d.edit(patch) })
		d.asWanted(what)
	}
	for what, patch := range map[string]string{
		"a quantity in other words": container(`"resources":{"requests":{"cpu":"1","memory":"524288Ki"}}`),
		"a default of the server":   `{"spec":{"progressDeadlineSeconds":601}}`,
	} {
		d.applies(0, what, func() {
			d.edit(patch)
			d.wake("w")
		})
	}
}

// asWanted checks every field that the workload names.
func (d *deployer) asWanted(what string) {
	d.t.Helper()
	live := d.deployment()
	c := app(live)
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	cpu, memory := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Requests[corev1.ResourceMemory]
	d.same("the Deployment after drift of "+what, []any{"w", int32(0), "example.test/app:1", map[string]string{"EMPTY": "", "FULL": "x"}, 1, true, true},
		[]any{live.Labels["widget"], *live.Spec.Replicas, c.Image, env, len(c.Ports),
			cpu.Equal(resource.MustParse("1")), memory.Equal(resource.MustParse("512Mi"))})
}

// TestWhatIsNoLongerWantedGoes takes one wish back after the
// other.
func TestWhatIsNoLongerWantedGoes(t *testing.T) {
	t.Parallel()
	d := newDeployer(t)
	full := func(w *widget.Widget) *appsapply.DeploymentApplyConfiguration {
		return workload(w).WithLabels(map[string]string{"extra": "yes"}).WithAnnotations(map[string]string{"example.test/extra": "yes"})
	}
	d.applies(1, "more labels", func() { d.wants(full) })
	live := d.deployment()
	d.same("extras", []string{"yes", "yes"}, []string{live.Labels["extra"], live.Annotations["example.test/extra"]})
	d.applies(1, "fewer labels", func() { d.wants(workload) })
	live = d.deployment()
	d.same("extras", []string{"", ""}, []string{live.Labels["extra"], live.Annotations["example.test/extra"]})
	d.applies(1, "no variables", func() {
		d.wants(func(w *widget.Widget) *appsapply.DeploymentApplyConfiguration {
			config := workload(w)
			config.Spec.Template.Spec.Containers[0].Env = nil
			config.Spec.Template.Spec.Containers[0].Resources = nil
			return config
		})
	})
	if c := app(d.deployment()); len(c.Env) != 0 || len(c.Resources.Requests) != 0 {
		t.Errorf("want no variables and no quantities, got %+v", c)
	}
}
