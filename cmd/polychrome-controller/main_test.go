package main

import (
	"bytes"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

func TestCRDsPrintsEveryDefinition(t *testing.T) {
	var out, complaint bytes.Buffer
	if code := command([]string{"crds"}, surroundings(), &out, &complaint); code != exitDone {
		t.Fatalf("exit code %d: %s", code, complaint.String())
	}
	if !strings.HasPrefix(out.String(), "---\n") {
		t.Errorf("the stream begins with %.20q, want a line ---", out.String())
	}
	var names []string
	for _, document := range strings.Split("\n"+out.String(), "\n---\n")[1:] {
		var definition struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(document), &definition); err != nil {
			t.Fatalf("reading a document: %v", err)
		}
		if definition.Kind != "CustomResourceDefinition" {
			t.Errorf("a document is a %q", definition.Kind)
		}
		names = append(names, definition.Metadata.Name)
	}
	slices.Sort(names)
	want := []string{
		"agents.polychrome.dev", "conversations.polychrome.dev", "routines.polychrome.dev",
		"servicedefinitions.polychrome.dev", "toolservices.polychrome.dev", "workflows.polychrome.dev",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		out  io.Writer
		want int
	}{
		{"help", []string{"--help"}, io.Discard, exitDone},
		{"version", []string{"version"}, io.Discard, exitDone},
		{"a mistake", []string{"--colour"}, io.Discard, exitUsage},
		{"an output that does not take it", []string{"crds"}, brokenPipe{}, exitFailed},
		{"a kubeconfig that is not there", []string{"run", "--kubeconfig=/nonexistent", "--health-address=off", "--metrics-address=off"}, io.Discard, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var complaint bytes.Buffer
			if got := command(c.args, surroundings(), c.out, &complaint); got != c.want {
				t.Errorf("exit code %d, want %d; it said %s", got, c.want, complaint.String())
			}
			if c.want != exitDone && complaint.Len() == 0 {
				t.Error("it does not say why")
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBuildVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"a module version", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: commit}, "v1.2.3"},
		{"a working copy", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, "c0ffee-modified"},
		{"nothing known", debug.BuildInfo{}, "unknown"},
	} {
		if got := buildVersion(&c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheAPIServerIsKnownByAllItsAddresses(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	for host, want := range map[string]string{
		"https://api.example.com":      "api.example.com:443",
		"https://api.example.com:6443": "api.example.com:6443",
		"https://[fd00::1]:6443":       "[fd00::1]:6443",
		"127.0.0.1:8080":               "127.0.0.1:8080",
	} {
		if diff := cmp.Diff([]string{want, "10.96.0.1:443"}, apiServers(&rest.Config{Host: host})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
}
