package process

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/mcpserver"
)

// token is what a server asks for. It must be seen nowhere.
const token = "s3cret-bearer-token"

// TestToolsOfARealServer has the shipped controller ask an MCP server that
// wants a token, which it may read only once the component is applied.
func TestToolsOfARealServer(t *testing.T) {
	w := newWorld(t)
	tools := mcpserver.NewWith(mcpserver.Options{Token: token}, mcpserver.Tool("forecast", "Tells what the weather will be."))
	server := httptest.NewServer(tools)
	t.Cleanup(server.Close)
	p := w.start("--allow-loopback-probes")
	secrets := kubernetes.NewForConfigOrDie(w.server.Config()).CoreV1().Secrets(namespace)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "weather"}, StringData: map[string]string{"token": token}}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ts := &polychromev1alpha1.ToolService{
		ObjectMeta: metav1.ObjectMeta{Name: "weather"},
		Spec: polychromev1alpha1.ToolServiceSpec{
			Name: "com.example/weather", Remotes: []polychromev1alpha1.ToolServiceRemote{{URL: server.URL}},
			Auth: &polychromev1alpha1.ToolServiceAuth{BearerSecretRef: &polychromev1alpha1.SecretKeyReference{Name: "weather"}},
		},
	}
	if _, err := w.client.PolychromeV1alpha1().ToolServices(namespace).Create(t.Context(), ts, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventuallyTools("the right is missing", func(s polychromev1alpha1.ToolServiceStatus) bool {
		return !s.Ready && strings.Contains(s.Message, "manifests/components/toolservice-secrets")
	})

	w.server.Kubectl("apply", "-f", manifest("components/toolservice-secrets/role.yaml"), "-f", manifest("components/toolservice-secrets/rolebinding.yaml"))
	w.eventuallyTools("listed", listing("forecast"))
	tools.SetTools(mcpserver.Tool("forecast", "Tells what the weather will be."), mcpserver.Tool("now", "Tells what it is."))
	w.asksAgain("once more")
	w.eventuallyTools("listed anew", listing("forecast", "now"))
	if strings.Contains(p.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// listing reports whether a status is ready and has just these tools.
func listing(names ...string) func(polychromev1alpha1.ToolServiceStatus) bool {
	return func(s polychromev1alpha1.ToolServiceStatus) bool {
		var listed []string
		for _, tool := range s.Tools {
			listed = append(listed, tool.Name)
		}
		return s.Ready && cmp.Equal(names, listed)
	}
}

func (w *world) asksAgain(why string) {
	w.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, polychromev1alpha1.ProbeAnnotation, why)
	_, err := w.client.PolychromeV1alpha1().ToolServices(namespace).Patch(w.t.Context(), "weather", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) eventuallyTools(what string, is func(polychromev1alpha1.ToolServiceStatus) bool) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		ts, err := w.client.PolychromeV1alpha1().ToolServices(namespace).Get(w.t.Context(), "weather", metav1.GetOptions{})
		if err == nil && !is(ts.Status) {
			err = fmt.Errorf("the tool service is not %s: %+v", what, ts.Status)
		}
		return err
	})
}
