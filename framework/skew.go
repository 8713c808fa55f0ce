package framework

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"polychrome.dev/controller/framework/drift"
	"polychrome.dev/controller/framework/served"
)

// schemaLookEvery is how often the served schema is looked at while it is
// known to lack something.
const schemaLookEvery = 30 * time.Second

// skew is what is known of the difference between a type and the schema that
// the API server has for it.
type skew struct {
	// refusesFields is set while an apply was refused for a field.
	refusesFields atomic.Bool
	// epochs counts the schemas seen so far.
	epochs atomic.Int64

	skewMu sync.Mutex
	// version is where the schema was served; it changes with its content.
	version string
	// learnt is set when a write has found more than the schema says; doubted
	// is the version whose word was then taken.
	learnt  bool
	doubted string
	// lacks are paths of fields that the server drops; says are those of them
	// that its schema shows.
	lacks, says map[string]struct{}
}

// epoch counts the schemas that the API server has been seen to have.
func (s *skew) epoch() int { return int(s.epochs.Load()) }

// known reports whether a newer schema would change anything.
func (s *skew) known() bool {
	s.skewMu.Lock()
	defer s.skewMu.Unlock()
	return len(s.lacks) > 0 || s.refusesFields.Load()
}

// dropped returns those of the paths that the server is known to drop.
func (s *skew) dropped(paths []string) []string {
	s.skewMu.Lock()
	defer s.skewMu.Unlock()
	if len(s.lacks) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !s.lacking(path) })
}

// lacking reports whether a path is, or is within, one that the server drops.
func (s *skew) lacking(path string) bool {
	for path = general(path); path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if _, lacks := s.lacks[path]; lacks {
			return true
		}
	}
	return false
}

// elements are the names of list elements and map keys in a path.
var elements = regexp.MustCompile(`\[[^\]]*\]`)

// general makes the path of a field in one object that in all objects.
func general(path string) string {
	return strings.TrimPrefix(elements.ReplaceAllString(path, "[]"), ".")
}

// learnDropped compares the server's answer with the status that was sent and
// reports whether it drops a field that was not known to be dropped.
func (r *Resource[T]) learnDropped(status map[string]any, answer T) bool {
	have, err := drift.ToMap(answer)
	if err != nil {
		return false
	}
	lost := pruned("status", status, have["status"])
	if len(lost) == 0 {
		return false
	}
	r.skewMu.Lock()
	defer r.skewMu.Unlock()
	learnt := false
	for _, path := range lost {
		if !r.lacking(path) {
			r.learn(path)
			learnt = true
		}
	}
	if learnt {
		r.hinting(r.Hints.Schema).Warn("the API server drops fields that were sent; the CustomResourceDefinition is older than this program", "fields", lost)
		r.metrics.skewed.WithLabelValues(r.resourceName()).Set(float64(len(r.lacks)))
	}
	return learnt
}

// pruned returns the general paths of what was sent and is not in the answer
// at all. A value that came back changed is somebody's doing and no matter of
// the schema; conditions are part of every schema that works here.
func pruned(path string, sent, answered any) []string {
	switch sent := sent.(type) {
	case map[string]any:
		have, _ := answered.(map[string]any)
		var paths []string
		for _, key := range slices.Sorted(maps.Keys(sent)) {
			at := path + "." + key
			if strings.ContainsAny(key, "./[] ") {
				// A map's, not a field's.
				at = path + "[" + key + "]"
			}
			switch {
			case sent[key] == nil || at == "status.conditions":
			case empty(have[key]) && !empty(sent[key]):
				paths = append(paths, at)
			default:
				paths = append(paths, pruned(at, sent[key], have[key])...)
			}
		}
		return paths
	case []any:
		have, _ := answered.([]any)
		if len(have) != len(sent) {
			return nil
		}
		var paths []string
		for i := range sent {
			paths = append(paths, pruned(path+"[]", sent[i], have[i])...)
		}
		return slices.Compact(paths)
	}
	return nil
}

// empty reports whether a value is what a Go type shows of a field that the
// server did not send.
func empty(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

func (s *skew) learn(path string) {
	if s.lacks == nil {
		s.lacks = map[string]struct{}{}
	}
	s.lacks[general(path)] = struct{}{}
	s.learnt = true
}

// lookAtSchema compares the type with the served schema, if that is another
// than before or writes have found something that it does not say. It reports
// whether there is reason to try again what was dropped or refused.
func (r *Resource[T]) lookAtSchema(ctx context.Context) bool {
	if r.presence.rest == nil {
		return false
	}
	version, err := r.presence.schemaVersion(ctx)
	if err == nil && !r.unsure(version) {
		return false
	}
	var missing []string
	if err == nil {
		missing, err = r.missingFields(ctx, version)
	}
	if err != nil {
		r.log.Warn("comparing the served schema", "error", causeChain(err))
		return false
	}
	if len(missing) > 0 {
		r.hinting(r.Hints.Schema).Warn("the served schema lacks fields of this program's types; update the CustomResourceDefinition", "fields", missing)
	}
	r.metrics.skewed.WithLabelValues(r.resourceName()).Set(float64(len(missing)))
	return r.adopt(version, missing)
}

func (r *Resource[T]) missingFields(ctx context.Context, version string) ([]string, error) {
	document, err := r.presence.rest.Get().RequestURI(version).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("reading the served schema: %w", err)
	}
	return served.Missing(document, r.Resource.GroupVersion().WithKind(r.Kind), reflect.TypeFor[T]())
}

// unsure reports whether the schema of a version may tell anything new. What
// writes have found against it is doubted once: they may have met another
// schema, which is gone. Found again, it is believed.
func (s *skew) unsure(version string) bool {
	s.skewMu.Lock()
	defer s.skewMu.Unlock()
	return version != s.version || s.learnt && version != s.doubted
}

// adopt takes over what a schema lacks. It reports whether that changes what
// was known.
func (s *skew) adopt(version string, missing []string) bool {
	s.skewMu.Lock()
	defer s.skewMu.Unlock()
	lacks := map[string]struct{}{}
	for _, path := range missing {
		lacks[general(path)] = struct{}{}
	}
	first, again := s.version == "", version == s.version
	if !first && !again && maps.Equal(lacks, s.says) && !s.refusesFields.Load() {
		// Another server of an upgrade perhaps: it says nothing new.
		s.version = version
		return false
	}
	changed := !maps.Equal(lacks, s.lacks) && (!first || s.learnt) || !first && !again
	if again {
		s.doubted = version
	}
	s.version, s.lacks, s.says, s.learnt = version, lacks, maps.Clone(lacks), false
	if changed {
		s.refusesFields.Store(false)
		s.epochs.Add(1)
	}
	return changed
}

// schemaVersion is where the schema of a group and version is served: a path
// with the hash of its content.
func (p presence) schemaVersion(ctx context.Context) (string, error) {
	raw, err := p.rest.Get().AbsPath("/openapi/v3").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return "", fmt.Errorf("asking for the served schemas: %w", err)
	}
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return "", fmt.Errorf("reading the list of served schemas: %w", err)
	}
	at, there := index.Paths[strings.TrimPrefix(p.root(), "/")]
	if !there {
		return "", fmt.Errorf("the API server has no schema of %s", p.resource.GroupVersion())
	}
	return at.URL, nil
}
