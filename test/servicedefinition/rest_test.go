package servicedefinition

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"

	"polychrome.dev/controller/framework/frameworktest"
)

// TestServicesAtRestCostNothing steps through a hundred periodic looks at
// children as the API server spells and fills them.
func TestServicesAtRestCostNothing(t *testing.T) {
	t.Parallel()
	config := startBare(t)
	namespace := "default"
	w := worldOf(t, config, namespace)
	live, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	program := w.startStill()
	p := player{frameworktest.Run{Namespace: namespace, Config: config, Live: live, Clock: program.clock}, w.client, w.kube}
	steps := []frameworktest.Step{
		p.makes("ready"), p.rolls("ready"),
		p.makes("stopped"), p.edits("stopped", map[string]any{"replicas": 0}), p.rolls("stopped"),
		p.makes("scaled"), p.edits("scaled", map[string]any{"autoscaled": true}), p.scales("scaled", 5), p.rolls("scaled"),
		p.makes("rolling"), p.takes("taken"), p.makes("taken"),
		p.makes("odd"), p.edits("odd", map[string]any{"env": map[string]any{"EMPTY": "", "DOLLAR": "$(LEVEL)", "PORT": "007"}}),
	}
	for _, step := range steps {
		if err := step.Do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		program.settle()
	}
	program.requests.Forget()
	for range 100 {
		program.clock.Step(10 * time.Minute)
		program.settle()
	}
	var asked []string
	for _, r := range program.requests.Requests(frameworktest.Unary) {
		if r.Resource != "" {
			asked = append(asked, r.Verb+" "+r.Resource+" "+r.Name)
		}
	}
	if diff := cmp.Diff([]string(nil), asked); diff != "" {
		t.Errorf("requests in a hundred looks (-want +got):\n%s", diff)
	}
	end := p.leaves([]string{
		"definition odd RolloutInProgress 0",
		"definition ready RolloutComplete 2",
		"definition rolling RolloutInProgress 0",
		"definition scaled RolloutComplete 5",
		"definition stopped Stopped 0",
		"definition taken NameConflict 0",
		"deployment odd of odd " + oldImage + " 8080 2",
		"deployment ready of ready " + oldImage + " 8080 2",
		"deployment rolling of rolling " + oldImage + " 8080 2",
		"deployment scaled of scaled " + oldImage + " 8080 5",
		"deployment stopped of stopped " + oldImage + " 8080 0",
		"service kubernetes of somebody 443",
		"service odd of odd 80",
		"service ready of ready 80",
		"service rolling of rolling 80",
		"service scaled of scaled 80",
		"service stopped of stopped 80",
		"service taken of somebody 4000",
	})
	if err := end.Do(t.Context()); err != nil {
		t.Error(err)
	}
}
