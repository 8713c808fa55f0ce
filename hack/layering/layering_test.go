package layering

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTreeKeepsItsLayers(t *testing.T) {
	breaches, err := check(os.DirFS("../.."))
	if err != nil {
		t.Fatalf("checking the tree: %v", err)
	}
	for _, breach := range breaches {
		t.Error(breach)
	}
}

// breachCase is one file in an otherwise empty tree.
type breachCase struct {
	name string
	file string
	body string
	want []string
}

// importing opens an import declaration of several lines.
const importing = "import (\n"

func TestCheckFindsForbiddenImports(t *testing.T) {
	runBreachCases(t, []breachCase{
		{
			name: "apis may import apimachinery",
			file: "apis/polychrome/v1alpha1/types.go",
			body: `import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`,
		},
		{
			name: "apis may not import client-go",
			file: "apis/polychrome/v1alpha1/types.go",
			body: `import "k8s.io/client-go/rest"`,
			want: []string{"apis/polychrome/v1alpha1/types.go imports k8s.io/client-go/rest: apis may not"},
		},
		{
			name: "a module whose name begins like an allowed one is not that one",
			file: "apis/polychrome/v1alpha1/types.go",
			body: `import "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"`,
			want: []string{"apis/polychrome/v1alpha1/types.go imports k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1: apis may not"},
		},
		{
			name: "generated may import apis",
			file: "generated/listers/polychrome/v1alpha1/conversation.go",
			body: `import "polychrome.dev/controller/apis/polychrome/v1alpha1"`,
		},
		{
			name: "generated may not import the framework",
			file: "generated/crds/crds.go",
			body: `import "polychrome.dev/controller/framework"`,
			want: []string{"generated/crds/crds.go imports polychrome.dev/controller/framework: generated may not"},
		},
		{
			name: "framework may import its own subpackages",
			file: "framework/controller.go",
			body: `import "polychrome.dev/controller/framework/conditions"`,
		},
		{
			name: "framework may not import our types",
			file: "framework/frameworktest/crash.go",
			body: `import "polychrome.dev/controller/apis/polychrome/v1alpha1"`,
			want: []string{"framework/frameworktest/crash.go imports polychrome.dev/controller/apis/polychrome/v1alpha1: framework may not"},
		},
		{
			name: "schedule stands alone",
			file: "schedule/next.go",
			body: `import "k8s.io/utils/ptr"`,
			want: []string{"schedule/next.go imports k8s.io/utils/ptr: schedule may not"},
		},
		{
			name: "a reconciler may import the shared rules and its own subpackage",
			file: "reconcilers/workflow/plan.go",
			body: importing + `"polychrome.dev/controller/reconcilers/internal/preflight"
"polychrome.dev/controller/reconcilers/workflow/graph")`,
		},
		{
			name: "a reconciler may not import another",
			file: "reconcilers/workflow/observe.go",
			body: `import "polychrome.dev/controller/reconcilers/servicedefinition"`,
			want: []string{"reconcilers/workflow/observe.go imports polychrome.dev/controller/reconcilers/servicedefinition: reconcilers may not"},
		},
		{
			name: "the MCP library is for tool services alone",
			file: "reconcilers/routine/act.go",
			body: `import "github.com/modelcontextprotocol/go-sdk/mcp"`,
			want: []string{"reconcilers/routine/act.go imports github.com/modelcontextprotocol/go-sdk/mcp: reconcilers may not"},
		},
		{
			name: "tool services may import the MCP library",
			file: "reconcilers/toolservice/probe.go",
			body: `import "github.com/modelcontextprotocol/go-sdk/mcp"`,
		},
		{
			name: "an example may import the framework and what is its own",
			file: "examples/website/wire.go",
			body: importing + `"k8s.io/client-go/kubernetes"
"polychrome.dev/controller/examples/website/generated/clientset/versioned"
"polychrome.dev/controller/framework/conditions")`,
		},
		{
			name: "an example may not import our kinds, their clients, reconcilers or another example",
			file: "examples/website/wire.go",
			body: importing + `"polychrome.dev/controller/apis/polychrome/v1alpha1"
"polychrome.dev/controller/generated/clientset/versioned"
"polychrome.dev/controller/reconcilers/conversation"
"polychrome.dev/controller/examples/other")`,
			want: []string{
				"examples/website/wire.go imports polychrome.dev/controller/apis/polychrome/v1alpha1: examples may not",
				"examples/website/wire.go imports polychrome.dev/controller/generated/clientset/versioned: examples may not",
				"examples/website/wire.go imports polychrome.dev/controller/reconcilers/conversation: examples may not",
				"examples/website/wire.go imports polychrome.dev/controller/examples/other: examples may not",
			},
		},
		{
			name: "an example's types may not import the framework",
			file: "examples/website/api/v1alpha1/types.go",
			body: `import "polychrome.dev/controller/framework"`,
			want: []string{"examples/website/api/v1alpha1/types.go imports polychrome.dev/controller/framework: examples/website/api may not"},
		},
		{
			name: "what is generated for an example may import its types and no more",
			file: "examples/website/generated/listers/a.go",
			body: importing + `"polychrome.dev/controller/examples/website/api/v1alpha1"
"polychrome.dev/controller/apis/polychrome/v1alpha1")`,
			want: []string{"examples/website/generated/listers/a.go imports polychrome.dev/controller/apis/polychrome/v1alpha1: examples/website/generated may not"},
		},
		{
			name: "nobody imports cmd, also not an unruled folder",
			file: "test/journey/run.go",
			body: `import "polychrome.dev/controller/cmd/polychrome-controller"`,
			want: []string{"test/journey/run.go imports polychrome.dev/controller/cmd/polychrome-controller: nobody imports cmd"},
		},
		{
			name: "a command may import anything",
			file: "cmd/polychrome-controller/main.go",
			body: importing + `"example.com/anything"
"polychrome.dev/controller/reconcilers/workflow")`,
		},
		{
			name: "a test may import more than its package",
			file: "schedule/next_test.go",
			body: `import "github.com/google/go-cmp/cmp"`,
		},
		{
			name: "another module is not ours to judge",
			file: "framework/nested/a.go",
			body: `import "example.com/anything"`,
		},
	})
}

