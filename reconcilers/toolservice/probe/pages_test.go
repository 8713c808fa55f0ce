package probe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// pages is a server whose pages a function makes, and the cursors it was asked
// for.
func pages(page func(n int, cursor string) string) (http.HandlerFunc, *[]string) {
	var asked []string
	return hostile(func(w http.ResponseWriter, _ *http.Request, m message) {
		asked = append(asked, m.Params.Cursor)
		answer(w, m, page(len(asked), m.Params.Cursor))
	}), &asked
}

func TestPaginationThatHasNoEnd(t *testing.T) {
	cases := []struct {
		name string
		page func(n int, cursor string) string
		want int
	}{
		{"a cursor that never advances", func(n int, _ string) string { return tools("same", tool(fmt.Sprint(n))) }, 2},
		{"a cursor that never advances, without tools", func(int, string) string { return tools("same") }, 2},
		{"two cursors in turn", func(n int, _ string) string { return tools([]string{"a", "b"}[n%2]) }, 3},
		{"a loop that begins late", func(n int, _ string) string { return tools(fmt.Sprint(min(n, 20))) }, 21},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			handler, asked := pages(tc.page)
			got := probeOf(t, handler)
			if got.Reason != polychromev1alpha1.ReasonPaginationLoop || len(*asked) != tc.want || got.Tools != nil {
				t.Errorf("reason %s after %d pages, want %d: %s", got.Reason, len(*asked), tc.want, got.Message)
			}
		})
	}
}

func TestPagesPastTheLimitAreNotRead(t *testing.T) {
	handler, asked := pages(func(n int, _ string) string {
		if n == 10_000 {
			return tools("")
		}
		return tools(fmt.Sprint(n), tool(fmt.Sprint(n)))
	})
	got := probeOf(t, handler)
	if !got.OK() || !got.Truncated || len(got.Tools) != MaxPages || len(*asked) != MaxPages {
		t.Errorf("reason %s, truncated %t, %d tools of %d pages", got.Reason, got.Truncated, len(got.Tools), len(*asked))
	}
}

func TestTheLastPageOfTheLimitIsWhole(t *testing.T) {
	handler, _ := pages(func(n int, _ string) string {
		if n == MaxPages {
			return tools("", tool("last"))
		}
		return tools(fmt.Sprint(n))
	})
	if got := probeOf(t, handler); !got.OK() || got.Truncated || len(got.Tools) != 1 {
		t.Errorf("reason %s, truncated %t, %d tools", got.Reason, got.Truncated, len(got.Tools))
	}
}

func TestAnEmptyCursorIsTheEnd(t *testing.T) {
	for _, end := range []string{`{"tools":[],"nextCursor":""}`, `{"tools":[],"nextCursor":null}`, `{"tools":[]}`, `{"tools":null}`, `{}`} {
		handler, asked := pages(func(int, string) string { return end })
		if got := probeOf(t, handler); !got.OK() || len(*asked) != 1 {
			t.Errorf("%s: reason %s after %d pages", end, got.Reason, len(*asked))
		}
	}
}

func TestThreeThousandToolsWithLargeSchemas(t *testing.T) {
	large := func(i int) string {
		return fmt.Sprintf(`{"name":"tool-%04d","inputSchema":{"type":"object","title":%q}}`, i, strings.Repeat("x", 2<<10))
	}
	handler, asked := pages(func(n int, _ string) string {
		var list []string
		for i := range 300 {
			list = append(list, large((n-1)*300+i))
		}
		if n == 10 {
			return tools("", list...)
		}
		return tools(fmt.Sprint(n), list...)
	})
	got := probeOf(t, handler)
	if !got.OK() || !got.Truncated || len(got.Tools) != MaxTools || len(*asked) != 7 {
		t.Errorf("reason %s, truncated %t, %d tools of %d pages", got.Reason, got.Truncated, len(got.Tools), len(*asked))
	}
}

