package framework

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxDecisions is how many decisions a process remembers.
const maxDecisions = 16384

// Decision is one pass as people want to know of it, or several in a row that
// were alike.
type Decision struct {
	// Controller, Namespace, Name and UID tell whose pass it was.
	Controller string    `json:"controller"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	// First and Last are when the first and the last of Count passes began.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Count int       `json:"count"`
	// Causes are why the last pass ran, all that came together.
	Causes []string `json:"causes"`
	// Decision and Actions are the plan; Tried is how many of the actions
	// were begun.
	Decision string   `json:"decision,omitempty"`
	Actions  []string `json:"actions,omitempty"`
	Tried    int      `json:"tried,omitempty"`
	// Outcome is how it ended: done, wait, retry, terminal, paused, or paced
	// when it had to wait its turn. Error says why it failed, with Class.
	Outcome string `json:"outcome"`
	Class   Class  `json:"class,omitempty"`
	Error   string `json:"error,omitempty"`
	// Writes counts the write requests, Took is how long the last pass took.
	Writes int           `json:"writes"`
	Took   time.Duration `json:"tookNanoseconds"`
	// Next is how long after the last pass the next one is due although
	// nothing may change, and NextFor what for. Zero is never.
	Next    time.Duration `json:"nextNanoseconds,omitempty"`
	NextFor string        `json:"nextFor,omitempty"`

	causes  causes
	sources []string
}

// alike reports whether a pass adds nothing to the one before.
func (d *Decision) alike(later Decision) bool {
	return d.UID == later.UID && d.causes == later.causes && d.Decision == later.Decision && d.Outcome == later.Outcome &&
		d.Error == later.Error && d.Writes == 0 && later.Writes == 0 && slices.Equal(d.Actions, later.Actions)
}

// decisionLog is a ring of decisions. It is safe for concurrent use.
type decisionLog struct {
	mu   sync.Mutex
	ring []Decision
	next int
	last map[objectName]int
}

// objectName tells an object of one controller from all others.
type objectName struct {
	controller string
	key        Key
}

func newDecisionLog() *decisionLog { return &decisionLog{last: map[objectName]int{}} }

// record adds a decision, or counts it to the one before.
func (l *decisionLog) record(d Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := objectName{d.Controller, Key{Namespace: d.Namespace, Name: d.Name}}
	if at, known := l.last[of]; known && l.ring[at].alike(d) {
		old := &l.ring[at]
		old.Last, old.Took, old.Next, old.NextFor, old.Count = d.Last, d.Took, d.Next, d.NextFor, old.Count+1
		return
	}
	l.last[of] = l.put(d)
}

// put adds a decision, in the place of the oldest once the ring is full.
func (l *decisionLog) put(d Decision) int {
	if len(l.ring) < maxDecisions {
		l.ring = append(l.ring, d)
		return len(l.ring) - 1
	}
	at := l.next
	old := objectName{l.ring[at].Controller, Key{Namespace: l.ring[at].Namespace, Name: l.ring[at].Name}}
	if l.last[old] == at {
		delete(l.last, old)
	}
	l.ring[at], l.next = d, (at+1)%maxDecisions
	return at
}

// of returns what is remembered and selected, oldest first.
func (l *decisionLog) of(selects func(*Decision) bool) []Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Decision
	for i := range l.ring {
		d := &l.ring[(l.next+i)%len(l.ring)]
		if selects(d) {
			copied := *d
			copied.Causes = d.causes.words(d.sources)
			found = append(found, copied)
		}
	}
	return found
}
