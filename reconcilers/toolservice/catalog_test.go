package toolservice

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

func nth(i int) string { return fmt.Sprintf("n%04d", i) }

func many(n int, each func(*probe.Tool)) []probe.Tool {
	var tools []probe.Tool
	for i := range n {
		t := tool(nth(i))
		if each != nil {
			each(&t)
		}
		tools = append(tools, t)
	}
	return tools
}

func schema(text string) func(*probe.Tool) {
	return func(t *probe.Tool) { t.InputSchema = json.RawMessage(text) }
}

func TestACatalogueShowsWhatWasSent(t *testing.T) {
	got := catalogOf([]probe.Tool{
		{Name: "b", Description: "second", InputSchema: json.RawMessage(`{ "type": "object", "a": {"max": 1.0} }`), ReadOnlyHint: new(true)},
		{Name: "a", DestructiveHint: new(false), IdempotentHint: new(true), OpenWorldHint: new(false)},
	}, false)
	want := []polychromev1alpha1.Tool{
		{Name: "a", DestructiveHint: new(false), IdempotentHint: new(true), OpenWorldHint: new(false)},
		{Name: "b", Description: "second", InputSchema: &runtime.RawExtension{Raw: []byte(`{"a":{"max":1},"type":"object"}`)}, ReadOnlyHint: new(true)},
	}
	if diff := cmp.Diff(want, got.Listed); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got.Truncated || got.Hash == "" || len(got.Names) != 2 {
		t.Errorf("want two whole tools and a hash, got %+v", got)
	}
}

func TestTheLimitsOfACatalogue(t *testing.T) {
	wide := func(bytes int) func(*probe.Tool) {
		return schema(`{"x":"` + strings.Repeat("x", bytes-len(`{"x":""}`)) + `"}`)
	}
	cases := map[string]struct {
		tools     []probe.Tool
		truncated bool

		wantListed, wantSchemas int
		wantTruncated           bool
	}{
		"nothing":                          {},
		"as many as are listed":            {tools: many(256, nil), wantListed: 256, wantSchemas: 256},
		"one more":                         {tools: many(257, nil), wantListed: 256, wantSchemas: 256, wantTruncated: true},
		"more than the probe read":         {tools: many(3, nil), truncated: true, wantListed: 3, wantSchemas: 3, wantTruncated: true},
		"a description that is just short": {tools: many(1, func(t *probe.Tool) { t.Description = strings.Repeat("x", 512) }), wantListed: 1, wantSchemas: 1},
		"a description that is too long":   {tools: many(1, func(t *probe.Tool) { t.Description = strings.Repeat("ö", 257) }), wantListed: 1, wantSchemas: 1, wantTruncated: true},
		"a schema that is just small":      {tools: many(1, wide(4096)), wantListed: 1, wantSchemas: 1},
		"letters that some JSON escapes": {
			tools: many(1, schema(`{"x":"`+strings.Repeat("<", 4000)+`"}`)), wantListed: 1, wantSchemas: 1,
		},
		"a schema that is too large":         {tools: many(1, wide(4097)), wantListed: 1, wantTruncated: true},
		"as much of schemas as there may be": {tools: many(48, wide(4096)), wantListed: 48, wantSchemas: 48},
		"one more schema":                    {tools: many(49, wide(4096)), wantListed: 49, wantSchemas: 48, wantTruncated: true},
		"a small one after it":               {tools: append(many(49, wide(4000)), tool("z")), wantListed: 50, wantSchemas: 50},
		"no schema":                          {tools: many(1, schema("")), wantListed: 1},
		"null for a schema":                  {tools: many(1, schema("null")), wantListed: 1},
		"a schema that is no object":         {tools: many(1, schema("true")), wantListed: 1, wantTruncated: true},
		"a number that nobody can hold":      {tools: many(1, schema(`{"x":1e999}`)), wantListed: 1, wantTruncated: true},
		"broken JSON":                        {tools: many(1, schema(`{"x":`)), wantListed: 1, wantTruncated: true},
		"a name that is too long":            {tools: []probe.Tool{tool(strings.Repeat("n", 254))}, wantTruncated: true},
		"no name":                            {tools: []probe.Tool{tool("")}, wantTruncated: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := catalogOf(test.tools, test.truncated)
			schemas, bytes := 0, 0
			for _, tool := range got.Listed {
				if !utf8.ValidString(tool.Description) || len(tool.Description) > 512 {
					t.Errorf("%s: the description has %d bytes", tool.Name, len(tool.Description))
				}
				if tool.InputSchema != nil {
					schemas++
					bytes += len(tool.InputSchema.Raw)
				}
			}
			if len(got.Listed) != test.wantListed || schemas != test.wantSchemas || got.Truncated != test.wantTruncated || bytes > 192<<10 {
				t.Errorf("want %d listed, %d schemas, truncated %t; got %d, %d of %d bytes, %t",
					test.wantListed, test.wantSchemas, test.wantTruncated, len(got.Listed), schemas, bytes, got.Truncated)
			}
			if len(got.Names) != len(test.tools) {
				t.Errorf("want all %d counted, got %d", len(test.tools), len(got.Names))
			}
		})
	}
}

