package layering

import "strings"

// module is the import path of the tree that is checked.
const module = "polychrome.dev/controller"

// A layer is a part of the tree with one rule for what it may import.
type layer struct {
	// dir is the folder, relative to the root; subfolders belong to it.
	dir string
	// own are the folders of this module it may import, beside itself.
	own []string
	// foreign are the modules it may import, beside the standard library.
	foreign []string
	// closed forbids importing from a sibling folder of the same layer.
	closed bool
}

// layers are the rules, most specific folder first. A folder of the module that
// no layer names may import anything, but nobody listed here may import it.
func layers() []layer {
	return []layer{
		{dir: "apis", foreign: []string{"k8s.io/apimachinery", "k8s.io/api"}},
		{dir: "generated", own: []string{"apis"}, foreign: generatedModules()},
		{dir: "framework", foreign: []string{
			"k8s.io/apimachinery", "k8s.io/api", "k8s.io/client-go", "k8s.io/klog", "k8s.io/utils",
			"sigs.k8s.io/json", "github.com/prometheus/client_golang",
		}},
		{dir: "schedule"},
		{dir: "reconcilers/internal", own: reconcilerImports(), foreign: reconcilerModules()},
		{
			dir: "reconcilers/toolservice", own: reconcilerImports(), closed: true,
			foreign: append(reconcilerModules(), "github.com/modelcontextprotocol/go-sdk"),
		},
		{
			dir: "reconcilers/conversation/slots", own: reconcilerImports(), closed: true,
			foreign: append(reconcilerModules(), "github.com/prometheus/client_golang"),
		},
		{dir: "reconcilers", own: reconcilerImports(), closed: true, foreign: reconcilerModules()},
		// An example stands on what a stranger has: the framework and its own.
		{dir: "examples/website/api", foreign: []string{"k8s.io/apimachinery"}},
		{dir: "examples/website/generated", own: []string{"examples/website/api"}, foreign: generatedModules()},
		{dir: "examples", own: []string{"framework"}, closed: true, foreign: []string{
			"k8s.io/apimachinery", "k8s.io/api", "k8s.io/client-go",
		}},
	}
}

func generatedModules() []string {
	return []string{"k8s.io/apimachinery", "k8s.io/api", "k8s.io/client-go", "sigs.k8s.io/structured-merge-diff"}
}

func reconcilerImports() []string {
	return []string{"apis", "generated", "framework", "reconcilers/internal", "schedule"}
}

func reconcilerModules() []string {
	return []string{"k8s.io/apimachinery", "k8s.io/api", "k8s.io/client-go", "k8s.io/utils"}
}

// pureFiles are the names of the files in a reconciler's or an example's folder
// that decide and do nothing else.
var pureFiles = map[string]bool{
	"plan.go": true, "children.go": true, "status.go": true,
	"verdict.go": true, "validate.go": true, "rollout.go": true, "pods.go": true,
	// Of tool services.
	"spec.go": true, "memory.go": true, "due.go": true, "standing.go": true, "catalog.go": true, "changes.go": true,
}

// purePackages are the folders in which every file is pure.
var purePackages = []string{"framework/conditions", "framework/drift", "framework/mergepatch", "framework/owners", "framework/served"}

// impureImports are the packages a pure file may not import, with all below
// them. Apply configurations, which only build values, are excepted.
var impureImports = []string{
	"context", "log", "math/rand", "crypto/rand", "net", "os", "io/fs",
	"k8s.io/client-go", "k8s.io/klog", "k8s.io/apimachinery/pkg/util/wait",
	module + "/generated/clientset", module + "/generated/informers", module + "/generated/listers",
	module + "/examples/website/generated/clientset", module + "/examples/website/generated/informers",
	module + "/examples/website/generated/listers",
}

// pureImports are exceptions from impureImports: they only compute.
var pureImports = []string{"k8s.io/client-go/applyconfigurations", "net/netip", "net/url"}

// clockReads are the functions of package time that read the clock.
var clockReads = map[string]bool{
	"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true, "Tick": true,
	"NewTimer": true, "NewTicker": true, "Sleep": true,
}

// within reports whether an import path or folder lies in another one, the same
// or below. A major version suffix of a module, such as /v2, is below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}

func withinAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if within(path, dir) {
			return true
		}
	}
	return false
}
