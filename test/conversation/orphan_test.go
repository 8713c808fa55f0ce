package conversation

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// TestOrphansAreTornDown has garbage collection strip the owner from the claim
// before the controller sees that the conversation is deleted.
func TestOrphansAreTornDown(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t), filepath.Dir(claimCRD(t))}})
	s := newScene(t, server.Config())
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.makes("two"), s.boots("one", "10.0.0.1"), s.boots("two", "10.0.0.2"))
	l.stop()
	claim := s.unit("one")
	server.Kubectl("delete", "conversation", "one", "--namespace", s.Namespace, "--cascade=orphan", "--wait=false")
	cluster.Eventually(t, settle, func() error {
		if conv := s.conv("one"); conv.DeletionTimestamp == nil || slices.Contains(conv.Finalizers, metav1.FinalizerOrphanDependents) {
			return fmt.Errorf("garbage collection is not through: finalizers %v", conv.Finalizers)
		}
		return nil
	})
	stripped := s.unit("one")
	if len(stripped.OwnerReferences) != 0 || stripped.UID != claim.UID || stripped.DeletionTimestamp != nil {
		t.Fatalf("want the claim there and without an owner, got %+v", stripped.ObjectMeta)
	}
	s.start(conversation.Options{Generation: generation})
	s.finds("conversation two HarnessReady two b 10.0.0.2", "claim two for two b 600")
}

// TestTheClaimsDefinitionGoesWhileConversationsAreDeleted removes the claims'
// kind, and with it every claim, under conversations that want theirs gone.
func TestTheClaimsDefinitionGoesWhileConversationsAreDeleted(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t), filepath.Dir(claimCRD(t))}, APIOnly: true})
	s := newScene(t, server.Config())
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	names := []string{"closed", "deleted", "held", "kept"}
	for i, name := range names {
		l.plays(s.makes(name), s.boots(name, fmt.Sprint("10.0.0.", i+1)))
	}
	uid := s.conv("kept").UID
	gate := make(chan struct{})
	met := l.faults.Inject(frameworktest.Fault{Verb: "delete", Resource: claims.Resource, Hold: gate, Times: -1})
	s.meanwhile(
		s.edits("held", map[string]any{"metadata": map[string]any{"finalizers": []any{"example.test/a", polychromev1alpha1.ConversationFinalizer}}}),
		s.deletes(conversations, "deleted"), s.deletes(conversations, "held"), s.closes("closed"),
	)
	cluster.Eventually(t, settle, func() error {
		if met.Hits() < 3 {
			return fmt.Errorf("%d teardowns of 3 are on their way", met.Hits())
		}
		return nil
	})
	server.Kubectl("delete", "crd", "sandboxclaims.extensions.agents.x-k8s.io")
	met.Stop()
	close(gate)

	l.eventually("kept", polychromev1alpha1.ReasonBackendUnavailable)
	l.eventually("closed", polychromev1alpha1.ReasonClosed)
	cluster.Eventually(t, settle, func() error {
		if finalizers := s.conv("held").Finalizers; !slices.Equal(finalizers, []string{"example.test/a"}) {
			return fmt.Errorf("want it let go by us, got %v", finalizers)
		}
		return nil
	})
	// One that is deleted now needs nothing torn down.
	s.meanwhile(s.makes("late"))
	l.eventually("late", polychromev1alpha1.ReasonBackendUnavailable)
	s.meanwhile(s.deletes(conversations, "late"))
	cluster.Eventually(t, settle, func() error {
		list, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).List(t.Context(), metav1.ListOptions{})
		var left []string
		for _, conv := range list.Items {
			left = append(left, conv.Name)
		}
		if diff := cmp.Diff([]string{"closed", "held", "kept"}, left); err == nil && diff != "" {
			err = fmt.Errorf("left (-want +got):\n%s", diff)
		}
		return err
	})

	server.Kubectl("apply", "--server-side", "-f", claimCRD(t))
	l.eventually("kept", polychromev1alpha1.ReasonCreatingExecutionUnit)
	l.settle()
	l.plays(s.boots("kept", "10.0.0.9"))
	want := []string{"conversation closed Closed b", "conversation held TearingDown b", "conversation kept HarnessReady kept b 10.0.0.9", "claim kept for kept b 600"}
	s.finds(want...)
	if got := s.conv("kept").UID; got != uid {
		t.Errorf("want the same conversation, %s, got %s", uid, got)
	}
	l.plays(s.waits(10*time.Minute), s.edits("held", map[string]any{"metadata": map[string]any{"finalizers": nil}}), s.waits(2*retention*time.Second))
	s.finds("conversation kept HarnessReady kept b 10.0.0.9", "claim kept for kept b 600")
}

