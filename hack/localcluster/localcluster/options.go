package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

const usage = `Usage: localcluster run [flags] -- COMMAND [ARGUMENT...]

Runs COMMAND beside a local Kubernetes cluster. Without COMMAND the cluster stays until a signal.

Flags:
`

// options is the command line.
type options struct {
	// stateDir holds all that the cluster writes; a later run finds the objects again.
	stateDir string
	// bin is the folder of the binaries that make up the cluster.
	bin string
	// fresh forgets the objects of earlier runs.
	fresh bool
	// crds are folders of definitions to serve besides the operator's.
	crds []string
	// operator runs the agent-sandbox operator.
	operator bool
	// nodes runs kwok with two nodes.
	nodes bool
	// podCIDR is where kwok takes pod addresses from.
	podCIDR string
	// auditLog is the file that gets one line per request; empty for none.
	auditLog string
	// fairness turns API priority and fairness on.
	fairness bool
	// command is what to run, empty to wait for a signal.
	command []string
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	fs := pflag.NewFlagSet("localcluster", pflag.ContinueOnError)
	fs.SortFlags = false
	// Flags behind the command's name are the command's.
	fs.SetInterspersed(false)
	fs.StringVar(&o.stateDir, "state-dir", ".local/cluster", "folder for everything the cluster writes")
	fs.StringVar(&o.bin, "bin", "bin", "folder of the cluster's binaries")
	fs.BoolVar(&o.fresh, "fresh", false, "start empty, forgetting what earlier runs left in the state folder")
	fs.StringSliceVar(&o.crds, "crds", nil, "folder of further CustomResourceDefinitions; may be repeated")
	fs.BoolVar(&o.operator, "operator", true, "run the agent-sandbox operator, with a template and a warm pool")
	fs.BoolVar(&o.nodes, "nodes", true, "run kwok with two nodes, so that pods become ready")
	fs.StringVar(&o.podCIDR, "pod-cidr", "10.244.0.0/16", "range of the pods' addresses")
	fs.StringVar(&o.auditLog, "audit-log", "", "file that gets one line of JSON per request")
	fs.BoolVar(&o.fairness, "fairness", false, "enable API priority and fairness")
	fs.Usage = func() { fmt.Fprint(os.Stderr, usage, fs.FlagUsages()) }
	if len(args) == 0 || args[0] != "run" {
		fs.Usage()
		return nil, errors.New("the first argument has to be run")
	}
	if err := fs.Parse(args[1:]); err != nil {
		return nil, err
	}
	o.command = fs.Args()
	return o, o.complete()
}

// complete makes the folders absolute, for the command may look at them from elsewhere, and checks that the cluster has
// been built.
func (o *options) complete() error {
	for _, p := range []*string{&o.stateDir, &o.bin} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("resolving %q: %w", *p, err)
		}
		*p = abs
	}
	if _, err := os.Stat(o.binary("controlplane")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: make localcluster builds it", o.binary("controlplane"))
	}
	return nil
}

func (o *options) binary(name string) string { return filepath.Join(o.bin, name) }

func (o *options) state(name string) string { return filepath.Join(o.stateDir, name) }

func (o *options) kubeconfig() string { return o.state("kubeconfig") }

// operatorCRDs is where the build puts the definitions of the operator it built.
func (o *options) operatorCRDs() string { return o.binary("agent-sandbox-crds") }
