package drift

import (
	"slices"
	"strconv"
	"strings"
)

// listKey is what tells the elements of a list apart: the values of fields,
// all of which an element must have but the one with a default.
type listKey struct {
	fields   []string
	fallback string
}

// listKeys are tried in this order. The order matters where elements have
// several: a port or a mount also has a name, which is optional or is not
// its own; an owner is its UID, its name may come again.
var listKeys = []listKey{
	{fields: []string{"uid"}},
	{fields: []string{"containerPort", "protocol"}, fallback: "TCP"},
	{fields: []string{"mountPath"}},
	{fields: []string{"devicePath"}},
	{fields: []string{"port", "protocol"}, fallback: "TCP"},
	{fields: []string{"topologyKey", "whenUnsatisfiable"}},
	{fields: []string{"name"}},
	{fields: []string{"type"}},
	{fields: []string{"ip"}},
}

// wholeLists are the built-in lists that apply replaces as one although
// their elements have names.
var wholeLists = []string{"subjects", "httpHeaders", "sysctls"}

// keyOf chooses the key by which a list is compared: the first that all
// wanted elements have and that tells them apart. Nil means by position: a
// list of scalars, one without a key, or one inside a list that is replaced
// as one.
func keyOf(path string, want []any, whole bool) *listKey {
	field := path[strings.LastIndexByte(path, '.')+1:]
	if whole || len(want) == 0 || slices.Contains(wholeLists, field) {
		return nil
	}
	for i := range listKeys {
		if listKeys[i].tellsApart(want) {
			return &listKeys[i]
		}
	}
	return nil
}

func (k *listKey) tellsApart(elements []any) bool {
	seen := make(map[string]struct{}, len(elements))
	for _, element := range elements {
		name, ok := k.of(element)
		if !ok {
			return false
		}
		seen[name] = struct{}{}
	}
	return len(seen) == len(elements)
}

// of is the key of one element, in words.
func (k *listKey) of(element any) (string, bool) {
	fields, ok := element.(map[string]any)
	if !ok {
		return "", false
	}
	values := make([]string, len(k.fields))
	for i, field := range k.fields {
		switch value := fields[field].(type) {
		case string:
			values[i] = value
		case int64:
			values[i] = strconv.FormatInt(value, 10)
		case nil:
			values[i] = k.fallback
		}
		if values[i] == "" || (fields[field] == nil && i == 0) {
			return "", false
		}
	}
	return strings.Join(values, "/"), true
}
