package conversation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/google/go-cmp/cmp"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

func TestBootTakesFourWrites(t *testing.T) {
	w := newWorld(t)
	p := w.start(conversation.Options{})
	w.create("boot", polychromev1alpha1.ConversationSpec{Model: "m", IdleTimeoutSeconds: 600})
	conv := w.eventuallyReady("boot")
	w.eventuallyIdle(p)

	want := []string{
		"patch conversations boot",
		"apply sandboxclaims boot",
		"patch conversations/status boot",
		"patch conversations/status boot",
	}
	if diff := cmp.Diff(want, p.writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	claim := w.claim("boot")
	if claim == nil || len(claim.Status.Sandbox.PodIPs) == 0 || claim.Status.Sandbox.PodIPs[0] != conv.Status.PodIP {
		t.Errorf("want the pod's address %q mirrored, claim says %+v", conv.Status.PodIP, claim)
	}
	if conv.Status.SandboxClaimName != "boot" || conv.Status.Phase != polychromev1alpha1.ConversationReady ||
		conv.Status.ObservedGeneration != conv.Generation || reasonOf(conv) != polychromev1alpha1.ReasonHarnessReady {
		t.Errorf("status: %+v", conv.Status)
	}
	if ttl := claim.Spec.Lifecycle.TTLSecondsAfterFinished; ttl == nil || *ttl != 600 {
		t.Errorf("want the idle timeout as time to live, got %v", ttl)
	}
}

func TestDeletedClaimIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("healed", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("healed")
	old := w.claim("healed")
	w.deleteClaim("healed")
	w.eventually("healed", "ready on another unit", func(conv *polychromev1alpha1.Conversation) bool {
		claim := w.claim("healed")
		return isReady(conv) && claim != nil && claim.UID != old.UID && claim.Status.Sandbox.PodIPs[0] == conv.Status.PodIP
	})
}

func TestEditedClaimIsHealedByOneWrite(t *testing.T) {
	w := newWorld(t)
	p := w.start(conversation.Options{})
	w.create("drift", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 600})
	w.eventuallyReady("drift")
	w.eventuallyIdle(p)
	before := len(p.writes())
	w.patchClaim("drift", `{"metadata":{"labels":{"team":"theirs"}},"spec":{"lifecycle":{"ttlSecondsAfterFinished":5,"shutdownPolicy":"Retain"}}}`)
	cluster.Eventually(t, settle, func() error {
		if ttl := w.claim("drift").Spec.Lifecycle.TTLSecondsAfterFinished; *ttl != 600 {
			return fmt.Errorf("the time to live is still %d", *ttl)
		}
		return nil
	})
	w.eventuallyIdle(p)
	claim := w.claim("drift")
	if claim.Spec.Lifecycle.ShutdownPolicy != "Delete" || claim.Labels["team"] != "theirs" {
		t.Errorf("want our fields healed and theirs kept, got %+v, %v", claim.Spec.Lifecycle, claim.Labels)
	}
	if got := p.writes()[before:]; len(got) != 1 {
		t.Errorf("want one write, got %v", got)
	}
}