func TestTheOrderOfAServerMeansNothing(t *testing.T) {
	tools := many(300, nil)
	want := catalogOf(tools, false)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		first := tools[0].Name
		if diff := cmp.Diff(want, catalogOf(tools, false)); diff != "" {
			t.Fatalf("catalogue (-want +got):\n%s", diff)
		}
		if tools[0].Name != first {
			t.Fatal("the list that was given is sorted")
		}
	}
	one := catalogOf(many(1, schema(`{"a":1,"b":{"c":2,"d":[1,2]}}`)), false)
	two := catalogOf(many(1, schema(` {"b": {"d":[1,2],"c":2.0},"a":1}`)), false)
	if one.Hash != two.Hash {
		t.Error("the order of members makes another hash")
	}
}

func TestEveryChangeMakesAnotherHash(t *testing.T) {
	hash := func(change func(*probe.Tool)) string { return catalogOf(many(1, change), false).Hash }
	changes := map[string]func(*probe.Tool){
		"nothing":                     nil,
		"name":                        func(t *probe.Tool) { t.Name = "other" },
		"description":                 func(t *probe.Tool) { t.Description = "other" },
		"description beyond the cut":  func(t *probe.Tool) { t.Description = strings.Repeat("x", 600) + "1" },
		"description beyond the cut.": func(t *probe.Tool) { t.Description = strings.Repeat("x", 600) + "2" },
		"schema":                      schema(`{"type":"object","x":1}`),
		"a schema too large":          schema(`{"x":"` + strings.Repeat("x", 5000) + `1"}`),
		"a schema too large.":         schema(`{"x":"` + strings.Repeat("x", 5000) + `2"}`),
		"read-only":                   func(t *probe.Tool) { t.ReadOnlyHint = new(true) },
		"not read-only":               func(t *probe.Tool) { t.ReadOnlyHint = new(false) },
		"destructive":                 func(t *probe.Tool) { t.DestructiveHint = new(true) },
		"destructive or not":          func(t *probe.Tool) { t.DestructiveHint = nil },
		"idempotent":                  func(t *probe.Tool) { t.IdempotentHint = new(true) },
		"open world":                  func(t *probe.Tool) { t.OpenWorldHint = new(true) },
	}
	seen := map[string]string{}
	for name, change := range changes {
		h := hash(change)
		if other, known := seen[h]; known {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	if hash(nil) == catalogOf(many(2, nil), false).Hash {
		t.Error("two tools have the hash of one")
	}
}

func TestSameToolsForgivesWhatTheServerRespells(t *testing.T) {
	of := func(raw string) []polychromev1alpha1.Tool {
		return []polychromev1alpha1.Tool{{Name: "a", InputSchema: &runtime.RawExtension{Raw: []byte(raw)}}}
	}
	if !sameTools(of(`{"a":"<","b":1.0}`), of(`{"b":1,"a":"\u003c"}`)) {
		t.Error("the same schema, spelt in another way, is another")
	}
	if !sameTools(of(`{"a":{"default":null},"b":[{"c":null}]}`), of(`{"a":{},"b":[{}]}`)) {
		t.Error("a member that a patch drops makes another schema")
	}
	if sameTools(of(`{"b":[null]}`), of(`{"b":[]}`)) {
		t.Error("an element that is null is dropped too")
	}
	if sameTools(of(`{"a":1}`), of(`{"a":2}`)) {
		t.Error("another schema is the same")
	}
	if sameTools(of(`{"a":1}`), []polychromev1alpha1.Tool{{Name: "a"}}) {
		t.Error("no schema is the same as one")
	}
}
