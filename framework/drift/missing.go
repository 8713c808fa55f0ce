package drift

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Missing returns the JSON paths, sorted, in which have lacks what want says,
// nil if it has all of it. Elements of a keyed list are named by their key
// (spec.containers[app].image), others by position. Where a whole object or
// element is absent, its own path stands for all that is in it. A null says
// nothing, and the resourceVersion and UID in want's metadata are conditions
// of a request: neither is compared.
func Missing(want, have map[string]any) []string {
	var c comparer
	for key, wanted := range want {
		c.compare(key, wanted, have[key], false)
	}
	slices.Sort(c.paths)
	return c.paths
}

// comparer collects the paths of differences.
type comparer struct{ paths []string }

// compare looks for want in have. whole says that an enclosing list is
// replaced as one, so that nobody else can add to what is in it.
func (c *comparer) compare(path string, want, have any, whole bool) {
	if want == nil || path == "metadata.resourceVersion" || path == "metadata.uid" {
		return
	}
	switch want := want.(type) {
	case map[string]any:
		if have, ok := have.(map[string]any); ok {
			for key, wanted := range want {
				c.compare(join(path, key), wanted, have[key], whole)
			}
			return
		}
	case []any:
		// An empty list and none are one and the same to a Go type.
		if have, ok := have.([]any); ok || len(want) == 0 {
			c.compareLists(path, want, have, whole)
			return
		}
	default:
		if reflect.DeepEqual(number(want), number(have)) {
			return
		}
	}
	c.paths = append(c.paths, path)
}

func (c *comparer) compareLists(path string, want, have []any, whole bool) {
	if key := keyOf(path, want, whole); key != nil {
		found := make(map[string]any, len(have))
		for _, element := range have {
			if name, ok := key.of(element); ok {
				found[name] = element
			}
		}
		for _, wanted := range want {
			name, _ := key.of(wanted)
			c.compare(path+"["+name+"]", wanted, found[name], false)
		}
		return
	}
	if len(want) != len(have) {
		c.paths = append(c.paths, path)
		return
	}
	for i, wanted := range want {
		c.compare(path+"["+strconv.Itoa(i)+"]", wanted, have[i], true)
	}
}

// number makes one type of whole numbers, since 2 and 2.0 are the same in
// JSON. Anything else stays as it is.
func number(value any) any {
	if float, ok := value.(float64); ok && math.Trunc(float) == float && math.Abs(float) < 1<<53 {
		return int64(float)
	}
	return value
}

// unplain are characters that put a field name in brackets.
const unplain = "./[] "

func join(path, key string) string {
	if strings.ContainsAny(key, unplain) {
		return path + "[" + key + "]"
	}
	return path + "." + key
}