func TestStrippedOwnerReferenceComesBack(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	conv := w.create("orphan", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("orphan")
	uid := w.claim("orphan").UID
	w.patchClaim("orphan", `{"metadata":{"ownerReferences":null}}`)
	cluster.Eventually(t, settle, func() error {
		claim := w.claim("orphan")
		if claim == nil || claim.UID != uid || metav1.GetControllerOf(claim) == nil || metav1.GetControllerOf(claim).UID != conv.UID {
			return fmt.Errorf("the claim is not ours again: %+v", claim)
		}
		return nil
	})
}

func TestDeletedPodIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("pod", polychromev1alpha1.ConversationSpec{})
	conv := w.eventuallyReady("pod")
	pods := w.kube().CoreV1().Pods(w.ns)
	list, err := pods.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("want one pod, got %d, %v", len(list.Items), err)
	}
	if err := pods.Delete(t.Context(), list.Items[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("pod", "ready on a new pod", func(now *polychromev1alpha1.Conversation) bool {
		live, err := pods.List(t.Context(), metav1.ListOptions{})
		return err == nil && len(live.Items) == 1 && live.Items[0].UID != list.Items[0].UID &&
			isReady(now) && now.Status.PodIP == live.Items[0].Status.PodIP
	})
	if now := w.get("pod"); now.Status.SandboxClaimName != conv.Status.SandboxClaimName {
		t.Errorf("want the claim kept, got %q", now.Status.SandboxClaimName)
	}
}

func TestCloseTearsDownAndReopenMakesANewUnit(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("closing", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("closing")
	old := w.claim("closing").UID

	w.patchStatus("closing", `{"closed":true}`)
	conv := w.eventuallyReason("closing", polychromev1alpha1.ReasonClosed)
	if s := conv.Status; s.PodIP != "" || s.HarnessReady || s.SandboxClaimName != "" || s.ClosedAt != nil && *s.ClosedAt == 0 || s.Phase != polychromev1alpha1.ConversationClosing {
		t.Errorf("want nothing advertised, got %+v", s)
	}
	cluster.Eventually(t, settle, func() error {
		if w.claim("closing") != nil {
			return fmt.Errorf("the claim is still there")
		}
		return nil
	})

	w.patchStatus("closing", `{"closed":false}`)
	conv = w.eventuallyReady("closing")
	if claim := w.claim("closing"); claim.UID == old || conv.Status.ClosedAt != nil {
		t.Errorf("want a new unit and no stamp of the earlier close, got %s, %v", claim.UID, conv.Status.ClosedAt)
	}
}

func TestIdleConversationIsClosedAtItsDeadline(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{RetentionSeconds: 3600})
	w.create("idle", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 4})
	w.eventuallyReady("idle")
	last := time.Now().Unix()
	w.patchStatus("idle", fmt.Sprintf(`{"lastActivityUnix":%d}`, last))
	conv := w.eventuallyReason("idle", polychromev1alpha1.ReasonClosed)
	if conv.Status.ClosedAt == nil {
		t.Fatal("want the close stamped")
	}
	// A poll would come after 30 s; the deadline itself is a second after
	// the timeout, since both are whole seconds.
	if late := *conv.Status.ClosedAt - last - 5; late < 0 || late > 12 {
		t.Errorf("want the close at its deadline, got it %d s after", late)
	}
	if w.claim("idle") != nil {
		t.Error("want the claim gone")
	}
}

func TestConversationWithoutATurnIsNeverClosed(t *testing.T) {
	w := newWorld(t)
	p := w.start(conversation.Options{})
	w.create("young", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 1})
	w.eventuallyReady("young")
	w.create("old", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 1})
	w.eventuallyReady("old")
	w.eventuallyIdle(p)
	if w.get("young").Status.Closed {
		t.Error("want a conversation without a stamp left open")
	}
}

func TestClosedConversationIsCollectedAfterRetention(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{RetentionSeconds: 1})
	w.create("collected", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("collected")
	w.patchStatus("collected", `{"closed":true}`)
	w.eventuallyGone("collected")

	// Closed before it ever had a claim, and without a stamp.
	w.create("never-opened", polychromev1alpha1.ConversationSpec{})
	w.patchStatus("never-opened", `{"closed":true}`)
	w.eventuallyGone("never-opened")
}

