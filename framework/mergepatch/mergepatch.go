package mergepatch

import (
	"fmt"
	"reflect"

	"polychrome.dev/controller/framework/drift"
)

// Diff returns the patch that turns before into after, nil if they are equal.
// Both must be JSON objects.
func Diff(before, after any) (map[string]any, error) {
	from, err := drift.ToMap(before)
	if err != nil {
		return nil, fmt.Errorf("reading the object before the change: %w", err)
	}
	to, err := drift.ToMap(after)
	if err != nil {
		return nil, fmt.Errorf("reading the changed object: %w", err)
	}
	dropNulls(from)
	dropNulls(to)
	if patch := diff(from, to); len(patch) > 0 {
		return patch, nil
	}
	return nil, nil
}

func diff(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	for key, value := range after {
		from, wasObject := before[key].(map[string]any)
		to, isObject := value.(map[string]any)
		switch {
		case reflect.DeepEqual(before[key], value):
		case wasObject && isObject:
			patch[key] = diff(from, to)
		default:
			patch[key] = value
		}
	}
	return patch
}

// dropNulls drops members that are null, also inside lists, where they would
// make equal elements look different. An element that is null stays.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range value {
			dropNulls(inner)
		}
	}
}
