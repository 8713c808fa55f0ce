package toolservice

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

func statusWith(truncated bool, tools ...probe.Tool) *polychromev1alpha1.ToolServiceStatus {
	last := listed()
	last.Catalog = catalogOf(tools, truncated)
	var s polychromev1alpha1.ToolServiceStatus
	list(&s, last)
	return &s
}

func with(base probe.Tool, change func(*probe.Tool)) probe.Tool {
	change(&base)
	return base
}

func TestChangesSince(t *testing.T) {
	long := many(300, nil)
	large := schema(`{"x":"` + strings.Repeat("x", 5000) + `"}`)
	cases := map[string]struct {
		before, after []probe.Tool
		want          changes
	}{
		"nothing": {before: two, after: two},
		"a tool came and one went": {
			before: []probe.Tool{tool("a"), tool("b")}, after: []probe.Tool{tool("b"), tool("c")},
			want: changes{added: []string{"c"}, removed: []string{"a"}},
		},
		"a description": {
			before: []probe.Tool{tool("a")}, after: []probe.Tool{with(tool("a"), func(t *probe.Tool) { t.Description = "other" })},
			want: changes{changed: []string{"a"}},
		},
		"a schema": {
			before: []probe.Tool{tool("a")}, after: []probe.Tool{with(tool("a"), schema(`{"type":"array"}`))},
			want: changes{changed: []string{"a"}},
		},
		"a schema that is there no more": {
			before: []probe.Tool{tool("a")}, after: []probe.Tool{with(tool("a"), schema(""))}, want: changes{changed: []string{"a"}},
		},
		"a schema that may only be left out": {before: []probe.Tool{tool("a")}, after: []probe.Tool{with(tool("a"), large)}},
		"a tool pushed off the end of the list": {
			before: long[:256], after: append([]probe.Tool{tool("a")}, long[:256]...), want: changes{added: []string{"a"}},
		},
		"a tool that moved up into the list": {before: long, after: long[1:], want: changes{removed: []string{nth(0)}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := changesSince(statusWith(false, test.before...), catalogOf(test.after, false))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(changes{})); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHintThatTurnedDestructive(t *testing.T) {
	hints := func(readOnly, destructive *bool) probe.Tool {
		return probe.Tool{Name: "a", ReadOnlyHint: readOnly, DestructiveHint: destructive}
	}
	yes, no := new(true), new(false)
	cases := map[string]struct {
		before, after probe.Tool
		want          bool
	}{
		"harmless, now destructive":         {hints(nil, no), hints(nil, yes), true},
		"says nothing, now destructive":     {hints(nil, nil), hints(nil, yes), true},
		"harmless, now says nothing":        {hints(nil, no), hints(nil, nil), true},
		"read-only, now not":                {hints(yes, nil), hints(no, nil), true},
		"read-only, now destructive too":    {hints(yes, no), hints(yes, yes), true},
		"destructive all along":             {hints(nil, yes), hints(nil, yes), false},
		"destructive, now harmless":         {hints(nil, yes), hints(nil, no), false},
		"read-only, now harmless":           {hints(yes, nil), hints(no, no), false},
		"destructive, now says nothing":     {hints(nil, yes), hints(nil, nil), false},
		"says nothing, now read-only":       {hints(nil, nil), hints(yes, nil), false},
		"destructive, and now it says more": {hints(nil, yes), hints(no, yes), false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := changesSince(statusWith(false, test.before), catalogOf([]probe.Tool{test.after}, false))
			if turned := len(got.destructive) > 0; turned != test.want {
				t.Errorf("want %t, got %t", test.want, turned)
			}
			if event := got.event(1, now); event.Warning != test.want {
				t.Errorf("want a Warning %t, got %+v", test.want, event)
			}
		})
	}
}

func TestAnEventIsBounded(t *testing.T) {
	var names []string
	for i := range 2000 {
		names = append(names, nth(i)+strings.Repeat("ö\n", 100))
	}
	event := changes{added: names, removed: names, changed: names, destructive: names}.event(2000, now)
	if len(event.Message) > 1024 || !utf8.ValidString(event.Message) || strings.Contains(event.Message, "\n") {
		t.Errorf("want at most 1024 bytes in a line, got %d: %s", len(event.Message), event.Message)
	}
	few := changes{added: names[:9]}.event(9, now)
	if !strings.Contains(few.Message, "and 1 more") || few.Reason != EventToolsChanged {
		t.Errorf("want the ninth counted, got %+v", few)
	}
	beyond := changes{}.event(300, now)
	if beyond.Message != "at 08:00:00Z, 300 in all: the catalogue has changed in what is not listed" {
		t.Errorf("got %q", beyond.Message)
	}
}