func TestDeletedConversationTakesItsUnitWithIt(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("deleted", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("deleted")
	w.delete("deleted")
	w.eventuallyGone("deleted")
}

func TestForeignFinalizersAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("held", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReady("held")
	w.patch("held", `{"metadata":{"finalizers":["example.test/a","polychrome.dev/cleanup","example.test/b"]}}`)
	w.delete("held")
	conv := w.eventually("held", "released by us", func(conv *polychromev1alpha1.Conversation) bool {
		return !slices.Contains(conv.Finalizers, polychromev1alpha1.ConversationFinalizer)
	})
	if diff := cmp.Diff([]string{"example.test/a", "example.test/b"}, conv.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	w.eventually("held", "no longer advertised", func(conv *polychromev1alpha1.Conversation) bool {
		return conv.Status.PodIP == "" && !conv.Status.HarnessReady && conv.Status.SandboxClaimName == "" && !isReady(conv)
	})
	w.patch("held", `{"metadata":{"finalizers":null}}`)
	w.eventuallyGone("held")
}

func TestForeignClaimOfTheNameIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	p := w.start(conversation.Options{})
	before := w.createForeignClaim("taken")
	w.create("taken", polychromev1alpha1.ConversationSpec{})
	conv := w.eventuallyReason("taken", polychromev1alpha1.ReasonNameConflict)
	w.eventuallyIdle(p)
	if s := conv.Status; s.PodIP != "" || s.HarnessReady || s.SandboxClaimName != "" {
		t.Errorf("want nothing of theirs advertised, got %+v", s)
	}
	after := w.claim("taken")
	if after.UID != before.UID || after.Generation != before.Generation || len(after.OwnerReferences) != 0 ||
		!labels.Equals(after.Labels, before.Labels) || writtenByUs(after) {
		t.Errorf("want the foreign claim untouched, got %+v", after.ObjectMeta)
	}
	w.deleteClaim("taken")
	w.eventuallyReady("taken")

	// A conversation that is deleted leaves it alone as well.
	foreign := w.createForeignClaim("taken-too")
	w.create("taken-too", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReason("taken-too", polychromev1alpha1.ReasonNameConflict)
	w.delete("taken-too")
	cluster.Eventually(t, settle, func() error {
		_, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Get(t.Context(), "taken-too", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the conversation is still there: %w", err)
		}
		return nil
	})
	if claim := w.claim("taken-too"); claim == nil || claim.UID != foreign.UID || claim.DeletionTimestamp != nil {
		t.Errorf("want the foreign claim to live, got %+v", claim)
	}
}

func TestClaimOfADeadNamesakeGivesWay(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	dead := w.createForeignClaim("namesake", metav1.OwnerReference{
		APIVersion: "polychrome.dev/v1alpha1", Kind: "Conversation", Name: "namesake",
		UID: "00000000-0000-0000-0000-000000000001", Controller: new(true),
	})
	w.create("namesake", polychromev1alpha1.ConversationSpec{})
	// Garbage collection takes the claim of an owner that is gone; not we.
	w.eventuallyReady("namesake")
	if claim := w.claim("namesake"); claim.UID == dead.UID {
		t.Error("want a claim of its own, not the dead one's")
	}
}

// writtenByUs reports whether the server remembers a write of the controller.
// The operator writes to every claim, also to a foreign one.
func writtenByUs(claim *agentsandboxv1alpha1.SandboxClaim) bool {
	return slices.ContainsFunc(claim.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == polychromev1alpha1.FieldManager
	})
}

func TestMissingTemplateIsReportedAndHeals(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{Template: "to-come"})
	w.create("waiting", polychromev1alpha1.ConversationSpec{})
	conv := w.eventuallyReason("waiting", polychromev1alpha1.ReasonTemplateNotFound)
	if conv.Status.HarnessReady {
		t.Error("want it not ready")
	}
	w.addTemplate("to-come")
	w.eventuallyReady("waiting")
}

func TestChildConversationNamesItsParent(t *testing.T) {
	w := newWorld(t)
	w.start(conversation.Options{})
	w.create("child", polychromev1alpha1.ConversationSpec{ParentConversationID: "parent-1"})
	w.create("odd-child", polychromev1alpha1.ConversationSpec{ParentConversationID: "slack/C1/171.2"})
	w.eventuallyReady("child")
	w.eventuallyReady("odd-child")
	list, err := w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).List(t.Context(), metav1.ListOptions{LabelSelector: polychromev1alpha1.ParentConversationLabel + "=parent-1"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "child" {
		t.Errorf("want the child's claim found by its parent, got %v, %v", list.Items, err)
	}
	if got := w.claim("odd-child").Annotations[polychromev1alpha1.ParentConversationLabel]; got != "slack/C1/171.2" {
		t.Errorf("want a parent that is no label value as an annotation, got %q", got)
	}
}
