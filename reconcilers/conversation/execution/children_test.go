package execution

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// built is a configuration as it goes over the wire.
func built(t *testing.T, conv *polychromev1alpha1.Conversation, name, generation string) map[string]any {
	t.Helper()
	raw, err := json.Marshal(inV1alpha1(claimFor(conv, name, template, generation)))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestTheClaimIsWholeAndHoldsNothingElse(t *testing.T) {
	want := map[string]any{
		"apiVersion": "extensions.agents.x-k8s.io/v1alpha1",
		"kind":       "SandboxClaim",
		"metadata": map[string]any{
			"name": "c1", "namespace": "chat",
			"labels":      map[string]any{"polychrome.dev/conversation-uid": "uid-c1"},
			"annotations": map[string]any{"polychrome.dev/harness-image-generation": generation},
		},
		"spec": map[string]any{
			"sandboxTemplateRef":    map[string]any{"name": template},
			"additionalPodMetadata": map[string]any{"annotations": map[string]any{"polychrome.sh/execution-audience": "c1"}},
			"lifecycle":             map[string]any{"shutdownPolicy": "Delete", "ttlSecondsAfterFinished": float64(300)},
		},
	}
	// Whole: env and warmpool, which would cost the warm pod, must be absent,
	// and so must blockOwnerDeletion and shutdownTime.
	if diff := cmp.Diff(want, built(t, conversation(), "c1", generation)); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
}

func TestTheAudienceIsTheClaimsName(t *testing.T) {
	spec := built(t, conversation(), "another", "")["spec"].(map[string]any)
	want := map[string]any{"annotations": map[string]any{"polychrome.sh/execution-audience": "another"}}
	if diff := cmp.Diff(want, spec["additionalPodMetadata"]); diff != "" {
		t.Errorf("pod metadata (-want +got):\n%s", diff)
	}
}

func TestTheLifecycleFollowsTheIdleTimeout(t *testing.T) {
	cases := []struct {
		name    string
		timeout int64
		want    map[string]any
	}{
		{"a timeout is the time to live", 300, map[string]any{"shutdownPolicy": "Delete", "ttlSecondsAfterFinished": float64(300)}},
		{"0 is left out, for it would reap at once", 0, map[string]any{"shutdownPolicy": "Delete"}},
		{"the longest the operator takes", math.MaxInt32, map[string]any{"shutdownPolicy": "Delete", "ttlSecondsAfterFinished": float64(math.MaxInt32)}},
		{"longer is cut", 4294967295, map[string]any{"shutdownPolicy": "Delete", "ttlSecondsAfterFinished": float64(math.MaxInt32)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conv := conversation(func(conv *polychromev1alpha1.Conversation) { conv.Spec.IdleTimeoutSeconds = c.timeout })
			spec := built(t, conv, "c1", "")["spec"].(map[string]any)
			if diff := cmp.Diff(c.want, spec["lifecycle"]); diff != "" {
				t.Errorf("lifecycle (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheMetadataOfAClaim(t *testing.T) {
	uid := map[string]any{"polychrome.dev/conversation-uid": "uid-c1"}
	labelled := map[string]any{"polychrome.dev/conversation-uid": "uid-c1", "polychrome.dev/parent-conversation": "parent-1"}
	long := strings.Repeat("p", 64)
	cases := []struct {
		name            string
		parent          string
		generation      string
		wantLabels      any
		wantAnnotations any
	}{
		{"no parent, no generation", "", "", uid, nil},
		{"a child is labelled with its parent", "parent-1", "", labelled, nil},
		{"a parent id of 64 characters goes into an annotation", long, "", uid, map[string]any{"polychrome.dev/parent-conversation": long}},
		{"a parent id that is no label value goes into an annotation", "a/b", "", uid, map[string]any{"polychrome.dev/parent-conversation": "a/b"}},
		{"both annotations go together", "a/b", generation, uid, map[string]any{
			"polychrome.dev/parent-conversation": "a/b", "polychrome.dev/harness-image-generation": generation,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conv := conversation(func(conv *polychromev1alpha1.Conversation) { conv.Spec.ParentConversationID = c.parent })
			meta := built(t, conv, "c1", c.generation)["metadata"].(map[string]any)
			if diff := cmp.Diff(c.wantLabels, meta["labels"]); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.wantAnnotations, meta["annotations"]); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongNameIsNotCut(t *testing.T) {
	name := strings.Repeat("n", 253)
	meta := built(t, conversation(), name, "")["metadata"].(map[string]any)
	if meta["name"] != name {
		t.Errorf("want the whole name, got %v", meta["name"])
	}
}
