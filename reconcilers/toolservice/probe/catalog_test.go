package probe

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzDecodePage(f *testing.F) {
	for _, raw := range []string{
		`{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}],"nextCursor":"x"}`,
		`{}`, `[]`, `null`, `{"tools":[1]}`, `{"tools":[{"name":"\ud800"}]}`, "{\"tools\":[{\"name\":\"\xff\"}]}",
		`{"tools":[{"name":"a","inputSchema":[[[[{}]]]]}]}`, ` {"tools":[{"name":"a","inputSchema": {"a":1}}]}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodePage(raw)
		if err != nil {
			return
		}
		var list catalog
		list.add(got)
		if len(list.tools) > len(got.Tools) || len(list.tools) > MaxTools {
			t.Errorf("%d tools of %d", len(list.tools), len(got.Tools))
		}
		seen := map[string]bool{}
		for _, tool := range list.tools {
			if seen[tool.Name] || tool.Name == "" || !utf8.ValidString(tool.Name) || !utf8.ValidString(tool.Description) {
				t.Errorf("tool %q, description %q", tool.Name, tool.Description)
			}
			seen[tool.Name] = true
			if tool.InputSchema != nil && (!utf8.Valid(tool.InputSchema) || json.Unmarshal(tool.InputSchema, &map[string]any{}) != nil) {
				t.Errorf("tool %q has the schema %q", tool.Name, tool.InputSchema)
			}
		}
	})
}
