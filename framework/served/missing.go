package served

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// tooMuch is how many steps a walk may take: many times what the largest kinds
// need.
const tooMuch = 100_000

var (
	errAbsent  = errors.New("the document does not have the kind")
	errTooMuch = errors.New("the document refers to itself without end")
)

// Missing returns, sorted, the JSON path of each field that a Go type has and
// that the API server drops: ".status.extra", ".spec.items[].name", or
// ".spec.labels[*]" where it drops what a map holds. What is below a missing
// path is not listed. document is what the server answers, in JSON, to
// GET /openapi/v3/apis/GROUP/VERSION.
func Missing(document []byte, kind schema.GroupVersionKind, goType reflect.Type) ([]string, error) {
	var d struct {
		Components struct {
			Schemas map[string]node `json:"schemas"`
		} `json:"components"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &d); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	w := walk{schemas: d.Components.Schemas, open: map[place]bool{}}
	root := w.root(kind)
	if root == nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, errAbsent)
	}
	w.value("", root, goType)
	if w.steps > tooMuch {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, errTooMuch)
	}
	slices.Sort(w.missing)
	return slices.Compact(w.missing), nil
}

// node is an object of the document.
type node = map[string]any

// walk goes through a Go type and its schema at once.
type walk struct {
	schemas map[string]node
	missing []string
	// open are the places on the way here; none is entered again.
	open  map[place]bool
	steps int
}

// place is a Go type at a schema, which is told by its address.
type place struct {
	schema uintptr
	goType reflect.Type
}

// root finds the schema of a kind.
func (w *walk) root(kind schema.GroupVersionKind) any {
	want := node{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
	for _, name := range slices.Sorted(maps.Keys(w.schemas)) {
		kinds, _ := w.schemas[name]["x-kubernetes-group-version-kind"].([]any)
		if slices.ContainsFunc(kinds, func(served any) bool { return reflect.DeepEqual(served, want) }) {
			return w.schemas[name]
		}
	}
	return nil
}

// value looks at a Go type. A schema that is none keeps everything.
func (w *walk) value(path string, schema any, t reflect.Type) {
	n, _ := schema.(node)
	here := place{reflect.ValueOf(n).Pointer(), t}
	if n == nil || w.open[here] || marshalsItself(t) {
		return
	}
	w.open[here] = true
	defer delete(w.open, here)
	switch t.Kind() {
	case reflect.Pointer:
		w.value(path, n, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			w.field(path, n, t.Field(i))
		}
	case reflect.Map:
		w.member(path+"[*]", n, "", t.Elem())
	case reflect.Slice, reflect.Array:
		elements, _ := w.find(n, items)
		w.value(path+"[]", elements, t.Elem())
	default:
	}
}

func (w *walk) field(path string, n node, f reflect.StructField) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "-":
	case name == "" && f.Anonymous:
		w.value(path, n, f.Type)
	case !f.IsExported():
	case path == "" && name == "metadata":
		// Every kind has it, and none can narrow it.
	case name == "":
		w.member(path+"."+f.Name, n, f.Name, f.Type)
	default:
		w.member(path+"."+name, n, name, f.Type)
	}
}

// member goes on to a member of an object, or notes that it is not kept.
func (w *walk) member(path string, n node, name string, t reflect.Type) {
	schema, kept := w.find(n, named(name))
	if !kept {
		w.missing = append(w.missing, path)
		return
	}
	w.value(path, schema, t)
}

// find looks a part up in a schema and in those that it refers to.
func (w *walk) find(schema any, lookup lookup) (any, bool) {
	n, _ := schema.(node)
	if w.steps++; n == nil || w.steps > tooMuch {
		return nil, true
	}
	if found, kept := lookup(n); kept {
		return found, true
	}
	others, _ := n["allOf"].([]any)
	if ref, refers := n["$ref"].(string); refers {
		others = append([]any{w.schemas[strings.TrimPrefix(ref, "#/components/schemas/")]}, others...)
	}
	for _, other := range others {
		if found, kept := w.find(other, lookup); kept {
			return found, true
		}
	}
	return nil, n["x-kubernetes-preserve-unknown-fields"] == true
}

// lookup is what one schema says of a part: its schema, and whether it is kept.
type lookup func(node) (any, bool)

func items(n node) (any, bool) {
	elements, kept := n["items"]
	return elements, kept
}

// named looks up a member; no name stands for any that a map may have.
func named(name string) lookup {
	return func(n node) (any, bool) {
		properties, _ := n["properties"].(node)
		if member, known := properties[name]; known {
			return member, true
		}
		values, more := n["additionalProperties"]
		if values == true {
			// The server keeps every member but, of an object, none of its own.
			values = node{}
		}
		return values, more && values != false
	}
}

// marshalsItself reports whether a type decides what its JSON looks like.
func marshalsItself(t reflect.Type) bool {
	own := reflect.PointerTo(t)
	return own.Implements(reflect.TypeFor[json.Marshaler]()) || own.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
