package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

// Binary returns the path of one of the cluster's binaries: controlplane, kubectl, kwok or agent-sandbox-controller. It
// skips the test when none have been built.
func Binary(t testing.TB, name string) string {
	t.Helper()
	bin := os.Getenv(BinEnv)
	if bin == "" {
		t.Skip(skipped)
	}
	path := filepath.Join(bin, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s names a folder without %s: %v", BinEnv, name, err)
	}
	return path
}

// OperatorCRDs returns the folder of the agent-sandbox operator's own definitions.
func OperatorCRDs(t testing.TB) string {
	t.Helper()
	return Binary(t, "agent-sandbox-crds")
}

// ProjectCRDs returns the folder of this project's definitions.
func ProjectCRDs(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("finding the project: %v", err)
	}
	for {
		crds := filepath.Join(dir, "generated", "crds")
		if _, err := os.Stat(crds); err == nil {
			return crds
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("finding the project: no generated/crds in any folder above")
		}
		dir = parent
	}
}
