package main

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cliflag "k8s.io/component-base/cli/flag"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// auditPolicy records who asked for what and what came of it, never a body.
//
//go:embed audit-policy.yaml
var auditPolicy []byte

func runAPIServer(ctx context.Context, o *options, certs *pki, etcd string, listener net.Listener) error {
	args, err := apiServerArgs(o, certs, etcd)
	if err != nil {
		return err
	}
	s := apiserveroptions.NewServerRunOptions()
	if err := parseFlags(s.Flags(), args); err != nil {
		return err
	}
	s.SecureServing.Listener = listener
	s.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	// The other components share this registry; it is set once, by whichever needs it first.
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("setting the feature gates: %w", err)
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return fmt.Errorf("completing the options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("validating the options: %w", utilerrors.NewAggregate(errs))
	}
	return kubeapiserver.Run(ctx, completed)
}

func apiServerArgs(o *options, certs *pki, etcd string) ([]string, error) {
	args := []string{
		"--etcd-servers=http://" + etcd,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + certs.servingCert,
		"--tls-private-key-file=" + certs.servingKey,
		"--client-ca-file=" + certs.caCert,
		"--service-account-key-file=" + certs.tokenKey,
		"--service-account-signing-key-file=" + certs.tokenKey,
		// Not the address: tokens stay valid when the next run listens on another port.
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=Node,RBAC",
	}
	if !o.fairness {
		// Without priority and fairness the old limits on requests in flight would apply: lift them.
		args = append(args, "--enable-priority-and-fairness=false",
			"--max-requests-inflight=0", "--max-mutating-requests-inflight=0")
	}
	if o.auditLog != "" {
		policy := o.state("audit-policy.yaml")
		if err := os.WriteFile(policy, auditPolicy, 0o600); err != nil {
			return nil, fmt.Errorf("writing the audit policy: %w", err)
		}
		args = append(args, "--audit-policy-file="+policy, "--audit-log-path="+o.auditLog, "--audit-log-maxsize=0")
	}
	return args, nil
}

// parseFlags feeds arguments to a component's options the way its own command would.
func parseFlags(sets cliflag.NamedFlagSets, args []string) error {
	fs := pflag.NewFlagSet("component", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		fs.AddFlagSet(set)
	}
	if err := fs.Parse(args); err != nil {
		return fmt.Errorf("parsing the flags: %w", err)
	}
	return nil
}
