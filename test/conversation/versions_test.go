package conversation

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/testcrds"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/test/cluster"
)

// serves has the API server serve claims as a CRD says.
func (w *world) serves(server *cluster.Cluster, crd []byte) {
	w.t.Helper()
	server.Kubectl("apply", "--server-side", "--force-conflicts", "-f", crdFile(w.t, crd))
}

// newerClaim returns the claim of a name as v1beta1 has it, or nil.
func (w *world) newerClaim(name string) *agentsandboxv1beta1.SandboxClaim {
	w.t.Helper()
	claim, err := w.client.AgentSandboxV1beta1().SandboxClaims(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatalf("reading claim %s: %v", name, err)
	}
	return claim
}

// boots is an operator: it makes a claim ready in a version.
func (w *world) boots(version, name string) {
	w.t.Helper()
	body := []byte(`{"status":{"sandbox":{"name":"sandbox","podIPs":["10.0.0.1"]},"conditions":[` +
		`{"type":"Ready","status":"True","reason":"DependenciesReady","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	cluster.Eventually(w.t, settle, func() error {
		var err error
		if version == execution.V1beta1 {
			_, err = w.client.AgentSandboxV1beta1().SandboxClaims(w.ns).Patch(w.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		} else {
			_, err = w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).Patch(w.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		}
		return err
	})
}

// lives takes a conversation through its life in one version.
func (w *world) lives(version string) {
	w.t.Helper()
	w.create("one", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 600})
	w.boots(version, "one")
	w.eventuallyReady("one")
	w.closeConversation("one")
	w.eventuallyReason("one", polychromev1alpha1.ReasonClosed)
	w.resume("one")
	w.boots(version, "one")
	w.eventuallyReady("one")
	w.delete("one")
	w.eventuallyReleased("one")
}

func (w *world) closeConversation(name string) { w.setClosed(name, true) }

func (w *world) resume(name string) { w.setClosed(name, false) }

func (w *world) setClosed(name string, closed bool) {
	w.t.Helper()
	body := fmt.Appendf(nil, `{"status":{"closed":%t}}`, closed)
	if _, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Patch(w.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{}, "status"); err != nil {
		w.t.Fatal(err)
	}
}

// asked counts requests for claims in a version.
func (p *process) asked(version string, kinds ...func(frameworktest.Request) bool) int {
	return p.requests.Count(append(kinds, frameworktest.On("sandboxclaims"), func(r frameworktest.Request) bool {
		return strings.Contains(r.Path, "/"+version+"/")
	})...)
}

// TestClaimsOfTheNewestVersionThatIsServed follows an operator from v1alpha1
// alone to v1beta1 alone and back, under a conversation that stays ready.
func TestClaimsOfTheNewestVersionThatIsServed(t *testing.T) {
	w, server := newBareWorld(t)
	webhook := newConverter(t)
	w.serves(server, testcrds.SandboxClaimV1alpha1)
	p := w.start(conversation.Options{Generation: generation})
	w.create("stays", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 600})
	w.boots(execution.V1alpha1, "stays")
	w.eventuallyReady("stays")
	w.lives(execution.V1alpha1)
	uid := w.claim("stays").UID
	unready := w.watchReadiness("stays")

	w.serves(server, webhook.crd(t, execution.V1alpha1, execution.V1beta1))
	w.eventuallyAsks(p, execution.V1beta1)
	w.eventuallyIdle(p)
	// The first life gives the watch of the older version time to end.
	w.lives(execution.V1beta1)
	before := p.asked(execution.V1alpha1)
	w.lives(execution.V1beta1)
	if after := p.asked(execution.V1alpha1); after != before {
		t.Errorf("want nothing more asked of v1alpha1, got %d requests", after-before)
	}
	// For a moment the server may know the version and not yet its converter;
	// what it could not carry out is tried again.
	stays := func(r frameworktest.Request) bool { return r.Name == "stays" && r.Code == http.StatusOK }
	if n := p.asked(execution.V1beta1, frameworktest.By("apply"), stays); n > 1 {
		t.Errorf("want the claim mended once at most, got %d applies", n)
	}
	if pool := w.newerClaim("stays").Spec.WarmPoolRef.Name; pool != shadowPool+conversation.DefaultTemplate {
		t.Errorf("want the claim to keep the pool that it was made from, got %s", pool)
	}

	w.serves(server, webhook.crd(t, execution.V1beta1))
	w.lives(execution.V1beta1)

	before = p.asked(execution.V1alpha1)
	w.serves(server, webhook.crd(t, execution.V1alpha1))
	cluster.Eventually(t, settle, func() error {
		if p.asked(execution.V1alpha1, frameworktest.Watches) == 0 || p.asked(execution.V1alpha1) == before {
			return fmt.Errorf("v1alpha1 is not asked yet")
		}
		return nil
	})
	w.lives(execution.V1alpha1)
	if now := w.claim("stays"); now.UID != uid {
		t.Errorf("want the claim kept, got another one")
	}
	if seen := unready(); len(seen) > 0 {
		t.Errorf("want the conversation ready throughout, got %v", seen)
	}
	w.delete("stays")
	w.eventuallyReleased("stays")
	if left := w.claim("stays"); left != nil && left.DeletionTimestamp == nil {
		t.Error("want the claim torn down")
	}
}

// TestClaimsOfV1beta1Alone is an operator from v1.0.0 on.
func TestClaimsOfV1beta1Alone(t *testing.T) {
	w, server := newBareWorld(t)
	w.serves(server, testcrds.SandboxClaimV1beta1)
	w.start(conversation.Options{Generation: generation})
	w.create("stays", polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 600})
	w.boots(execution.V1beta1, "stays")
	w.eventuallyReady("stays")
	claim := w.newerClaim("stays")
	if pool := claim.Spec.WarmPoolRef.Name; pool != conversation.DefaultWarmPool {
		t.Errorf("want the default pool, got %s", pool)
	}
	if got := claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation]; got != generation {
		t.Errorf("want the generation on the claim, got %q", got)
	}
	w.lives(execution.V1beta1)
}

// eventuallyAsks waits until a controller watches claims in a version.
func (w *world) eventuallyAsks(p *process, version string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if p.asked(version, frameworktest.Watches) == 0 {
			return fmt.Errorf("claims are not watched in %s yet", version)
		}
		return nil
	})
}

// watchReadiness gathers the reasons for which a conversation is not ready from
// now on.
func (w *world) watchReadiness(name string) (unready func() []string) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	watching, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		w.t.Fatal(err)
	}
	var seen []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watching.ResultChan() {
			if conv, ok := event.Object.(*polychromev1alpha1.Conversation); ok && !isReady(conv) {
				seen = append(seen, string(reasonOf(conv)))
			}
		}
	}()
	return func() []string {
		stop()
		<-done
		return seen
	}
}

// TestAVersionThatIsForced looks at no other.
func TestAVersionThatIsForced(t *testing.T) {
	w, server := newBareWorld(t)
	webhook := newConverter(t)
	w.serves(server, webhook.crd(t, execution.V1alpha1, execution.V1beta1))
	older := w.start(conversation.Options{ClaimVersion: execution.V1alpha1})
	w.create("older", polychromev1alpha1.ConversationSpec{})
	w.boots(execution.V1alpha1, "older")
	w.eventuallyReady("older")
	if n := older.asked(execution.V1beta1); n != 0 {
		t.Errorf("want nothing asked of v1beta1, got %d requests", n)
	}
	older.stop()
	w.serves(server, webhook.crd(t, execution.V1alpha1))
	newer := w.start(conversation.Options{ClaimVersion: execution.V1beta1})
	w.create("newer", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReason("newer", polychromev1alpha1.ReasonBackendUnavailable)
	if n := newer.asked(execution.V1alpha1); n != 0 {
		t.Errorf("want nothing asked of v1alpha1, got %d requests", n)
	}
}

// TestATeardownMeetsAVersionThatIsNotServedAnyMore: a 404 of the path says
// nothing of the claim.
func TestATeardownMeetsAVersionThatIsNotServedAnyMore(t *testing.T) {
	w, server := newBareWorld(t)
	w.serves(server, testcrds.SandboxClaim)
	p := w.start(conversation.Options{})
	w.create("one", polychromev1alpha1.ConversationSpec{})
	w.boots(execution.V1beta1, "one")
	w.eventuallyReady("one")
	// As if the version had gone the moment before, unknown to the cache.
	lost := p.requests.Inject(frameworktest.Fault{Verb: "delete", Resource: "sandboxclaims", Status: http.StatusNotFound, Plain: true, Message: "404 page not found\n"})
	w.delete("one")
	cluster.Eventually(t, settle, func() error {
		if lost.Hits() == 0 {
			return fmt.Errorf("the teardown has not met the 404 yet")
		}
		return nil
	})
	w.eventuallyReleased("one")
	if left := w.newerClaim("one"); left != nil && left.DeletionTimestamp == nil {
		t.Errorf("want the claim torn down before the conversation goes, got %+v", left.ObjectMeta)
	}
}
