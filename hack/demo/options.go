package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

const (
	// namespace is the control namespace of manifests and examples, and
	// appsNamespace that of apps.
	namespace     = "polychrome"
	appsNamespace = "polychrome-apps"
	// fieldManager owns what the demo applies.
	fieldManager = "polychrome-demo"
	// localClusterEnv is set beside a local cluster, and tells it from one
	// that somebody uses.
	localClusterEnv = "POLYCHROME_TEST_KUBECONFIG"
	// generationEnv is the controller's variable for the desired generation.
	generationEnv = "POLYCHROME_HARNESS_IMAGE_GENERATION"
)

const usage = `Usage: demo [--existing] [flags]

Shows the controller at work; make demo runs it beside a local cluster.

Flags:
`

// options is the command line.
type options struct {
	// existing uses the cluster that kubectl would use.
	existing bool
	// stateDir takes kubeconfig and log of the controller.
	stateDir string
	// bin is the folder of the built programs.
	bin string
	// manifests are the kustomizations with the controller's identity and
	// rights.
	manifests []string
	// examples are the folders of the objects to show.
	examples []string
	// timeout is how long everything may take to settle.
	timeout time.Duration
	// kubectlPath is the kubectl that is used and spoken of.
	kubectlPath string
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := pflag.NewFlagSet("demo", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage, flags.FlagUsages()) }
	flags.BoolVar(&o.existing, "existing", false, "use the cluster of KUBECONFIG, and install neither CRDs nor the agent-sandbox operator there")
	flags.StringVar(&o.stateDir, "state-dir", ".local/demo", "folder for the controller's kubeconfig and log")
	flags.StringVar(&o.bin, "bin", "bin", "folder of the built programs")
	flags.StringSliceVar(&o.manifests, "manifests", []string{"manifests/base", "manifests/apps-namespace"}, "kustomizations with the controller's identity and rights")
	flags.StringSliceVar(&o.examples, "examples", []string{"examples/conversations", "examples/apps", "examples/toolservices", "examples/routines"}, "folders of the objects to show")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long everything may take to settle")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("reading the arguments: %q is none of its flags", flags.Arg(0))
	}
	if !o.existing && os.Getenv(localClusterEnv) == "" {
		return nil, errors.New("there is no local cluster: make demo starts one, and --existing uses your own")
	}
	return o, o.complete()
}

// complete looks for what the demo needs before it changes anything.
func (o *options) complete() error {
	for _, path := range slices.Concat(o.manifests, o.examples, []string{o.program()}) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for %s: it is missing; make build builds the programs, and the demo runs in the root of the repository", path)
		}
	}
	if err := os.MkdirAll(o.stateDir, 0o700); err != nil {
		return fmt.Errorf("creating the state folder: %w", err)
	}
	o.kubectlPath = filepath.Join(o.bin, "kubectl")
	if _, err := os.Stat(o.kubectlPath); err == nil {
		return nil
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		return errors.New("looking for kubectl: it is neither on the PATH nor built; make localcluster builds one")
	}
	o.kubectlPath = "kubectl"
	return nil
}

// program is the controller.
func (o *options) program() string { return filepath.Join(o.bin, "polychrome-controller") }

// identity is the controller's kubeconfig. The administrator's is in the
// same folder, and has another name.
func (o *options) identity() string { return filepath.Join(o.stateDir, "controller.kubeconfig") }

// generation is the file with the harness image generation of the last run.
func (o *options) generation() string { return filepath.Join(o.stateDir, "generation") }

// log is what the controller says.
func (o *options) log() string { return filepath.Join(o.stateDir, "controller.log") }

// kubectl runs kubectl with input as its standard input.
func (o *options) kubectl(ctx context.Context, input []byte, args ...string) error {
	_, err := o.kubectlOutput(ctx, input, args...)
	return err
}

// kubectlOutput returns what kubectl prints. The cache is the demo's own: a
// local cluster may have had the same address and other kinds a moment ago.
func (o *options) kubectlOutput(ctx context.Context, input []byte, args ...string) (string, error) {
	args = append([]string{"--cache-dir=" + filepath.Join(o.stateDir, "kubectl-cache")}, args...)
	cmd := exec.CommandContext(ctx, o.kubectlPath, args...)
	var out, complaint strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running kubectl %s: %w: %s", args[1], err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}
