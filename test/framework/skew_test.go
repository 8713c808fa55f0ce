package framework_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// aging is a server whose definition of the widgets is older than the type.
type aging struct {
	t      *testing.T
	config *rest.Config
}

func newAging(t *testing.T) *aging {
	t.Helper()
	a := &aging{t: t, config: cluster.Start(t, cluster.Options{APIOnly: true}).Config()}
	if err := widget.Define(t.Context(), a.config); err != nil {
		t.Fatal(err)
	}
	return a
}

// note gives the status a field note with this schema, or takes it away, and
// waits until the server goes by it.
func (a *aging) note(field map[string]any) {
	a.t.Helper()
	definitions := must(dynamic.NewForConfig(a.config)).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	const path = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/note"
	step := map[string]any{"op": "remove", "path": path}
	if field != nil {
		step = map[string]any{"op": "add", "path": path, "value": field}
	}
	must(definitions.Patch(a.t.Context(), "widgets.example.test", types.JSONPatchType, must(json.Marshal([]any{step})), metav1.PatchOptions{}))
	client := must(widget.REST(a.config))
	cluster.Eventually(a.t, patience, func() error {
		raw, err := client.Get().RequestURI("/openapi/v3/apis/example.test/v1").SetHeader("Accept", "application/json").Do(a.t.Context()).Raw()
		if err == nil && strings.Contains(string(raw), `"note"`) != (field != nil) {
			err = fmt.Errorf("the schema is not served yet")
		}
		return err
	})
}

// skewed waits until a widget says that its note is dropped.
func (r *rig) skewed(name string) {
	r.t.Helper()
	said := r.condition(name, framework.ConditionSchemaSkew, metav1.ConditionTrue, framework.ReasonFieldPruned)
	if !strings.Contains(said.Message, "status.note") {
		r.t.Errorf("want the path named, got %q", said.Message)
	}
}

// quietly has a widget looked at many times and checks what was written to
// its status in all.
func (r *rig) quietly(name string, least, most int) {
	r.t.Helper()
	for range 20 {
		r.idle()
		r.wake(name)
	}
	r.idle()
	if got := r.faults.Count(frameworktest.On("widgets/status"), frameworktest.Named(name)); got < least || got > most {
		r.t.Errorf("want %d to %d writes of a status that the server prunes, got %d", least, most, got)
	}
}

// TestAPrunedFieldIsSaidAndThenWritten updates the definition under a program
// that has found out, by a write or at its start, that it is too old.
func TestAPrunedFieldIsSaidAndThenWritten(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// late has the definition rolled back under the program.
		late         bool
		least, most  int
		wantSaidOnce string
	}{
		"found out by a write": {late: true, least: 2, most: 3, wantSaidOnce: "drops fields that were sent"},
		"checked at the start": {least: 1, most: 1, wantSaidOnce: "the served schema lacks fields"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAging(t)
			if !test.late {
				a.note(nil)
			}
			r := newRig(t, rigOptions{config: a.config})
			r.parents.CheckSchema = true
			r.run()
			r.create("red", "w")
			if test.late {
				r.ready("w")
				a.note(nil)
				r.recolor("blue", "w")
			}
			r.skewed("w")
			r.quietly("w", test.least, test.most)
			lines := slices.DeleteFunc(strings.Split(r.log.String(), "\n"), func(line string) bool { return !strings.Contains(line, test.wantSaidOnce) })
			if len(lines) != 1 || !strings.Contains(lines[0], "status.note") {
				t.Errorf("want the field named in one line of the log, got %q", lines)
			}
			if got := r.metric("fw_schema_missing_fields", map[string]string{"resource": "widgets.example.test"}); got != 1 {
				t.Errorf("want one missing field in the metrics, got %v", got)
			}
			if w := r.get("w"); !meta.IsStatusConditionTrue(w.Status.Conditions, framework.ConditionReady) || w.Status.ObservedGeneration != w.Generation {
				t.Errorf("want all other fields written, got %+v", w.Status)
			}

			a.note(map[string]any{"type": "string"})
			r.ready("w")
			r.idle()
			if c := meta.FindStatusCondition(r.get("w").Status.Conditions, framework.ConditionSchemaSkew); c != nil {
				t.Errorf("want the condition gone, got %+v", c)
			}
			if got := r.metric("fw_schema_missing_fields", map[string]string{"resource": "widgets.example.test"}); got != 0 {
				t.Errorf("want no missing field in the metrics, got %v", got)
			}
			r.quietly("w", test.least+1, test.most+2)
		})
	}
}

// TestAFieldThatAWriteFoundPrunedIsWrittenOnceItMay has a kind whose schema
// nobody compares when the program starts.
func TestAFieldThatAWriteFoundPrunedIsWrittenOnceItMay(t *testing.T) {
	t.Parallel()
	a := newAging(t)
	a.note(nil)
	r := start(t, rigOptions{config: a.config})
	r.create("red", "w")
	r.skewed("w")
	a.note(map[string]any{"type": "string"})
	r.ready("w")
}

// TestADefinitionThatIsRolledBackAndForthIsSeen brings back the very schema
// that was served at the start.
func TestADefinitionThatIsRolledBackAndForthIsSeen(t *testing.T) {
	t.Parallel()
	a := newAging(t)
	r := newRig(t, rigOptions{config: a.config})
	r.parents.CheckSchema = true
	r.run()
	r.create("red", "w")
	r.ready("w")
	a.note(nil)
	r.recolor("blue", "w")
	r.skewed("w")
	a.note(map[string]any{"type": "string", "maxLength": 200})
	r.ready("w")
}

// TestADormantKindIsSaidOnce takes the definition away, gives it back and
// takes it away again.
func TestADormantKindIsSaidOnce(t *testing.T) {
	t.Parallel()
	config := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	r := start(t, rigOptions{config: config})
	lines := func(text string) int { return strings.Count(r.log.String(), text) }
	dormant := func(want float64, turns int) {
		t.Helper()
		r.eventually(func() error {
			if got := r.metric("fw_resource_dormant", map[string]string{"resource": "widgets.example.test"}); got != want {
				return fmt.Errorf("want fw_resource_dormant at %v, got %v", want, got)
			}
			return nil
		})
		if got := r.metric("fw_resource_dormant", map[string]string{"resource": "configmaps"}); got != 0 {
			t.Errorf("want the other resource awake, got %v", got)
		}
		if got := lines("the API is not served"); got != turns {
			t.Errorf("want %d lines on an API that is gone, got %d", turns, got)
		}
	}
	dormant(1, 1)
	for life := range 2 {
		if err := widget.Define(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("w", life)
		r.create("red", name)
		r.ready(name)
		dormant(0, life+1)
		if err := widget.Undefine(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		r.state(framework.Absent)
		dormant(1, life+2)
	}
	// However often it is looked for after that.
	asked := func(request frameworktest.Request) bool { return request.Path == "/apis/example.test/v1" }
	before := r.faults.Count(asked)
	r.eventually(func() error {
		if got := r.faults.Count(asked) - before; got < 3 {
			return fmt.Errorf("want the API looked for, got %d looks", got)
		}
		return nil
	})
	dormant(1, 3)
	if got := lines("asleep until what it needs is back"); got != 2 {
		t.Errorf("want one line for each time it fell asleep, got %d", got)
	}
	if got := lines("looking at every object"); got != 2 {
		t.Errorf("want one line for each time it woke, got %d", got)
	}
}