func TestCheckFindsImpureFiles(t *testing.T) {
	runBreachCases(t, []breachCase{
		{
			name: "a pure file may build apply configurations",
			file: "reconcilers/servicedefinition/children.go",
			body: `import "k8s.io/client-go/applyconfigurations/apps/v1"`,
		},
		{
			name: "a pure file has no context, client, lister or logger",
			file: "reconcilers/conversation/plan.go",
			body: importing + `"context"
"log/slog"
"k8s.io/client-go/kubernetes"
"polychrome.dev/controller/generated/listers/polychrome/v1alpha1")`,
			want: []string{
				"reconcilers/conversation/plan.go imports context: a pure file may not",
				"reconcilers/conversation/plan.go imports log/slog: a pure file may not",
				"reconcilers/conversation/plan.go imports k8s.io/client-go/kubernetes: a pure file may not",
				"reconcilers/conversation/plan.go imports polychrome.dev/controller/generated/listers/polychrome/v1alpha1: a pure file may not",
			},
		},
		{
			name: "a pure file of an example has no client",
			file: "examples/website/status.go",
			body: `import "polychrome.dev/controller/examples/website/generated/clientset/versioned"`,
			want: []string{"examples/website/status.go imports polychrome.dev/controller/examples/website/generated/clientset/versioned: a pure file may not"},
		},
		{
			name: "a pure file has no system, network or randomness",
			file: "framework/owners/owners.go",
			body: importing + `"math/rand/v2"
"net/http"
"os")`,
			want: []string{
				"framework/owners/owners.go imports math/rand/v2: a pure file may not",
				"framework/owners/owners.go imports net/http: a pure file may not",
				"framework/owners/owners.go imports os: a pure file may not",
			},
		},
		{
			name: "a pure file does not read the clock, under whatever name",
			file: "reconcilers/routine/status.go",
			body: `import clock "time"
var a, b, c = clock.Now(), clock.Since, clock.Until`,
			want: []string{
				"reconcilers/routine/status.go uses time.Now: a pure file may not read the clock",
				"reconcilers/routine/status.go uses time.Since: a pure file may not read the clock",
				"reconcilers/routine/status.go uses time.Until: a pure file may not read the clock",
			},
		},
		{
			name: "a pure file does not read the clock through metav1",
			file: "reconcilers/routine/status.go",
			body: `import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
var now = metav1.Now()`,
			want: []string{"reconcilers/routine/status.go uses metav1.Now: a pure file may not read the clock"},
		},
		{
			name: "a pure file may name a duration",
			file: "framework/conditions/conditions.go",
			body: `import "time"
const wait = 5 * time.Second`,
		},
		{
			name: "an impure file may read the clock",
			file: "reconcilers/routine/act.go",
			body: `import "time"
var now = time.Now()`,
		},
	})
}

func runBreachCases(t *testing.T, cases []breachCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			tree := fstest.MapFS{
				tt.file:                   {Data: []byte("package p\n" + tt.body + "\n")},
				"framework/nested/go.mod": {Data: []byte("module nested\n")},
			}
			got, err := check(tree)
			if err != nil {
				t.Fatalf("checking the fake tree: %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("breaches (-want +got):\n%s", diff)
			}
		})
	}
}
