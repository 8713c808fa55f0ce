package layering

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// check returns every breach of the rules in a tree, in the order of the files.
// It reads source and needs no build, so it also sees files that other
// platforms build.
func check(tree fs.FS) ([]string, error) {
	var breaches []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(tree, name, entry)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing %s: %w", name, err)
		}
		breaches = append(breaches, layerBreaches(name, file)...)
		breaches = append(breaches, pureBreaches(name, file)...)
		return nil
	})
	return breaches, err
}

// skipFolder leaves out what is no part of the module: hidden folders, test
// data and other modules.
func skipFolder(tree fs.FS, name string, entry fs.DirEntry) error {
	if name == "." {
		return nil
	}
	base := entry.Name()
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func layerBreaches(name string, file *ast.File) []string {
	dir := path.Dir(name)
	var breaches []string
	for _, imported := range imports(file) {
		if own, inside := strings.CutPrefix(imported, module+"/"); inside && within(own, "cmd") && !within(dir, "cmd") {
			breaches = append(breaches, fmt.Sprintf("%s imports %s: nobody imports cmd", name, imported))
			continue
		}
		rule, governed := layerOf(dir)
		if governed && !rule.allows(dir, imported) {
			breaches = append(breaches, fmt.Sprintf("%s imports %s: %s may not", name, imported, rule.dir))
		}
	}
	return breaches
}

func layerOf(dir string) (layer, bool) {
	for _, rule := range layers() {
		if within(dir, rule.dir) {
			return rule, true
		}
	}
	return layer{}, false
}

func (l layer) allows(dir, imported string) bool {
	own, inside := strings.CutPrefix(imported, module+"/")
	switch {
	case inside && withinAny(own, l.own):
		return true
	case inside && l.closed:
		// dir is the folder of one reconciler or lies below it; its own
		// subpackages are its own business.
		return within(own, l.member(dir))
	case inside:
		return within(own, l.dir)
	case standard(imported):
		return true
	default:
		return withinAny(imported, l.foreign)
	}
}

// member is the folder within a closed layer that dir belongs to.
func (l layer) member(dir string) string {
	below := strings.TrimPrefix(strings.TrimPrefix(dir, l.dir), "/")
	first, _, _ := strings.Cut(below, "/")
	return path.Join(l.dir, first)
}

// standard reports whether an import path is one of the standard library: the
// first element of any other has a dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func pureBreaches(name string, file *ast.File) []string {
	if !pure(name) {
		return nil
	}
	var breaches []string
	for _, imported := range imports(file) {
		if withinAny(imported, impureImports) && !withinAny(imported, pureImports) {
			breaches = append(breaches, fmt.Sprintf("%s imports %s: a pure file may not", name, imported))
		}
	}
	clock := localName(file, "time")
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == clock && clockReads[selector.Sel.Name] {
			breaches = append(breaches, fmt.Sprintf("%s uses time.%s: a pure file may not read the clock", name, selector.Sel.Name))
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "metav1" && selector.Sel.Name == "Now" {
			breaches = append(breaches, fmt.Sprintf("%s uses metav1.Now: a pure file may not read the clock", name))
		}
		return true
	})
	return breaches
}

func pure(name string) bool {
	dir := path.Dir(name)
	if withinAny(dir, purePackages) {
		return true
	}
	return withinAny(dir, []string{"reconcilers", "examples"}) && pureFiles[path.Base(name)]
}

func imports(file *ast.File) []string {
	paths := make([]string, 0, len(file.Imports))
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, imported)
		}
	}
	return paths
}

// localName is the name under which a file knows a package of the standard
// library, or "" if it does not import it.
func localName(file *ast.File, pkg string) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != strconv.Quote(pkg) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}
