package framework_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// crash is a journey of widgets whose reconciler follows a script. The steps
// are those of a user of the run's namespace.
func crash(t *testing.T, follow func(*rig) *script, steps func(user) []frameworktest.Step) frameworktest.Crash {
	t.Helper()
	config := cluster.Shared(t)
	define(t, config)
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			user := user{run}
			return frameworktest.Scenario{
				Start: func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
					r := newRig(t, rigOptions{
						config: config, access: access, namespace: run.Namespace, script: follow,
						manager: func(o *framework.ManagerOptions) { o.Clock = clock },
					})
					return r.program, nil
				},
				Steps: steps(user),
				State: frameworktest.Snapshot{
					Live: run.Live, Namespace: run.Namespace, Mask: maskNames,
					Resources: []schema.GroupVersionResource{widget.Widgets, configMaps},
				}.Text,
			}, nil
		},
		Invariants: []frameworktest.Invariant{
			frameworktest.NoDeleteWithoutUID,
			frameworktest.FinalizerBeforeEffect("widgets", finalizer),
		},
	}
}

// maskNames hides the part of a child's name that is made up, if one is.
func maskNames(_ string, object map[string]any) {
	for _, path := range [][]string{{"metadata", "name"}, {"status", "note"}} {
		name, _, _ := unstructured.NestedString(object, path...)
		if strings.HasPrefix(name, "w-") {
			_ = unstructured.SetNestedField(object, "w-<made up>", path...)
		}
	}
}

// user changes things in the namespace of a run.
type user struct{ frameworktest.Run }

func (u user) makes(color string) frameworktest.Step {
	return frameworktest.Step{Name: "made", Do: func(ctx context.Context) error {
		w := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "w"}, Spec: widget.Spec{Color: color}}
		w.APIVersion, w.Kind = widget.GroupVersion.String(), widget.Kind
		rest, err := widget.REST(u.Config)
		if err != nil {
			return err
		}
		_, err = (&widget.Client{REST: rest, Namespace: u.Namespace, Resource: "widgets"}).Create(ctx, w)
		return err
	}}
}

func (u user) recolors(color string) frameworktest.Step {
	return frameworktest.Step{Name: "edited", Do: func(ctx context.Context) error {
		change, err := json.Marshal(map[string]any{"spec": map[string]any{"color": color}})
		if err != nil {
			return err
		}
		_, err = u.Live.Resource(widget.Widgets).Namespace(u.Namespace).Patch(ctx, "w", types.MergePatchType, change, metav1.PatchOptions{})
		return err
	}}
}

func (u user) deletesChild() frameworktest.Step {
	return frameworktest.Step{Name: "child deleted", Do: func(ctx context.Context) error {
		return u.Live.Resource(configMaps).Namespace(u.Namespace).Delete(ctx, "w", metav1.DeleteOptions{})
	}}
}

func (u user) deletes() frameworktest.Step {
	return frameworktest.Step{Name: "deleted", Do: func(ctx context.Context) error {
		return u.Live.Resource(widget.Widgets).Namespace(u.Namespace).Delete(ctx, "w", metav1.DeleteOptions{})
	}}
}

func (u user) waits(d time.Duration) frameworktest.Step {
	return frameworktest.Step{Name: fmt.Sprint("after ", d), Do: func(context.Context) error {
		u.Clock.Step(d)
		return nil
	}}
}

// TestAWidgetBearsEveryCrash kills the program at each of its writes.
func TestAWidgetBearsEveryCrash(t *testing.T) {
	t.Parallel()
	journeys := map[string]func(user) []frameworktest.Step{
		"made, edited, and its child deleted": func(u user) []frameworktest.Step {
			return []frameworktest.Step{u.makes("red"), u.recolors("blue"), u.deletesChild()}
		},
		"made and deleted": func(u user) []frameworktest.Step {
			return []frameworktest.Step{u.makes("red"), u.deletes()}
		},
	}
	for name, steps := range journeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frameworktest.CrashEverywhere(t, crash(t, standard, steps))
		})
	}
}
