package conversation

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

func FuzzChangeOfAConversation(f *testing.F) {
	for _, conv := range []string{
		``, `null`, `{}`, `{"metadata": null, "spec": null, "status": null}`, `{"metadata": {"name": "", "uid": ""}, "status": {}}`,
		`{"metadata": {"name": "a/b", "namespace": "/", "uid": "u", "resourceVersion": "-1", "generation": -9223372036854775808}}`,
		`{"metadata": {"name": "` + strings.Repeat("a", 1<<16) + `", "resourceVersion": "` + strings.Repeat("9", 1<<10) + `"}}`,
		`{"metadata": {"name": "a", "uid": "u", "deletionTimestamp": "yesterday"}, "status": {"phase": "Closing"}}`,
		`{"metadata": {"name": "a", "uid": "u", "resourceVersion": "2", "ownerReferences": [{}]}, "status": {"rollingHarness": true, "harnessReady": true}}`,
		`{"metadata": {"name": "a", "uid": "u", "resourceVersion": "2"}, "status": {"harnessReady": true, "harnessImageGeneration": "2026.7.0"}}`,
		`{"metadata": {"name": "a", "uid": "u"}, "spec": {"idleTimeoutSeconds": -1}, "status": {"closed": true, "conditions": [{}]}}`,
	} {
		f.Add([]byte(conv), "3", false)
		f.Add([]byte(conv), "", true)
	}
	conversations := &fakeConversations{}
	r := New(Options{Conversations: conversations, Generation: newGeneration, RollConcurrency: 1, Wake: func(...framework.Key) {}})
	changed := conversations.handlers[0]
	f.Fuzz(func(t *testing.T, raw []byte, version string, busy bool) {
		conv := &polychromev1alpha1.Conversation{}
		// What was decoded before an error is hostile enough.
		_ = json.Unmarshal(raw, conv)
		later := conv.DeepCopy()
		later.ResourceVersion = version
		keyOnly := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{Namespace: conv.Namespace, Name: conv.Name}}

		changed(conv, false)
		r.slots.Reserve(conv, busy)
		changed(later, false)
		changed(keyOnly, false)
		r.slots.Reserve(later, busy)
		changed(later, true)
		changed(keyOnly, true)

		another := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{Namespace: "chat", Name: "another", UID: "another"}}
		if got := r.slots.Reserve(another, false); got != slots.Admitted {
			t.Errorf("want the slot of what is gone free, got %v", got)
		}
		changed(another, true)
	})
}
