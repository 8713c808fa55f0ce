package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// surroundings make an environment from NAME=value entries.
func surroundings(entries ...string) environment {
	env := environment{variables: map[string]string{}, podNamespaceFile: "/nonexistent"}
	for _, entry := range entries {
		name, value, _ := strings.Cut(entry, "=")
		env.variables[name] = value
	}
	return env
}

func TestDefaults(t *testing.T) {
	got, err := parseOptions(nil, surroundings())
	if err != nil {
		t.Fatal(err)
	}
	want := &options{
		command:          "run",
		namespace:        "polychrome",
		appsNamespace:    "polychrome-apps",
		template:         "polychrome-harness-default",
		warmPool:         "polychrome-harness-warm",
		sandboxAPI:       "auto",
		rollConcurrency:  5,
		retentionSeconds: 86400,
		leaderElect:      true,
		healthAddress:    ":8081",
		metricsAddress:   "127.0.0.1:8080",
		logFormat:        "json",
		logLevel:         "info",
		workers:          8,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("without flags and environment (-want +got):\n%s", diff)
	}
}

// read tells one field of the options as text.
type read func(*options) any

func TestPrecedence(t *testing.T) {
	namespace := read(func(o *options) any { return o.namespace })
	retention := read(func(o *options) any { return o.retentionSeconds })
	concurrency := read(func(o *options) any { return o.rollConcurrency })
	generation := read(func(o *options) any { return o.generation })
	kubeconfig := read(func(o *options) any { return o.kubeconfig })
	workers := read(func(o *options) any { return o.workers })
	leaderElect := read(func(o *options) any { return o.leaderElect })
	for _, c := range []struct {
		name string
		args []string
		env  []string
		read read
		want any
	}{
		{"a variable beats the default", nil, []string{"POLYCHROME_WORKERS=3"}, workers, 3},
		{"a flag beats its variable", []string{"--workers=2"}, []string{"POLYCHROME_WORKERS=3"}, workers, 2},
		{"a flag beats its variable also with the default value", []string{"--workers=8"}, []string{"POLYCHROME_WORKERS=3"}, workers, 8},
		{"a malformed variable behind a flag does not matter", []string{"--workers=2"}, []string{"POLYCHROME_WORKERS=many"}, workers, 2},
		{"a blank variable is not set", nil, []string{"POLYCHROME_LEADER_ELECT= "}, leaderElect, true},
		{"a flag may stand behind the command", []string{"run", "--leader-elect=false"}, nil, leaderElect, false},
		{"the namespace of apps from its variable", nil, []string{"POLYCHROME_APPS_NAMESPACE=green"}, read(func(o *options) any { return o.appsNamespace }), "green"},
		{"the namespace from its variable", nil, []string{"POLYCHROME_NAMESPACE=blue"}, namespace, "blue"},
		{"the kubeconfig's own flag beats KUBECONFIG", []string{"--kubeconfig=a"}, []string{"KUBECONFIG=b"}, kubeconfig, "a"},
		{"the kubeconfig's own variable beats KUBECONFIG", nil, []string{"POLYCHROME_KUBECONFIG=a", "KUBECONFIG=b"}, kubeconfig, "a"},
		{"KUBECONFIG comes last", nil, []string{"KUBECONFIG=b"}, kubeconfig, "b"},
		{"a generation is used verbatim", nil, []string{"POLYCHROME_HARNESS_IMAGE_GENERATION= 2 "}, generation, " 2 "},
		{"a blank generation is off", []string{"--harness-image-generation= "}, nil, generation, ""},
		{"a roll concurrency of zero is the default", nil, []string{"POLYCHROME_HARNESS_ROLL_CONCURRENCY=0"}, concurrency, 5},
		{"a roll concurrency that is no number is the default", []string{"--harness-roll-concurrency=all"}, nil, concurrency, 5},
		{"a retention is trimmed", nil, []string{"POLYCHROME_CLOSED_CONVERSATION_RETENTION_SECONDS= 60 "}, retention, int64(60)},
		{"a blank retention is off", nil, []string{"POLYCHROME_CLOSED_CONVERSATION_RETENTION_SECONDS="}, retention, int64(0)},
		{"a malformed retention is off", nil, []string{"POLYCHROME_CLOSED_CONVERSATION_RETENTION_SECONDS=1d"}, retention, int64(0)},
		{"a negative retention is off", []string{"--closed-conversation-retention-seconds=-5"}, nil, retention, int64(0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := parseOptions(c.args, surroundings(c.env...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.read(o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamespaceOfThePod(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("green\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := surroundings()
	env.podNamespaceFile = file
	for _, c := range []struct{ set, want string }{{"", "green"}, {"blue", "blue"}} {
		env.variables["POLYCHROME_NAMESPACE"] = c.set
		o, err := parseOptions(nil, env)
		if err != nil {
			t.Fatal(err)
		}
		if o.namespace != c.want {
			t.Errorf("POLYCHROME_NAMESPACE=%q in a pod of green: namespace %q, want %q", c.set, o.namespace, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"an unknown flag", []string{"--colour"}, nil, "unknown flag: --colour"},
		{"an unknown command", []string{"walk"}, nil, `"walk" is none of run, crds and version`},
		{"two commands", []string{"crds", "version"}, nil, "only one"},
		{"a variable that is no number", nil, []string{"POLYCHROME_WORKERS=many"}, "reading POLYCHROME_WORKERS"},
		{"a variable that is no truth value", nil, []string{"POLYCHROME_LEADER_ELECT=perhaps"}, "reading POLYCHROME_LEADER_ELECT"},
		{"no workers", nil, []string{"POLYCHROME_WORKERS=0"}, "a whole number from 1 to 1000"},
		{"more workers than memory", []string{"--workers=99999999"}, nil, "a whole number from 1 to 1000"},
		{"a namespace of apps that cannot be", []string{"--apps-namespace=Green"}, nil, "--apps-namespace"},
		{"a namespace that cannot be", nil, []string{"POLYCHROME_NAMESPACE=Blue_1"}, "the name of a namespace"},
		{"a template that cannot be", []string{"--sandbox-template=a/b"}, nil, "the name of a SandboxTemplate"},
		{"a warm pool that cannot be", []string{"--warm-pool=A"}, nil, "the name of a SandboxWarmPool"},
		{"a version that nobody serves", nil, []string{"POLYCHROME_AGENT_SANDBOX_VERSION=v2"}, "auto, v1alpha1 or v1beta1"},
		{"an address without a port", []string{"--health-address=localhost"}, nil, `HOST:PORT as in ":8081"`},
		{"a port that is a name", []string{"--health-address=:web"}, nil, "the port is no number"},
		{"metrics for everybody", nil, []string{"POLYCHROME_METRICS_ADDRESS=:8080"}, "a loopback address"},
		{"a log format that is not there", []string{"--log-format=xml"}, nil, `"xml" is neither "json" nor "text"`},
		{"a log level that is not there", []string{"--log-level=loud"}, nil, "log level"},
		{"a generation that no status could hold", []string{"--harness-image-generation=" + strings.Repeat("x", 257)}, nil, "use at most 256"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseOptions(c.args, surroundings(c.env...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
}

func TestAllRefusalsAtOnce(t *testing.T) {
	_, err := parseOptions([]string{"--workers=0", "--log-format=xml"}, surroundings())
	for _, want := range []string{"workers", "xml"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that also says %q", err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"nothing odd", []string{"POLYCHROME_WORKERS=1", "PATH=/bin"}, nil},
		{
			"unknown variables in one warning, sorted",
			[]string{"POLYCHROME_WORKER=1", "POLYCHROME_COLOUR=red"},
			[]string{"these environment variables mean nothing to this program: POLYCHROME_COLOUR, POLYCHROME_WORKER"},
		},
		{
			"the links of a Service are nobody's mistake",
			[]string{
				"POLYCHROME_CONTROLLER_SERVICE_HOST=10.0.0.1", "POLYCHROME_CONTROLLER_SERVICE_PORT=80",
				"POLYCHROME_CONTROLLER_SERVICE_PORT_METRICS=80", "POLYCHROME_CONTROLLER_PORT=tcp://10.0.0.1:80",
				"POLYCHROME_CONTROLLER_PORT_80_TCP=tcp://10.0.0.1:80", "POLYCHROME_CONTROLLER_PORT_80_TCP_PROTO=tcp",
				"POLYCHROME_CONTROLLER_PORT_80_TCP_PORT=80", "POLYCHROME_CONTROLLER_PORT_80_TCP_ADDR=10.0.0.1",
			},
			nil,
		},
		{
			"a retention that is not used",
			[]string{"POLYCHROME_CLOSED_CONVERSATION_RETENTION_SECONDS=1d"},
			[]string{`the retention "1d" is no number of seconds; closed conversations are kept for ever`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := parseOptions(nil, surroundings(c.env...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, o.warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	_, err := parseOptions([]string{"--help"}, surroundings())
	var help *helpError
	if !errors.As(err, &help) {
		t.Fatalf("got %v, want help", err)
	}
	for _, want := range []string{"--namespace", "--sandbox-template", "--workers", "POLYCHROME_"} {
		if !strings.Contains(help.text, want) {
			t.Errorf("the help does not speak of %s:\n%s", want, help.text)
		}
	}
}

func TestEffectiveConfigurationIsWhole(t *testing.T) {
	o, err := parseOptions([]string{"--namespace=blue", "--workers=3"}, surroundings())
	if err != nil {
		t.Fatal(err)
	}
	facts := o.effective()
	for _, want := range []any{"namespace", "blue", "workers", 3} {
		if !slices.Contains(facts, want) {
			t.Errorf("%v is not among %v", want, facts)
		}
	}
}
