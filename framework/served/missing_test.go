package served_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"polychrome.dev/controller/framework/served"
)

var thing = schema.GroupVersionKind{Group: "example.test", Version: "v1", Kind: "Thing"}

// document has a schema for things, beside others by name.
func document(things string, others ...string) []byte {
	all := append([]string{`"b.Thing": {` + things + `, "x-kubernetes-group-version-kind": [
		{"group": "", "version": "v1", "kind": "Thing"}, {"group": "example.test", "version": "v1", "kind": "Thing"}]}`}, others...)
	return []byte(`{"openapi": "3.0.0", "components": {"schemas": {"a.List": {"type": "object"}, ` + strings.Join(all, ",") + `}}}`)
}

type leaf struct {
	Name string `json:"name"`
	New  int    `json:"new"`
}

type inline struct {
	Inlined string `json:"inlined"`
	New     string `json:"new,omitempty"`
}

type Tree struct {
	Name     string           `json:"name"`
	Children []Tree           `json:"children,omitempty"`
	ByName   map[string]*Tree `json:"byName,omitempty"`
	*Tree    `json:",inline"`
}

func TestMissingFields(t *testing.T) {
	const named = `{"type": "object", "properties": {"name": {"type": "string"}}}`
	cases := map[string]struct {
		goType reflect.Type
		things string
		others []string
		want   []string
	}{
		"nothing is missing": {goType: reflect.TypeFor[leaf](), things: `"properties": {"name": {}, "new": {}, "other": {}}`},
		"a field":            {goType: reflect.TypeFor[leaf](), things: `"properties": {"name": {}}`, want: []string{".new"}},
		"all, in order":      {goType: reflect.TypeFor[*leaf](), things: `"type": "object"`, want: []string{".name", ".new"}},
		"metadata belongs to the server, but only its own": {
			goType: reflect.TypeFor[struct {
				metav1.TypeMeta   `json:",inline"`
				metav1.ObjectMeta `json:"metadata,omitzero"`
				Spec              struct {
					Metadata leaf `json:"metadata"`
				} `json:"spec"`
			}](),
			things: `"properties": {"apiVersion": {}, "kind": {}, "spec": {"properties": {}}}`, want: []string{".spec.metadata"}},
		"what is below a missing field is not listed": {
			goType: reflect.TypeFor[struct{ Leaf leaf }](), things: `"properties": {}`, want: []string{".Leaf"}},
		"fields below lists, arrays, maps and pointers": {
			goType: reflect.TypeFor[struct {
				List  []*leaf         `json:"list"`
				Pair  [2]leaf         `json:"pair"`
				Map   map[string]leaf `json:"map"`
				Deep  [][]leaf        `json:"deep"`
				Bytes []byte          `json:"bytes"`
			}](),
			things: `"properties": {"list": {"items": ` + named + `}, "pair": {"items": ` + named + `},
				"map": {"additionalProperties": ` + named + `}, "deep": {"items": {"items": ` + named + `}}, "bytes": {"type": "string"}}`,
			want: []string{".deep[][].new", ".list[].new", ".map[*].new", ".pair[].new"}},
		"a map whose values the server drops": {
			goType: reflect.TypeFor[map[string]map[string]string](),
			things: `"additionalProperties": {"additionalProperties": false}`, want: []string{"[*][*]"}},
		"any member is kept, but nothing in it": {
			goType: reflect.TypeFor[struct {
				Texts map[string]string `json:"texts"`
				Map   map[string]leaf   `json:"map"`
			}](),
			things: `"properties": {"texts": {"additionalProperties": true}, "map": {"additionalProperties": true}}`,
			want:   []string{".map[*].name", ".map[*].new"}},
		"unknown members are preserved, known ones are looked into": {
			goType: reflect.TypeFor[struct {
				Leaf leaf           `json:"leaf"`
				More map[string]any `json:"more"`
				Free leaf           `json:"free"`
			}](),
			things: `"x-kubernetes-preserve-unknown-fields": true, "properties": {"leaf": ` + named + `}`, want: []string{".leaf.new"}},
		"references and parts": {
			goType: reflect.TypeFor[struct {
				One leaf `json:"one"`
				Two leaf `json:"two"`
			}](),
			things: `"properties": {"one": {"$ref": "#/components/schemas/c.Leaf"},
				"two": {"default": {}, "allOf": [{"properties": {"new": {}}}, {"$ref": "#/components/schemas/c.Leaf"}]}}`,
			others: []string{`"c.Leaf": ` + named}, want: []string{".one.new"}},
		"a reference that leads nowhere says nothing": {
			goType: reflect.TypeFor[struct{ Leaf leaf }](), things: `"properties": {"Leaf": {"$ref": "#/components/schemas/c.Leaf"}}`},
		"types that marshal themselves": {
			goType: reflect.TypeFor[struct {
				Time    *metav1.Time          `json:"time"`
				Size    resource.Quantity     `json:"size"`
				Port    intstr.IntOrString    `json:"port"`
				Raw     *runtime.RawExtension `json:"raw"`
				Message json.RawMessage       `json:"message"`
				Any     any                   `json:"any"`
			}](),
			things: `"properties": {"time": {}, "size": {}, "port": {}, "raw": {}, "message": {}, "any": {}}`},
		"inlined, hidden and untagged fields": {
			goType: reflect.TypeFor[struct {
				inline          `json:",inline"`
				metav1.TypeMeta `json:"leaf"`
				*Tree           `json:",omitempty"`
				New             bool   `json:"new"`
				Hidden          string `json:"-"`
				Untagged        string `json:",omitempty"`
				own             string
			}](),
			things: `"properties": {"inlined": {}, "leaf": ` + named + `, "name": {}, "byName": {}}`,
			want:   []string{".Untagged", ".byName[*]", ".children", ".leaf.apiVersion", ".leaf.kind", ".new"}},
		"a type that has itself, in a schema that ends": {
			goType: reflect.TypeFor[Tree](),
			things: `"properties": {"name": {}, "byName": {"x-kubernetes-preserve-unknown-fields": true}, "children": {"items": ` + named + `}}`,
			want:   []string{".children[].byName", ".children[].children"}},
		"a type and a schema that have themselves": {
			goType: reflect.TypeFor[Tree](),
			things: `"properties": {"name": {}, "children": {"items": {"$ref": "#/components/schemas/b.Thing"}},
				"byName": {"additionalProperties": {"allOf": [{"$ref": "#/components/schemas/b.Thing"}], "properties": {}}}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := served.Missing(document(c.things, c.others...), thing, c.goType)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("missing fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNoSchemaOfTheKindIsAnError(t *testing.T) {
	// Each schema has two members of the next: twice the paths at each step.
	doubling := make([]string, 0, 40)
	for i := range cap(doubling) {
		doubling = append(doubling, fmt.Sprintf(
			`"d%d": {"properties": {"children": {"items": {"$ref": "#/components/schemas/d%d"}}, "byName": {"additionalProperties": {"$ref": "#/components/schemas/d%d"}}}}`,
			i, i+1, i+1))
	}
	cases := map[string]struct {
		document []byte
		want     string
	}{
		"no JSON":               {[]byte("no"), "invalid character"},
		"another document":      {[]byte(`{"paths": {}}`), "does not have the kind"},
		"another version":       {[]byte(strings.ReplaceAll(string(document(`"type": "object"`)), `"v1"`, `"v2"`)), "does not have the kind"},
		"schemas of no kind":    {[]byte(`{"components": {"schemas": {"a": null, "b": {"x-kubernetes-group-version-kind": {"kind": "Thing"}}}}}`), "does not have the kind"},
		"a schema that is none": {[]byte(`{"components": {"schemas": {"a": []}}}`), "cannot unmarshal"},
		"a reference to itself": {document(`"$ref": "#/components/schemas/b.Thing"`), "without end"},
		"more and more":         {document(`"$ref": "#/components/schemas/d0"`, doubling...), "without end"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := served.Missing(c.document, thing, reflect.TypeFor[Tree]())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "reading the schema of example.test/v1, Kind=Thing: ") {
				t.Errorf("want an error with %q, got %v", c.want, err)
			}
			if got != nil {
				t.Errorf("want no fields, got %v", got)
			}
		})
	}
}

// everything has each kind of Go type that the walk tells apart.
type everything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Tree              `json:",inline"`

	Leaf  leaf              `json:"leaf"`
	Map   map[string][]leaf `json:"map"`
	When  metav1.Time       `json:"when"`
	Other any               `json:"other"`
}

func FuzzHostileDocument(f *testing.F) {
	for _, part := range []string{
		`"properties": {"leaf": {"properties": null}, "map": {"additionalProperties": {"items": []}}, "children": 7}`,
		`"$ref": "#/components/schemas/b.Thing", "allOf": [null, {}, 1, {"$ref": 5}, {"$ref": ""}]`,
		`"properties": [], "additionalProperties": "yes", "items": {"items": {}}, "allOf": {}`,
		`"properties": {"children": {"items": {"$ref": "#/components/schemas/b.Thing"}}, "byName": {"additionalProperties": {"allOf": [{"$ref": "#/components/schemas/b.Thing"}]}}}`,
		`"x-kubernetes-preserve-unknown-fields": "true", "properties": {"": {}}`,
	} {
		f.Add(document(part))
	}
	f.Add([]byte(`{"components": {"schemas": {"": {"x-kubernetes-group-version-kind": [null, [], {}]}}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		got, err := served.Missing(document, thing, reflect.TypeFor[*everything]())
		if err != nil && got != nil || !slices.IsSorted(got) {
			t.Errorf("want sorted fields or an error, got %v and %v", got, err)
		}
	})
}
