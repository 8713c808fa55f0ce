package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"polychrome.dev/controller/reconcilers/conversation"
)

// The namespaces where nothing names others: the control namespace, and the
// one of apps.
const (
	defaultNamespace     = "polychrome"
	defaultAppsNamespace = "polychrome-apps"
)

// Flags that are also spoken of outside the table in flags.
const (
	flagNamespace   = "namespace"
	flagApps        = "apps-namespace"
	flagKubeconfig  = "kubeconfig"
	flagTemplate    = "sandbox-template"
	flagWarmPool    = "warm-pool"
	flagSandboxAPI  = "agent-sandbox-version"
	flagGeneration  = "harness-image-generation"
	flagConcurrency = "harness-roll-concurrency"
	flagRetention   = "closed-conversation-retention-seconds"
	flagHealth      = "health-address"
	flagMetrics     = "metrics-address"
	flagWorkers     = "workers"
)

// options are the effective configuration.
type options struct {
	// command is run, crds or version.
	command string
	// namespace holds the Conversations, their claims and the lease.
	namespace string
	// appsNamespace holds the ServiceDefinitions and Workflows, and what is
	// made for them.
	appsNamespace string
	// kubeconfig is a file, or a list of files as in KUBECONFIG. Empty means
	// the pod's own ServiceAccount.
	kubeconfig string
	// template names the SandboxTemplate that units are claimed from, warmPool
	// the SandboxWarmPool where claims name one.
	template, warmPool string
	// sandboxAPI is the version of the agent-sandbox API that is used, auto
	// for the newest that is served.
	sandboxAPI string
	// generation is the desired harness image generation; empty is off.
	generation string
	// rollConcurrency is how many Conversations roll at once.
	rollConcurrency int
	// retentionSeconds is how long closed Conversations are kept; 0 is for
	// ever.
	retentionSeconds int64
	// leaderElect makes one of several processes work.
	leaderElect bool
	// healthAddress and metricsAddress are listened on; "off" is not.
	healthAddress, metricsAddress string
	// logFormat is json or text; logLevel is a slog level.
	logFormat, logLevel string
	// allowLoopback lets ToolServices be on this very host.
	allowLoopback bool
	// workers is how many passes of a kind run at once.
	workers int
	// warnings are said once the log works.
	warnings []string
}

// raw holds the values whose reading is the reconciler's, as they were given.
type raw struct{ generation, rollConcurrency, retention string }

const usage = `Usage: polychrome-controller [run|crds|version] [flags]

  run      work until SIGTERM or SIGINT (the default)
  crds     print the CustomResourceDefinitions; kubectl apply --server-side -f - takes them
  version  print the version

Every flag has a twin in the environment, POLYCHROME_ and its name in capitals
with underscores, as in POLYCHROME_LOG_LEVEL. A flag wins over its twin.

Flags:
`

// parseOptions reads a command line and its environment. A *helpError says
// that help was asked for.
func parseOptions(args []string, env environment) (*options, error) {
	o, given := &options{}, &raw{}
	fs := flags(o, given)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return nil, &helpError{text: usage + fs.FlagUsages()}
	case err != nil:
		return nil, fmt.Errorf("reading the flags: %w", err)
	}
	if err := o.readCommand(fs.Args()); err != nil {
		return nil, err
	}
	if o.command != "run" {
		return o, nil
	}
	if err := readTwins(fs, env); err != nil {
		return nil, err
	}
	if err := o.complete(fs, given, env); err != nil {
		return nil, err
	}
	return o, o.validate()
}

