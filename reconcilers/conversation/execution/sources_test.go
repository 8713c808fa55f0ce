package execution

import (
	"encoding/json"
	"strings"
	"testing"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	"polychrome.dev/controller/framework"
)

func FuzzMapClaim(f *testing.F) {
	for _, metadata := range []string{
		``, `null`, `{}`, `{"name": "", "namespace": ""}`, `{"name": "a/b", "namespace": "/"}`,
		`{"name": "` + strings.Repeat("a", 1<<16) + `", "generation": -1, "creationTimestamp": "yesterday"}`,
		`{"name": "a", "ownerReferences": null}`, `{"name": "a", "ownerReferences": [{}, {"controller": null}, {"controller": true}]}`,
		`{"name": "a", "namespace": "n", "ownerReferences": [{"controller": true, "kind": "Conversation", "apiVersion": "", "name": "b"}]}`,
		`{"name": "a", "namespace": "n", "ownerReferences": [{"controller": true, "kind": "Conversation", "apiVersion": "a/b/c", "name": "b"}]}`,
		`{"name": "a", "namespace": "n", "ownerReferences": [{"controller": true, "kind": "Conversation", "apiVersion": "polychrome.dev/", "name": ""}]}`,
		`{"name": "a", "namespace": "n", "ownerReferences": [{"controller": true, "kind": "Conversation", "apiVersion": "polychrome.dev/v1alpha1", "name": "b"}]}`,
	} {
		f.Add([]byte(metadata))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		claim := &agentsandboxv1alpha1.SandboxClaim{}
		// What was decoded before an error is hostile enough.
		_ = json.Unmarshal(metadata, &claim.ObjectMeta)
		keys := MapClaim(claim)
		if len(keys) == 0 || len(keys) > 2 || keys[0] != (framework.Key{Namespace: claim.Namespace, Name: claim.Name}) {
			t.Errorf("want the claim's own key and at most one more, got %v", keys)
		}
		for _, key := range keys {
			if key.Namespace != claim.Namespace {
				t.Errorf("want the claim's namespace alone, got %v", keys)
			}
		}
	})
}
