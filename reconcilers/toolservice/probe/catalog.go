package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// maxName is the longest name of a tool that a status can hold, in bytes.
const maxName = 253

// page is a result of tools/list. The SDK has a type for it, which does not
// tell an unset hint from false and does not keep a schema as it was sent.
type page struct {
	Tools      []wireTool `json:"tools"`
	NextCursor string     `json:"nextCursor"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnlyHint    *bool `json:"readOnlyHint"`
		DestructiveHint *bool `json:"destructiveHint"`
		IdempotentHint  *bool `json:"idempotentHint"`
		OpenWorldHint   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

// decodePage reads a page. Names of fields count in their exact spelling, as
// for those who will call the tools.
func decodePage(raw json.RawMessage) (page, error) {
	var p page
	if err := decode(raw, &p); err != nil {
		return page{}, err
	}
	return p, nil
}

// decode reads a JSON object into a struct.
func decode(raw json.RawMessage, into any) error {
	if !object(raw) {
		return fmt.Errorf("decoding a result: no object")
	}
	return utiljson.Unmarshal(raw, into)
}

func object(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// catalog gathers the tools of all pages.
type catalog struct {
	tools     []Tool
	truncated bool
	names     map[string]bool
}

// add takes the tools of a page, and reports whether there is room for more.
// Of two tools of one name the first counts, as it does for a client that
// looks one up. A tool without a name that fits cannot be listed or called.
func (c *catalog) add(p page) bool {
	if c.names == nil {
		c.names = map[string]bool{}
	}
	for _, sent := range p.Tools {
		switch {
		case sent.Name == "" || len(sent.Name) > maxName:
			c.truncated = true
			continue
		case c.names[sent.Name]:
			continue
		case len(c.tools) == MaxTools:
			c.truncated = true
			return false
		}
		c.names[sent.Name] = true
		c.tools = append(c.tools, sent.tool())
	}
	return true
}

func (w wireTool) tool() Tool {
	tool := Tool{
		Name:            w.Name,
		Description:     valid(w.Description),
		ReadOnlyHint:    w.Annotations.ReadOnlyHint,
		DestructiveHint: w.Annotations.DestructiveHint,
		IdempotentHint:  w.Annotations.IdempotentHint,
		OpenWorldHint:   w.Annotations.OpenWorldHint,
	}
	if object(w.InputSchema) {
		// A copy: the slice shares its memory with all of the response.
		tool.InputSchema = bytes.ToValidUTF8(bytes.Clone(w.InputSchema), []byte(string(utf8.RuneError)))
	}
	return tool
}

func valid(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }
