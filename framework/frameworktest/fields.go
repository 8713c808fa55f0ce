package frameworktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// changedFields tells how two values of one type differ, one line for each
// field of their JSON, in the order of the names.
func changedFields(before, after any) []string {
	old, now := fieldsOf(before), fieldsOf(after)
	all := maps.Clone(old)
	maps.Copy(all, now)
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, had := old[path]
		is, has := now[path]
		switch {
		case had && has && was == is:
		case !had:
			lines = append(lines, fmt.Sprintf("%s = %s", path, is))
		case !has:
			lines = append(lines, fmt.Sprintf("%s is gone (%s)", path, was))
		default:
			lines = append(lines, fmt.Sprintf("%s = %s (%s)", path, is, was))
		}
	}
	return lines
}

// fieldsOf lists every leaf of a value's JSON by its path.
func fieldsOf(value any) map[string]string {
	fields := map[string]string{}
	raw, err := json.Marshal(value)
	var decoded any
	if err == nil {
		err = json.Unmarshal(raw, &decoded)
	}
	if err != nil {
		return map[string]string{"": err.Error()}
	}
	flatten(fields, "", decoded)
	return fields
}

func flatten(into map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			if path != "" {
				key = path + "." + key
			}
			flatten(into, key, below)
		}
	case []any:
		for i, below := range v {
			flatten(into, fmt.Sprintf("%s[%s]", path, elementName(i, below)), below)
		}
	default:
		into[path] = readable(v, "")
	}
}

// readable is a value's JSON for people: without a line's end, and without
// the escapes that are for browsers.
func readable(value any, indent string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// elementName names an element of a list by what tells it from the others.
func elementName(index int, element any) string {
	if object, ok := element.(map[string]any); ok {
		for _, key := range []string{"type", "name"} {
			if name, ok := object[key].(string); ok {
				return name
			}
		}
	}
	return fmt.Sprint(index)
}