func TestExactlyAsManyToolsAsAreTaken(t *testing.T) {
	list := make([]string, MaxTools)
	for i := range list {
		list[i] = tool(fmt.Sprint(i))
	}
	for _, tc := range []struct {
		list []string
		want bool
	}{{list, false}, {append(slices.Clone(list), list[0]), false}, {append(slices.Clone(list), tool("more")), true}} {
		handler, _ := pages(func(int, string) string { return tools("", tc.list...) })
		if got := probeOf(t, handler); len(got.Tools) != MaxTools || got.Truncated != tc.want {
			t.Errorf("%d tools sent: truncated %t, %d tools, want truncated %t", len(tc.list), got.Truncated, len(got.Tools), tc.want)
		}
	}
}

func TestALargeSchemaIsKept(t *testing.T) {
	schema := fmt.Sprintf(`{"title":%q}`, strings.Repeat("x", 2<<20))
	handler, _ := pages(func(int, string) string { return tools("", `{"name":"large","inputSchema":`+schema+`}`) })
	if got := probeOf(t, handler); len(got.Tools) != 1 || string(got.Tools[0].InputSchema) != schema {
		t.Errorf("reason %s, %d tools", got.Reason, len(got.Tools))
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 10<<10)
	cases := []struct {
		name      string
		sent      []string
		want      []string
		truncated bool
	}{
		{"of two tools of one name the first counts", []string{`{"name":"a","description":"1"}`, `{"name":"a","description":"2"}`, `{"name":"b"}`}, []string{"a", "b"}, false},
		{"a name of 10 KiB is left out", []string{tool(long), tool("b")}, []string{"b"}, true},
		{"the longest name", []string{tool(long[:253]), tool(long[:254])}, []string{long[:253]}, true},
		{"no name", []string{`{}`, `{"name":""}`, `{"name":null}`, tool("b")}, []string{"b"}, true},
		{"names are not folded", []string{tool("a"), tool("A")}, []string{"a", "A"}, false},
		{"bytes that are no UTF-8", []string{"{\"name\":\"a\xff\"}"}, []string{"a\uFFFD"}, false},
		{"bytes that are no UTF-8 and would be one name", []string{"{\"name\":\"a\xff\"}", "{\"name\":\"a\xfe\"}"}, []string{"a\uFFFD"}, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			handler, _ := pages(func(int, string) string { return tools("", tc.sent...) })
			got := probeOf(t, handler)
			if !slices.Equal(toolNames(got.Tools), tc.want) || got.Truncated != tc.truncated {
				t.Errorf("tools %q, truncated %t: %s %s", toolNames(got.Tools), got.Truncated, got.Reason, got.Message)
			}
		})
	}
}

func TestListsThatAreNoLists(t *testing.T) {
	for _, list := range []string{
		`[]`, `null`, `"x"`, `1`, `{"tools":{}}`, `{"tools":"x"}`, `{"tools":[1]}`, `{"tools":["x"]}`, `{"tools":[[]]}`,
		`{"tools":[{"name":1}]}`, `{"tools":[{"name":{}}]}`, `{"tools":[{"name":"a","description":1}]}`,
		`{"tools":[{"name":"a","annotations":[]}]}`, `{"tools":[{"name":"a","annotations":{"readOnlyHint":"yes"}}]}`,
		`{"tools":[],"nextCursor":1}`, `{"tools":[],"nextCursor":{}}`,
	} {
		handler, _ := pages(func(int, string) string { return list })
		if got := probeOf(t, handler); got.Reason != polychromev1alpha1.ReasonNotMCP {
			t.Errorf("%s: reason %s: %s", list, got.Reason, got.Message)
		}
	}
}

func TestSchemasMadeToBreakParsers(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`, `{"$ref":"http://169.254.169.254/"}`, `{"type":[null]}`, `{"pattern":"(a+)+$"}`, `{"a":1e999999}`,
		`{"a":-0}`, `{"":{"":{"":{}}}}`, `{"a":1,"a":2}`, `{"__proto__":{}}`, `{"x":"\u0000\ud800"}`,
		strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900),
	} {
		handler, _ := pages(func(int, string) string { return tools("", `{"name":"a","inputSchema":`+schema+`}`) })
		if got := probeOf(t, handler); !got.OK() || string(got.Tools[0].InputSchema) != schema {
			t.Errorf("%.60s: reason %s: %s", schema, got.Reason, got.Message)
		}
	}
}