func flags(o *options, given *raw) *pflag.FlagSet {
	fs := pflag.NewFlagSet("polychrome-controller", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	fs.StringVar(&o.namespace, flagNamespace, "", "namespace of the conversations, their claims and the lease; the pod's own by default, else "+defaultNamespace)
	fs.StringVar(&o.appsNamespace, flagApps, defaultAppsNamespace, "namespace of the service definitions and workflows, and of what is made for them")
	fs.StringVar(&o.kubeconfig, flagKubeconfig, "", "kubeconfig file; by default that of KUBECONFIG, else the pod's ServiceAccount")
	fs.StringVar(&o.template, flagTemplate, conversation.DefaultTemplate, "SandboxTemplate that execution units are claimed from")
	fs.StringVar(&o.warmPool, flagWarmPool, conversation.DefaultWarmPool, "SandboxWarmPool that execution units are claimed from where the agent-sandbox API is v1beta1; if only shadow-pool-TEMPLATE exists, that one")
	fs.StringVar(&o.sandboxAPI, flagSandboxAPI, versionAuto, "version of the agent-sandbox API: auto (the newest that is served), v1beta1 or v1alpha1")
	fs.StringVar(&given.generation, flagGeneration, "", "desired harness image generation, any text; units of another one are replaced; empty switches that off")
	fs.StringVar(&given.rollConcurrency, flagConcurrency, "", fmt.Sprintf("how many conversations may have their unit replaced at once (default %d)", conversation.DefaultRollConcurrency))
	fs.StringVar(&given.retention, flagRetention, "", fmt.Sprintf("how long a closed conversation is kept; 0 is for ever (default %d)", conversation.DefaultRetentionSeconds))
	fs.BoolVar(&o.leaderElect, "leader-elect", true, "work only while holding the lease, so that several processes can stand by")
	fs.StringVar(&o.healthAddress, flagHealth, ":8081", `address of /healthz, /livez and /readyz; "off" for none`)
	fs.StringVar(&o.metricsAddress, flagMetrics, "127.0.0.1:8080", `loopback address of /metrics and /debug/decisions; "off" for none`)
	fs.StringVar(&o.logFormat, "log-format", "json", "json or text")
	fs.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	fs.BoolVar(&o.allowLoopback, "allow-loopback-probes", false, "ask tool services on this very host too; for development")
	fs.IntVar(&o.workers, flagWorkers, 8, "how many objects of a kind are worked on at once")
	return fs
}

func (o *options) readCommand(args []string) error {
	o.command = "run"
	if len(args) > 1 {
		return fmt.Errorf("reading the command: only one is possible, not %q", args)
	}
	if len(args) == 1 {
		o.command = args[0]
	}
	switch o.command {
	case "run", "crds", "version":
		return nil
	}
	return fmt.Errorf("reading the command: %q is none of run, crds and version", o.command)
}

// readTwins gives flags that were not on the command line the value of their
// variable. A blank variable counts as not set, but for the retention, where
// blank is a value.
func readTwins(fs *pflag.FlagSet, env environment) error {
	var first error
	fs.VisitAll(func(f *pflag.Flag) {
		value, set := env.variables[twin(f.Name)]
		if !set || f.Changed || first != nil {
			return
		}
		if strings.TrimSpace(value) == "" && f.Name != flagRetention {
			return
		}
		if err := fs.Set(f.Name, value); err != nil {
			first = fmt.Errorf("reading %s: %w", twin(f.Name), err)
		}
	})
	return first
}

// complete fills in what is not said plainly by one flag.
func (o *options) complete(fs *pflag.FlagSet, given *raw, env environment) error {
	if o.namespace == "" {
		o.namespace = env.podNamespace()
	}
	if o.namespace == "" {
		o.namespace = defaultNamespace
	}
	if o.kubeconfig == "" {
		o.kubeconfig = env.variables["KUBECONFIG"]
	}
	var err error
	if o.generation, err = conversation.ParseGeneration(given.generation); err != nil {
		return fmt.Errorf("reading --%s or %s: %w", flagGeneration, twin(flagGeneration), err)
	}
	var warning string
	o.rollConcurrency, warning = conversation.ParseRollConcurrency(given.rollConcurrency)
	o.warn(warning)
	o.retentionSeconds, warning = conversation.ParseRetention(given.retention, fs.Changed(flagRetention))
	o.warn(warning)
	known := map[string]bool{}
	fs.VisitAll(func(f *pflag.Flag) { known[twin(f.Name)] = true })
	if names := env.unknown(known); len(names) > 0 {
		o.warn("these environment variables mean nothing to this program: " + strings.Join(names, ", "))
	}
	return nil
}

func (o *options) warn(warning string) {
	if warning != "" {
		o.warnings = append(o.warnings, warning)
	}
}

// effective is the configuration as facts for the log. None is a secret.
func (o *options) effective() []any {
	return []any{
		"namespace", o.namespace,
		"appsNamespace", o.appsNamespace,
		"kubeconfig", o.kubeconfig,
		"sandboxTemplate", o.template,
		"warmPool", o.warmPool,
		"agentSandboxVersion", o.sandboxAPI,
		"harnessImageGeneration", o.generation,
		"harnessRollConcurrency", o.rollConcurrency,
		"closedConversationRetentionSeconds", o.retentionSeconds,
		"leaderElect", o.leaderElect,
		"healthAddress", o.healthAddress,
		"metricsAddress", o.metricsAddress,
		"logFormat", o.logFormat,
		"logLevel", o.logLevel,
		"allowLoopbackProbes", o.allowLoopback,
		"workers", o.workers,
	}
}
