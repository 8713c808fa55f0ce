package conversation

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/standin"
)

// oddNames are names of conversations, by what is odd about them. The long
// ones begin alike: a name that was cut would be another's.
func oddNames() map[string]string {
	return map[string]string{
		"63 characters":           long(63),
		"64 characters":           long(64),
		"253 characters":          long(253),
		"253 characters in parts": strings.Repeat(strings.Repeat("c", 62)+".", 4) + "d",
		"dots":                    "c0ffee.2026.slack",
		"a digit first":           "0123",
		"a digit and dots":        "1.2-3.4",
	}
}

// oddParents are parents, by what is odd about them.
func oddParents() map[string]string {
	return map[string]string{
		"a parent of 63 characters":  long(63),
		"a parent of 100 characters": long(100),
		"a parent of 253 characters": long(253),
		"a parent with a slash":      "slack/C1/171.2",
		"a parent with a dash last":  "slack-",
	}
}

func long(n int) string { return strings.Repeat("c", n) }

// nameScenes boots each, then deletes it.
var nameScenes = func() map[string]func(*scene) {
	all := map[string]func(*scene){"all names at once": allNames}
	for what, parent := range oddParents() {
		all[what] = func(s *scene) { bootsAndGoes(s, []string{"child"}, parent) }
	}
	return all
}()

func allNames(s *scene) {
	var names []string
	for _, name := range oddNames() {
		names = append(names, name)
	}
	bootsAndGoes(s, names, "")
}

// bootsAndGoes boots conversations beside each other and deletes them again.
func bootsAndGoes(s *scene, names []string, parent string) {
	standin.Start(s.t, s.Config, s.Namespace)
	l := s.start(conversation.Options{Generation: generation})
	for _, name := range names {
		s.makesChild(name, parent)
	}
	addresses := map[string]bool{}
	for _, name := range names {
		l.eventually(name, polychromev1alpha1.ReasonHarnessReady)
		s.wantsItsOwnClaim(name, parent)
		addresses[s.conv(name).Status.PodIP] = true
	}
	if len(addresses) != len(names) {
		s.t.Errorf("want an address for each of %d, got %v", len(names), addresses)
	}
	for _, name := range names {
		s.meanwhile(s.deletes(conversations, name))
	}
	l.settle()
	s.finds()
}

// wantsItsOwnClaim fails unless a conversation is ready at the address of a
// claim of its own name, which names the parent.
func (s *scene) wantsItsOwnClaim(name, parent string) {
	s.t.Helper()
	conv, claim := s.conv(name), s.unit(name)
	if got := conv.Status; got.SandboxClaimName != name || got.PodIP != claim.Status.Sandbox.PodIPs[0] || !got.HarnessReady {
		s.t.Errorf("%s: want it ready at its claim's address, got %+v", name, got)
	}
	if owner := metav1.GetControllerOf(claim); owner == nil || owner.UID != conv.UID {
		s.t.Errorf("%s: want its claim owned, got %+v", name, owner)
	}
	if got := claim.Spec.AdditionalPodMetadata.Annotations[polychromev1alpha1.ExecutionAudienceAnnotation]; got != name {
		s.t.Errorf("%s: want the name as audience, got %q", name, got)
	}
	label, annotation := parent, ""
	if len(parent) > 63 || strings.ContainsAny(parent, "/") || strings.HasSuffix(parent, "-") {
		label, annotation = "", parent
	}
	got := []string{claim.Labels[polychromev1alpha1.ParentConversationLabel], claim.Annotations[polychromev1alpha1.ParentConversationLabel]}
	if diff := cmp.Diff([]string{label, annotation}, got); diff != "" {
		s.t.Errorf("%s: the parent as label and as annotation (-want +got):\n%s", name, diff)
	}
}

func (s *scene) makesChild(name, parent string) {
	s.t.Helper()
	_, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).Create(s.t.Context(), &polychromev1alpha1.Conversation{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: polychromev1alpha1.ConversationSpec{ParentConversationID: parent},
	}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatalf("creating conversation %s: %v", name, err)
	}
}

// TestNamesWithTheRealOperator shows that the operator refuses none of them.
func TestNamesWithTheRealOperator(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	children := map[string]string{}
	for _, name := range oddNames() {
		children[name] = ""
	}
	for what, parent := range oddParents() {
		children[strings.ReplaceAll(what, " ", "-")] = parent
	}
	for name, parent := range children {
		w.create(name, polychromev1alpha1.ConversationSpec{ParentConversationID: parent})
	}
	for name := range children {
		if conv := w.eventuallyReady(name); conv.Status.SandboxClaimName != name || conv.Status.PodIP != w.claim(name).Status.Sandbox.PodIPs[0] {
			t.Errorf("%s: want it ready at its claim's address, got %+v", name, conv.Status)
		}
		w.delete(name)
	}
	for name := range children {
		w.eventuallyGone(name)
	}
	cluster.Eventually(t, settle, func() error {
		pods, err := w.kube().CoreV1().Pods(w.ns).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) != 0 {
			err = fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return err
	})
}
