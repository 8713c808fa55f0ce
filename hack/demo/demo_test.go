package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestIdentityHoldsNothingOfTheAdministrator(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, []byte("certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := &rest.Config{
		Host: "https://127.0.0.1:6443", BearerToken: "secret", Username: "root", Password: "secret",
		TLSClientConfig: rest.TLSClientConfig{CAFile: ca, ServerName: "kubernetes", CertData: []byte("secret"), KeyData: []byte("secret")},
	}
	identity, err := identityOf(admin, "token")
	if err != nil {
		t.Fatal(err)
	}
	written, err := clientcmd.Write(*identity)
	if err != nil {
		t.Fatal(err)
	}
	for _, leaked := range []string{"secret", "c2VjcmV0", "root"} {
		if strings.Contains(string(written), leaked) {
			t.Errorf("the kubeconfig holds %q of the administrator:\n%s", leaked, written)
		}
	}
	cluster := identity.Clusters["controller"]
	got := []string{cluster.Server, cluster.TLSServerName, string(cluster.CertificateAuthorityData), identity.AuthInfos["controller"].Token}
	if diff := cmp.Diff([]string{"https://127.0.0.1:6443", "kubernetes", "certificate", "token"}, got); diff != "" {
		t.Errorf("server and token (-want +got):\n%s", diff)
	}
}

func TestOurObjectsAmongWhatWasApplied(t *testing.T) {
	got := idsIn("sandboxclaim.extensions.agents.x-k8s.io/taken\nconversation.polychrome.dev/hello\nservice/web\nworkflow.polychrome.dev/report\n")
	if diff := cmp.Diff([]string{"conversation/hello", "workflow/report"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNextGeneration(t *testing.T) {
	for now, want := range map[string]string{"demo-1": "demo-2", "9": "10", "v1.9": "v1.10", "blue": "blue-2"} {
		if got := nextGeneration(now); got != want {
			t.Errorf("after %q comes %q, want %q", now, got, want)
		}
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := tail(file, 2), "  two\n  three"; got != want {
		t.Errorf("the last two lines are %q, want %q", got, want)
	}
}

func TestOnlyALocalClusterIsInstalledOn(t *testing.T) {
	t.Setenv(localClusterEnv, "")
	if _, err := parseOptions(nil); err == nil || !strings.Contains(err.Error(), "make demo") {
		t.Errorf("without a local cluster: %v, want an error that says how to get one", err)
	}
}
