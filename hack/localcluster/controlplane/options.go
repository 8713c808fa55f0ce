package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"
)

// options is the command line.
type options struct {
	// stateDir holds certificates, the data of etcd, the log and, unless told otherwise, the kubeconfig.
	stateDir string
	// kubeconfig is the file written when everything works.
	kubeconfig string
	// port is where the API server listens; zero picks a free one.
	port int
	// crds are folders of custom resource definitions to apply before the controller manager starts.
	crds []string
	// auditLog is the file that gets one line per request; empty for none.
	auditLog string
	// fairness turns priority and fairness on, which costs time and is only wanted for measurements.
	fairness bool
	// apiOnly leaves out the controller manager and the scheduler.
	apiOnly bool
	// dieWithParent stops the process when standard input ends.
	dieWithParent bool
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	fs := pflag.NewFlagSet("controlplane", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringVar(&o.stateDir, "state-dir", "", "folder for certificates, data and log; reusable (required)")
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "file to write once ready (default STATE-DIR/kubeconfig)")
	fs.IntVar(&o.port, "port", 0, "port of the API server on 127.0.0.1; 0 picks a free one")
	fs.StringSliceVar(&o.crds, "crds", nil, "folder of CustomResourceDefinitions to apply first; may be repeated")
	fs.StringVar(&o.auditLog, "audit-log", "", "file that gets one line of JSON per request")
	fs.BoolVar(&o.fairness, "fairness", false, "enable API priority and fairness")
	fs.BoolVar(&o.apiOnly, "api-only", false, "run etcd and the API server only")
	fs.BoolVar(&o.dieWithParent, "die-with-parent", false, "stop when standard input ends, as it does when the starter is gone")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, o.complete()
}

// complete makes every path absolute and fills in what depends on the state folder.
func (o *options) complete() error {
	if o.stateDir == "" {
		return fmt.Errorf("--state-dir is required")
	}
	if o.kubeconfig == "" {
		o.kubeconfig = filepath.Join(o.stateDir, "kubeconfig")
	}
	paths := []*string{&o.stateDir, &o.kubeconfig}
	if o.auditLog != "" {
		paths = append(paths, &o.auditLog)
	}
	for i := range o.crds {
		paths = append(paths, &o.crds[i])
	}
	for _, p := range paths {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("resolving %q: %w", *p, err)
		}
		*p = abs
	}
	return nil
}

// state names a file or folder inside the state folder.
func (o *options) state(elem ...string) string {
	return filepath.Join(append([]string{o.stateDir}, elem...)...)
}
