package toolservice

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/util/json"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// What a status holds of a catalogue at most. The schema of the API allows a
// little more of each.
const (
	maxListed      = 256
	maxName        = 253
	maxDescription = 512
	maxSchema      = 4 << 10
	maxSchemas     = 192 << 10
)

// Catalog is a list of tools as it is shown, and what tells it from others.
type Catalog struct {
	// Hash is of all there is, also of what is not listed.
	Hash string
	// Names are those of all tools, sorted.
	Names []string
	// Listed are the tools that are shown, sorted by name.
	Listed []polychromev1alpha1.Tool
	// Truncated says that something is not shown.
	Truncated bool
}

// catalogOf sorts the tools and cuts them to size. The order in which a
// server sends them, and the members of their schemas, means nothing.
func catalogOf(tools []probe.Tool, truncated bool) Catalog {
	tools = slices.Clone(tools)
	slices.SortFunc(tools, func(a, b probe.Tool) int { return cmp.Compare(a.Name, b.Name) })
	c := Catalog{Truncated: truncated}
	hash := sha256.New()
	all, schemas := json.NewEncoder(hash), 0
	for _, t := range tools {
		schema, usable := normal(t.InputSchema)
		// Strings and numbers alone: it cannot fail.
		_ = all.Encode([]any{
			t.Name, t.Description, string(schema), t.ReadOnlyHint, t.DestructiveHint, t.IdempotentHint, t.OpenWorldHint,
		})
		c.Names = append(c.Names, t.Name)
		if t.Name == "" || len(t.Name) > maxName || len(c.Listed) == maxListed {
			c.Truncated = true
			continue
		}
		if len(schema) > maxSchema || schemas+len(schema) > maxSchemas {
			schema, usable = nil, false
		}
		schemas += len(schema)
		listed := polychromev1alpha1.Tool{
			Name: t.Name, Description: conditions.Truncate(t.Description, maxDescription),
			ReadOnlyHint: t.ReadOnlyHint, DestructiveHint: t.DestructiveHint,
			IdempotentHint: t.IdempotentHint, OpenWorldHint: t.OpenWorldHint,
		}
		if len(schema) > 0 {
			listed.InputSchema = &runtime.RawExtension{Raw: schema}
		}
		c.Truncated = c.Truncated || !usable || len(t.Description) > maxDescription
		c.Listed = append(c.Listed, listed)
	}
	c.Hash = hex.EncodeToString(hash.Sum(nil)[:16])
	return c
}

// normal writes a schema as the API server would: members sorted, without
// spaces, numbers as Kubernetes reads them. One that is no JSON object is not
// usable; one that is not there is, and empty.
func normal(schema []byte) (written []byte, usable bool) {
	if len(schema) == 0 || string(schema) == "null" {
		return nil, true
	}
	var members map[string]any
	if err := kjson.Unmarshal(schema, &members); err != nil || members == nil {
		return nil, false
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, false
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
}

// sameTools reports whether two lists show the same, however the API server
// has spelt the schemas.
func sameTools(a, b []polychromev1alpha1.Tool) bool {
	return slices.EqualFunc(a, b, sameTool)
}

func sameTool(a, b polychromev1alpha1.Tool) bool {
	return a.Name == b.Name && sameButSchema(a, b) && sameSchema(a.InputSchema, b.InputSchema)
}

func sameButSchema(a, b polychromev1alpha1.Tool) bool {
	return a.Description == b.Description && same(a.ReadOnlyHint, b.ReadOnlyHint) && same(a.DestructiveHint, b.DestructiveHint) &&
		same(a.IdempotentHint, b.IdempotentHint) && same(a.OpenWorldHint, b.OpenWorldHint)
}

// sameSchema leaves out members that are null: a merge patch drops them.
func sameSchema(a, b *runtime.RawExtension) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case bytes.Equal(a.Raw, b.Raw):
		return true
	}
	return bytes.Equal(withoutNulls(a.Raw), withoutNulls(b.Raw))
}

func withoutNulls(schema []byte) []byte {
	var members map[string]any
	if err := kjson.Unmarshal(schema, &members); err != nil {
		return schema
	}
	dropNulls(members)
	written, err := json.Marshal(members)
	if err != nil {
		return schema
	}
	return written
}

func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if member == nil {
				delete(value, name)
			}
			dropNulls(member)
		}
	case []any:
		for _, element := range value {
			dropNulls(element)
		}
	}
}

func same[V comparable](a, b *V) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}
