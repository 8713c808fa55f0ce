package workflow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServiceDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		stage workflowStage
		owner string
		want  string
	}{
		"a stage that says all": {
			stage: with(stage("load", "b", "a", "b"), func(s *workflowStage) {
				s.Kind, s.Template, s.Port, s.Replicas = "dataset", "loader", 9000, new(int32(3))
			}),
			owner: "user:slack/U1",
			want: `{"kind":"ServiceDefinition","apiVersion":"polychrome.dev/v1alpha1","metadata":{"name":"wf-load","namespace":"apps",` +
				`"labels":{"app.kubernetes.io/managed-by":"polychrome","app.kubernetes.io/name":"wf-load","polychrome.dev/stage":"load","polychrome.dev/workflow":"wf"},` +
				`"annotations":{"polychrome.dev/depends-on":"a,b"}},` +
				`"spec":{"owner":"user:slack/U1","template":"loader","image":"example.com/load:1","port":9000,"replicas":3,"env":{"STAGE":"load"}}}`,
		},
		"one that predates the defaults": {
			stage: workflowStage{Name: "load", Image: "example.com/load:1"},
			want: `{"kind":"ServiceDefinition","apiVersion":"polychrome.dev/v1alpha1","metadata":{"name":"wf-load","namespace":"apps",` +
				`"labels":{"app.kubernetes.io/managed-by":"polychrome","app.kubernetes.io/name":"wf-load","polychrome.dev/stage":"load","polychrome.dev/workflow":"wf"}},` +
				`"spec":{"image":"example.com/load:1","port":8080,"replicas":1}}`,
		},
		"one that is stopped": {
			stage: workflowStage{Name: "load", Image: "example.com/load:1", Replicas: new(int32(0))},
			want: `{"kind":"ServiceDefinition","apiVersion":"polychrome.dev/v1alpha1","metadata":{"name":"wf-load","namespace":"apps",` +
				`"labels":{"app.kubernetes.io/managed-by":"polychrome","app.kubernetes.io/name":"wf-load","polychrome.dev/stage":"load","polychrome.dev/workflow":"wf"}},` +
				`"spec":{"image":"example.com/load:1","port":8080,"replicas":0}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			wf := flow(c.stage)
			wf.Spec.Owner = c.owner
			got, err := json.Marshal(serviceDefinitionFor(wf, c.stage))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
