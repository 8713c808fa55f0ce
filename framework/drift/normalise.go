package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	kjson "sigs.k8s.io/json"
)

// Normalise takes an apply configuration through the Go type of its object
// and keeps the fields the configuration named, spelled as the API server
// spells them. into is an empty object of that type, a pointer; it is filled
// on the way. Not part of the result: apiVersion and kind, which say nothing
// about the object, and the resourceVersion and UID in its metadata, which
// are conditions of a request rather than wishes.
func Normalise(config, into any) (map[string]any, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	var named map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &named); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, into); err != nil {
		return nil, fmt.Errorf("reading the configuration as %T: %w", into, err)
	}
	canonical, err := ToMap(into)
	if err != nil {
		return nil, err
	}
	delete(canonical, "apiVersion")
	delete(canonical, "kind")
	normalised := restrictMap(canonical, named)
	if metadata, ok := normalised["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
		delete(metadata, "uid")
	}
	return normalised, nil
}

// ToMap takes an object through JSON, so that two objects compare as they
// look on the wire. Whole numbers are int64, others float64. Null is no
// object.
func ToMap(obj any) (map[string]any, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("writing %T as JSON: %w", obj, err)
	}
	var fields map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &fields); err != nil {
		return nil, fmt.Errorf("reading back %T as a JSON object: %w", obj, err)
	}
	if fields == nil {
		return nil, fmt.Errorf("reading back %T as a JSON object: it is null", obj)
	}
	return fields, nil
}

// Hash names the content of a normalised configuration: 16 hexadecimal
// digits. Take it before it is put into the configuration. It is empty for
// what cannot be JSON, which ToMap and Normalise never return.
func Hash(config map[string]any) string {
	raw, err := json.Marshal(config)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// Annotate puts an annotation into a normalised configuration.
func Annotate(config map[string]any, key, value string) {
	member(member(config, "metadata"), "annotations")[key] = value
}

// member returns the object at key, and puts one there if need be.
func member(parent map[string]any, key string) map[string]any {
	child, ok := parent[key].(map[string]any)
	if !ok || child == nil {
		child = map[string]any{}
		parent[key] = child
	}
	return child
}

// restrictMap cuts canonical back to the fields that named has. A null says
// nothing, in either.
func restrictMap(canonical, named map[string]any) map[string]any {
	kept := make(map[string]any, len(named))
	for key, as := range named {
		if value := canonical[key]; value != nil && as != nil {
			kept[key] = restrict(value, as)
		}
	}
	return kept
}

// restrict matches lists by position, which the way through the Go type
// keeps. What changed its shape on that way is kept whole.
func restrict(canonical, named any) any {
	switch named := named.(type) {
	case map[string]any:
		if canonical, ok := canonical.(map[string]any); ok {
			return restrictMap(canonical, named)
		}
	case []any:
		if canonical, ok := canonical.([]any); ok && len(canonical) == len(named) {
			kept := make([]any, len(named))
			for i := range named {
				kept[i] = restrict(canonical[i], named[i])
			}
			return kept
		}
	}
	return canonical
}