// eventually steps the clock until a conversation says something: that a kind
// is gone is found out by looking.
func (l *life) eventually(name string, reason polychromev1alpha1.Reason) {
	l.t.Helper()
	cluster.Eventually(l.t, settle, func() error {
		if got := reasonOf(l.conv(name)); got != reason {
			l.Clock.Step(time.Second)
			return fmt.Errorf("%s is %s, not %s", name, got, reason)
		}
		return nil
	})
}

// heldClaims are claims that do not go when they are deleted.
var heldClaims = map[string]func(*scene){
	"the conversation is closed":           heldWhileClosed,
	"the conversation is deleted":          heldWhileDeleted,
	"the conversation is held and deleted": bothHeld,
	"the conversation rolls":               heldWhileRolled,
}

const heldMessage = "waiting for the old execution unit to go; held by example.test/a"

func heldWhileClosed(s *scene) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.holds("one", "example.test/a"), s.closes("one"))
	want := shown{
		Reason: polychromev1alpha1.ReasonExecutionUnitTerminating, Ready: no, Progressing: yes, Degraded: no, Message: heldMessage,
		Phase: polychromev1alpha1.ConversationClosing,
	}
	if diff := cmp.Diff(want, s.shown("one")); diff != "" {
		s.t.Errorf("shown (-want +got):\n%s", diff)
	}
	l.rests(5, 10*time.Minute)
	// It goes when its time has come, whoever holds the claim.
	l.plays(s.waits(20 * time.Minute))
	s.finds("claim one for one b 600")
	l.rests(2, 10*time.Minute)
	s.meanwhile(s.holds("one"))
	l.settle()
	s.finds()
}

func heldWhileDeleted(s *scene) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.holds("one", "example.test/a"), s.deletes(conversations, "one"))
	s.finds("claim one for one b 600")
	if s.unit("one").DeletionTimestamp == nil {
		s.t.Error("want the claim deleted")
	}
	l.rests(3, 10*time.Minute)
	// A namesake waits for it, and says so.
	l.plays(s.makes("one"))
	want := shown{
		Reason: polychromev1alpha1.ReasonNameConflict, Ready: no, Progressing: no, Degraded: yes,
		Message: "SandboxClaim one belongs to somebody else and is left alone; remove it, or give the conversation another name",
		Phase:   polychromev1alpha1.ConversationPending,
	}
	if diff := cmp.Diff(want, s.shown("one")); diff != "" {
		s.t.Errorf("shown (-want +got):\n%s", diff)
	}
	l.rests(3, 2*time.Minute)
	l.plays(s.holds("one"), s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
}

func bothHeld(s *scene) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.holds("one", "example.test/a"),
		s.edits("one", map[string]any{"metadata": map[string]any{"finalizers": []any{"example.test/b", polychromev1alpha1.ConversationFinalizer}}}),
		s.deletes(conversations, "one"))
	conv := s.conv("one")
	if diff := cmp.Diff([]string{"example.test/b"}, conv.Finalizers); diff != "" {
		s.t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	want := shown{
		Reason: polychromev1alpha1.ReasonTearingDown, Ready: no, Progressing: yes, Degraded: no,
		Message: "the execution unit is being deleted", Phase: polychromev1alpha1.ConversationClosing,
	}
	if diff := cmp.Diff(want, s.shown("one")); diff != "" {
		s.t.Errorf("shown (-want +got):\n%s", diff)
	}
	l.rests(3, 10*time.Minute)
}

func heldWhileRolled(s *scene) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.holds("one", "example.test/a"), s.ages("one"), s.waits(2*time.Second))
	want := shown{
		Reason: polychromev1alpha1.ReasonExecutionUnitTerminating, Ready: no, Progressing: yes, Degraded: no, Message: heldMessage,
		Phase: polychromev1alpha1.ConversationRollingHarness,
	}
	if diff := cmp.Diff(want, s.shown("one")); diff != "" {
		s.t.Errorf("shown (-want +got):\n%s", diff)
	}
	l.rests(4, 2*time.Minute)
	l.plays(s.holds("one"), s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
}
