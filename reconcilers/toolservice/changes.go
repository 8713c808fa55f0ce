package toolservice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
)

// EventToolsChanged is the reason of the event that tells what has changed.
const EventToolsChanged = "ToolsChanged"

const (
	// maxEvent is how long its message may get, in bytes.
	maxEvent = 1024
	// maxNamed is how many tools it names of each sort.
	maxNamed = 8
)

// changes are what differs between two catalogues, by name.
type changes struct {
	added, removed, changed []string
	// destructive are those whose hints did not call them destructive before.
	destructive []string
}

// changesSince compares a catalogue with the one in the status, of which only
// what is listed is known: a tool that is merely not listed any more, or not
// listed yet, has neither come nor gone, as far as one can tell.
func changesSince(old *polychromev1alpha1.ToolServiceStatus, now Catalog) changes {
	var found changes
	before, after := byName(old.Tools), byName(now.Listed)
	for _, t := range now.Listed {
		was, known := before[t.Name]
		switch {
		case !known:
			if certainlyAbsent(old, t.Name) {
				found.added = append(found.added, t.Name)
			}
			continue
		case turnedDestructive(was, t):
			found.destructive = append(found.destructive, t.Name)
		}
		if !sameButSchema(was, t) || schemaChanged(was, t, old.Truncated || now.Truncated) {
			found.changed = append(found.changed, t.Name)
		}
	}
	for _, t := range old.Tools {
		if _, listed := after[t.Name]; !listed && !slices.Contains(now.Names, t.Name) {
			found.removed = append(found.removed, t.Name)
		}
	}
	return found
}

func byName(tools []polychromev1alpha1.Tool) map[string]polychromev1alpha1.Tool {
	named := make(map[string]polychromev1alpha1.Tool, len(tools))
	for _, t := range tools {
		named[t.Name] = t
	}
	return named
}

// certainlyAbsent reports whether a name that a status does not list was not
// offered either: lists are cut at the end.
func certainlyAbsent(old *polychromev1alpha1.ToolServiceStatus, name string) bool {
	return len(old.Tools) < maxListed || name < old.Tools[len(old.Tools)-1].Name
}

// schemaChanged gives the benefit of the doubt to one that is missing where
// schemas were left out.
func schemaChanged(was, is polychromev1alpha1.Tool, cut bool) bool {
	if cut && (was.InputSchema == nil) != (is.InputSchema == nil) {
		return false
	}
	return !sameSchema(was.InputSchema, is.InputSchema)
}

// turnedDestructive goes by the hint as well as by what it means: by default
// a tool that is not read-only is destructive.
func turnedDestructive(was, is polychromev1alpha1.Tool) bool {
	return !holds(was.DestructiveHint, false) && holds(is.DestructiveHint, false) || !destructive(was) && destructive(is)
}

func destructive(t polychromev1alpha1.Tool) bool {
	return !holds(t.ReadOnlyHint, false) && holds(t.DestructiveHint, true)
}

func holds(hint *bool, unset bool) bool {
	if hint == nil {
		return unset
	}
	return *hint
}

// event tells people. The time tells a change from one like it that was told
// before.
func (c changes) event(count int, at time.Time) framework.Event {
	var said []string
	for _, part := range []struct {
		word  string
		names []string
	}{{"now destructive", c.destructive}, {"added", c.added}, {"removed", c.removed}, {"changed", c.changed}} {
		if len(part.names) > 0 {
			said = append(said, part.word+" "+enumerated(part.names))
		}
	}
	if len(said) == 0 {
		said = append(said, "the catalogue has changed in what is not listed")
	}
	message := fmt.Sprintf("at %s, %d in all: %s", at.UTC().Format(time.TimeOnly+"Z"), count, strings.Join(said, "; "))
	return framework.Event{
		Warning: len(c.destructive) > 0, Reason: EventToolsChanged, Message: conditions.Truncate(message, maxEvent),
	}
}

// enumerated quotes the first few names: they are the server's own words.
func enumerated(names []string) string {
	var quoted []string
	for _, name := range names[:min(len(names), maxNamed)] {
		quoted = append(quoted, strconv.Quote(conditions.Truncate(name, 64)))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
