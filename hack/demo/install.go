package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// operatorRelease is where the agent-sandbox operator is published, in the
// release that the local cluster runs.
const operatorRelease = "https://github.com/kubernetes-sigs/agent-sandbox/releases/download/v0.4.6"

// requirement is something that an existing cluster must have already.
type requirement struct {
	what     string
	path     string
	commands []string
}

func requirements(o *options) []requirement {
	return []requirement{{
		what:     "the CRDs of polychrome.dev",
		path:     "/apis/polychrome.dev/v1alpha1",
		commands: []string{o.program() + " crds | " + o.kubectlPath + " apply --server-side -f -"},
	}, {
		what: "the agent-sandbox operator (extensions.agents.x-k8s.io/v1alpha1)",
		path: "/apis/extensions.agents.x-k8s.io/v1alpha1",
		commands: []string{
			o.kubectlPath + " apply -f " + operatorRelease + "/manifest.yaml",
			o.kubectlPath + " apply -f " + operatorRelease + "/extensions.yaml",
		},
	}, {
		what: "a SandboxTemplate polychrome-harness-default in namespace " + namespace,
		path: "/apis/extensions.agents.x-k8s.io/v1alpha1/namespaces/" + namespace + "/sandboxtemplates/polychrome-harness-default",
		commands: []string{
			o.kubectlPath + " apply --server-side -f hack/localcluster/localcluster/manifests/sandboxes.yaml",
		},
	}}
}

// checkInstalled asks an existing cluster for what the demo does not install
// there, and says which commands would.
func checkInstalled(ctx context.Context, o *options, c *cluster) error {
	var lacking strings.Builder
	for _, r := range requirements(o) {
		err := c.polychrome.Discovery().RESTClient().Get().AbsPath(r.path).Do(ctx).Error()
		switch {
		case apierrors.IsNotFound(err):
			fmt.Fprintf(&lacking, "\n  %s; to install:\n", r.what)
			for _, command := range r.commands {
				fmt.Fprintf(&lacking, "    %s\n", command)
			}
		case err != nil:
			return fmt.Errorf("asking the cluster for %s: %w", r.what, err)
		}
	}
	if lacking.Len() > 0 {
		return errors.New("the cluster lacks\n" + lacking.String())
	}
	return nil
}

// installDefinitions applies what the crds command prints.
func installDefinitions(ctx context.Context, o *options) error {
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, o.program(), "crds")
	cmd.Stderr = &complaint
	definitions, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("printing the CRDs: %w: %s", err, complaint.String())
	}
	if err := o.kubectl(ctx, definitions, "apply", "--server-side", "--force-conflicts", "--field-manager="+fieldManager, "-f", "-"); err != nil {
		return fmt.Errorf("installing the CRDs: %w", err)
	}
	if err := o.kubectl(ctx, definitions, "wait", "--for=condition=Established", "--timeout=30s", "-f", "-"); err != nil {
		return fmt.Errorf("waiting for the CRDs: %w", err)
	}
	return nil
}

// applyExamples applies the examples and returns the ids of the objects of
// ours among them.
func applyExamples(ctx context.Context, o *options) ([]string, error) {
	args := []string{"apply", "--server-side", "--field-manager=" + fieldManager, "-o", "name"}
	for _, folder := range o.examples {
		args = append(args, "-f", folder)
	}
	out, err := o.kubectlOutput(ctx, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("applying the examples: %w", err)
	}
	ids := idsIn(out)
	if len(ids) == 0 {
		return nil, fmt.Errorf("applying the examples: %s hold nothing to show", strings.Join(o.examples, ", "))
	}
	return ids, nil
}

// idsIn reads what kubectl prints with -o name.
func idsIn(applied string) []string {
	var ids []string
	for line := range strings.Lines(applied) {
		resource, name, _ := strings.Cut(strings.TrimSpace(line), "/")
		if kind, ours := strings.CutSuffix(resource, "."+polychromev1alpha1.GroupName); ours {
			ids = append(ids, kind+"/"+name)
		}
	}
	return ids
}
