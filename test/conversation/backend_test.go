package conversation

import (
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/generated/testcrds"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// newBareWorld is a world on a control plane of its own, without the
// operator and its CRDs.
func newBareWorld(t *testing.T) (*world, *cluster.Cluster) {
	t.Helper()
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t)}})
	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, config: server.Config(), client: client, ns: "polychrome"}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	if _, err := w.kube().CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return w, server
}

// claimCRD is a file with the CRD of SandboxClaims as releases before v0.5.0
// have it.
func claimCRD(t *testing.T) string { return crdFile(t, testcrds.SandboxClaimV1alpha1) }

func crdFile(t *testing.T, crd []byte) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "crd-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(crd); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func TestBackendThatIsAbsentComesAndGoes(t *testing.T) {
	w, server := newBareWorld(t)
	w.start(conversation.Options{})
	w.create("one", polychromev1alpha1.ConversationSpec{})
	w.create("two", polychromev1alpha1.ConversationSpec{})
	w.eventuallyReason("one", polychromev1alpha1.ReasonBackendUnavailable)
	conv := w.eventuallyReason("two", polychromev1alpha1.ReasonBackendUnavailable)
	if len(conv.Finalizers) != 1 || conv.Status.SandboxClaimName != "" {
		t.Errorf("want nothing recorded, got %+v", conv.Status)
	}
	w.delete("two")
	w.eventuallyReleased("two")

	server.Kubectl("apply", "--server-side", "-f", claimCRD(t))
	w.eventually("one", "waiting for a unit that was made", func(conv *polychromev1alpha1.Conversation) bool {
		return conv.Status.SandboxClaimName == "one" && reasonOf(conv) == polychromev1alpha1.ReasonCreatingExecutionUnit && w.claim("one") != nil
	})

	server.Kubectl("delete", "crd", "sandboxclaims.extensions.agents.x-k8s.io")
	w.eventuallyReason("one", polychromev1alpha1.ReasonBackendUnavailable)
	w.delete("one")
	w.eventuallyReleased("one")
}

// eventuallyReleased waits until the conversation is gone; there may be no
// API to ask for its claim.
func (w *world) eventuallyReleased(name string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		conv, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("conversation %s is still there: %v, %w", name, conv.Finalizers, err)
	})
}

func TestServerKilledUnderTheControllerIsBorne(t *testing.T) {
	w, server := newBareWorld(t)
	server.Kubectl("apply", "--server-side", "-f", claimCRD(t))
	p := w.start(conversation.Options{})
	w.create("before", polychromev1alpha1.ConversationSpec{})
	w.eventually("before", "claimed", func(conv *polychromev1alpha1.Conversation) bool { return conv.Status.SandboxClaimName != "" })
	server.Kill()
	server.Restart()
	w.create("after", polychromev1alpha1.ConversationSpec{})
	for _, name := range []string{"before", "after"} {
		w.eventually(name, "claimed", func(conv *polychromev1alpha1.Conversation) bool {
			return conv.Status.SandboxClaimName != "" && w.claim(name) != nil
		})
	}
	w.eventuallyIdle(p)
}
