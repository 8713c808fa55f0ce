package v1alpha1

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

func kinds() map[string]runtime.Object {
	return map[string]runtime.Object{
		"Agent":             &Agent{},
		"Conversation":      &Conversation{},
		"Routine":           &Routine{},
		"ServiceDefinition": &ServiceDefinition{},
		"ToolService":       &ToolService{},
		"Workflow":          &Workflow{},
	}
}

// The sample of each kind has every field. Decoding it strictly and encoding it
// again proves that each name on the wire is the one of the contract.
func TestEveryFieldKeepsItsNameOnTheWire(t *testing.T) {
	for kind, object := range kinds() {
		t.Run(kind, func(t *testing.T) {
			sample := readSample(t, kind+".json")
			strict, err := kjson.UnmarshalStrict(sample, object)
			if err != nil || len(strict) > 0 {
				t.Fatalf("decoding the sample: %v %v", err, strict)
			}
			encoded, err := json.Marshal(object)
			if err != nil {
				t.Fatalf("encoding it again: %v", err)
			}
			var want, got map[string]any
			decode(t, sample, &want)
			decode(t, encoded, &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("wire form (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSamplesHaveEveryField(t *testing.T) {
	for kind, object := range kinds() {
		var sample map[string]any
		decode(t, readSample(t, kind+".json"), &sample)
		for _, field := range []string{"Spec", "Status"} {
			value := reflect.ValueOf(object).Elem().FieldByName(field)
			missing(t, kind+"."+strings.ToLower(field), value.Type(), sample[strings.ToLower(field)])
		}
	}
}

// missing reports the fields of a type that a sample does not have.
func missing(t *testing.T, path string, typ reflect.Type, sample any) {
	t.Helper()
	switch {
	case sample == nil:
		t.Errorf("the sample has no %s", path)
	case typ.Kind() == reflect.Pointer:
		missing(t, path, typ.Elem(), sample)
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		for _, item := range sample.([]any) {
			missing(t, path+"[]", typ.Elem(), item)
		}
	case typ.Kind() == reflect.Struct && typ.PkgPath() == reflect.TypeFor[Conversation]().PkgPath():
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			missing(t, path+"."+name, typ.Field(i).Type, sample.(map[string]any)[name])
		}
	}
}

func TestZeroIdleTimeoutIsSent(t *testing.T) {
	encoded, err := json.Marshal(ConversationSpec{Model: ""})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"","idleTimeoutSeconds":0}`
	if diff := cmp.Diff(want, string(encoded)); diff != "" {
		t.Errorf("required fields are left out (-want +got):\n%s", diff)
	}
}

func TestZeroReplicasAreSent(t *testing.T) {
	var none int32
	encoded, err := json.Marshal(ServiceDefinitionSpec{Image: "app", Replicas: &none})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"image":"app","replicas":0}`
	if diff := cmp.Diff(want, string(encoded)); diff != "" {
		t.Errorf("zero replicas (-want +got):\n%s", diff)
	}
}

// A status that was never set must not reach the wire: the API server would
// take it for one that was, where status is no subresource.
func TestNewObjectsHaveNoStatus(t *testing.T) {
	for kind, object := range kinds() {
		encoded, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(encoded), "status") {
			t.Errorf("a new %s is sent with a status: %s", kind, encoded)
		}
	}
}

// False must be sent: a merge patch that leaves it out would keep true.
func TestClearedFlagsAreSent(t *testing.T) {
	tests := []struct {
		status any
		want   []string
	}{
		{ConversationStatus{}, []string{"harnessReady", "closed", "idleReclaimed", "rollingHarness"}},
		{ServiceDefinitionStatus{}, []string{"ready", "availableReplicas"}},
		{WorkflowStatus{}, []string{"readyStages", "totalStages"}},
		{WorkflowStageStatus{}, []string{"ready"}},
		{ToolServiceStatus{}, []string{"ready", "toolCount"}},
		{RoutineStatus{}, []string{"ready"}},
	}
	for _, tt := range tests {
		encoded, err := json.Marshal(tt.status)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		decode(t, encoded, &fields)
		for _, name := range tt.want {
			if _, sent := fields[name]; !sent {
				t.Errorf("an empty %T is sent without %s", tt.status, name)
			}
		}
	}
}

func TestObjectsOfAnOlderReleaseDecode(t *testing.T) {
	var got Conversation
	decode(t, readSample(t, "conversation-of-an-older-release.json"), &got)
	if len(got.Status.Conditions) != 1 {
		t.Fatalf("conditions: want 1, got %d", len(got.Status.Conditions))
	}
	want := time.Date(2026, 3, 8, 9, 0, 0, 123456789, time.UTC)
	if at := got.Status.Conditions[0].LastTransitionTime; !at.Time.Equal(want) {
		t.Errorf("lastTransitionTime: want %v, got %v", want, at)
	}
	if got.Status.HarnessEndpoint != "" || got.Status.ClosedAt != nil || got.Status.Closed {
		t.Errorf("null and missing fields: got %+v", got.Status)
	}
}

func readSample(t *testing.T, name string) []byte {
	t.Helper()
	sample, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return sample
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, into); err != nil {
		t.Fatalf("decoding %s: %v", data, err)
	}
}
