package slots

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

const (
	oldGeneration = "2026.6.0"
	newGeneration = "2026.7.0"
)

var start = time.Unix(1_800_000_000, 0)

type option = func(*polychromev1alpha1.Conversation)

// conv is a conversation that is ready with the old generation.
func conv(name string, options ...option) *polychromev1alpha1.Conversation {
	c := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{
		Namespace: "chat", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "10",
	}}
	c.Status.Phase, c.Status.HarnessReady = polychromev1alpha1.ConversationReady, true
	c.Status.SandboxClaimName, c.Status.HarnessImageGeneration = name, oldGeneration
	for _, change := range options {
		change(c)
	}
	return c
}

// rolling is a conversation whose unit was torn down and not made again yet.
func rolling(c *polychromev1alpha1.Conversation) {
	c.Status.RollingHarness, c.Status.HarnessReady = true, false
	c.Status.SandboxClaimName, c.Status.HarnessImageGeneration = "", ""
	c.Status.Phase = polychromev1alpha1.ConversationRollingHarness
}

// began says how long before the start a roll began.
func began(before time.Duration) option {
	return func(c *polychromev1alpha1.Conversation) { c.Status.RollStartedAt = new(start.Add(-before).Unix()) }
}

// remade is a rolling conversation whose unit was made again and is not ready.
func remade(generation string) option {
	return func(c *polychromev1alpha1.Conversation) {
		rolling(c)
		c.Status.SandboxClaimName, c.Status.HarnessImageGeneration = c.Name, generation
		c.Status.Phase = polychromev1alpha1.ConversationPending
	}
}

func rolled(c *polychromev1alpha1.Conversation) { c.Status.HarnessImageGeneration = newGeneration }

func at(version int) option {
	return func(c *polychromev1alpha1.Conversation) { c.ResourceVersion = strconv.Itoa(version) }
}

// activeAt is a conversation with a stamp of activity.
func activeAt(unix int64) option {
	return func(c *polychromev1alpha1.Conversation) { c.Status.LastActivityUnix = &unix }
}

// busyFor is a conversation with a turn announced until so long after start.
func busyFor(d time.Duration) option {
	return annotated(polychromev1alpha1.BusyUntilAnnotation, strconv.FormatInt(start.Add(d).Unix(), 10))
}

func annotated(key, value string) option {
	return func(c *polychromev1alpha1.Conversation) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[key] = value
	}
}

var isPaused = annotated(polychromev1alpha1.PausedAnnotation, polychromev1alpha1.PausedValue)

// announced reads what busyFor writes.
func announced(_ int64, c *polychromev1alpha1.Conversation) int64 {
	until, _ := strconv.ParseInt(c.Annotations[polychromev1alpha1.BusyUntilAnnotation], 10, 64)
	return until
}

func closed(c *polychromev1alpha1.Conversation) { c.Status.Closed = true }

func closing(c *polychromev1alpha1.Conversation) {
	c.Status.Phase = polychromev1alpha1.ConversationClosing
}

func deleting(c *polychromev1alpha1.Conversation) { c.DeletionTimestamp = &metav1.Time{Time: start} }

func another(c *polychromev1alpha1.Conversation) { c.UID = "uid-another" }

func unready(c *polychromev1alpha1.Conversation) { c.Status.HarnessReady = false }

// rig is Slots with a clock to step and a list of who was woken since it was
// last looked at.
type rig struct {
	*Slots
	t     *testing.T
	clock time.Time

	woken sync.Mutex
	keys  []string
}

func newRig(t *testing.T, limit int, seen ...*polychromev1alpha1.Conversation) *rig {
	r := &rig{t: t, clock: start}
	r.Slots = New(Options{
		Limit: limit, Generation: newGeneration, BusyUntil: announced,
		Now: func() time.Time { return r.clock },
		Wake: func(keys ...framework.Key) {
			r.woken.Lock()
			defer r.woken.Unlock()
			for _, key := range keys {
				r.keys = append(r.keys, key.Name)
			}
		},
	})
	r.see(seen...)
	return r
}

func (r *rig) see(seen ...*polychromev1alpha1.Conversation) {
	for _, c := range seen {
		r.Observe(c, false)
	}
}

func (r *rig) step(d time.Duration) { r.clock = r.clock.Add(d) }

func (r *rig) wantGrant(c *polychromev1alpha1.Conversation, want Grant) {
	r.t.Helper()
	if got := r.Reserve(c, announced(0, c) > r.clock.Unix()); got != want {
		r.t.Errorf("%s asks: want grant %d, got %d", c.Name, want, got)
	}
}

func (r *rig) wantWoken(want ...string) {
	r.t.Helper()
	r.woken.Lock()
	defer r.woken.Unlock()
	if diff := cmp.Diff(want, r.keys); diff != "" {
		r.t.Errorf("woken (-want +got):\n%s", diff)
	}
	r.keys = nil
}

func (r *rig) wantStanding(want Standing) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.Standing()); diff != "" {
		r.t.Errorf("standing (-want +got):\n%s", diff)
	}
}

// order is the index, by name.
func order(s *Slots) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index.Ascend(func(m *member) bool {
		names = append(names, m.key.Name)
		return true
	})
	return names
}

func (r *rig) wantOrder(want ...string) {
	r.t.Helper()
	if got := order(r.Slots); !slices.Equal(want, got) {
		r.t.Errorf("order: want %v, got %v", want, got)
	}
}
