package slots

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// member is one conversation of a simulated fleet: what the server has, what
// the cache has been told, and what the event handlers have been told. Each
// runs behind the one before.
type member struct {
	history []*polychromev1alpha1.Conversation
	cached  int
	handled int
	// written is the version of our own last write, for which passes wait.
	written int
	// torn says that the unit is torn down and not back yet.
	torn bool
}

func (m *member) server() *polychromev1alpha1.Conversation { return m.history[len(m.history)-1] }

func (m *member) write(version int, change func(*polychromev1alpha1.Conversation)) {
	next := m.server().DeepCopy()
	change(next)
	at(version)(next)
	m.history = append(m.history, next)
}

type fleet struct {
	t       *testing.T
	random  *rand.Rand
	slots   *Slots
	limit   int
	version int
	members []*member
}

func newFleet(t *testing.T, seed uint64) *fleet {
	f := &fleet{t: t, random: rand.New(rand.NewPCG(seed, 7)), version: 100}
	f.limit = 1 + f.random.IntN(3)
	f.slots = New(f.limit, newGeneration, func(...framework.Key) {})
	for i := range 4 + f.random.IntN(6) {
		f.version++
		m := &member{history: []*polychromev1alpha1.Conversation{conv("c"+strconv.Itoa(i), at(f.version))}}
		if f.random.IntN(8) == 0 {
			rolling(m.history[0])
			m.torn = true
		}
		f.slots.Observe(m.history[0], false)
		f.members = append(f.members, m)
	}
	return f
}

// torn counts the units that are down, by the server's truth.
func (f *fleet) torn() int {
	n := 0
	for _, m := range f.members {
		if s := m.server().Status; m.torn && !s.Closed {
			n++
		}
	}
	return n
}

func (f *fleet) write(m *member, change func(*polychromev1alpha1.Conversation)) {
	f.version++
	m.write(f.version, change)
}

// pass is what a pass does that finds a roll due in the cache.
func (f *fleet) pass(m *member) {
	seen := m.history[m.cached]
	due := seen.Status.HarnessReady && !seen.Status.Closed && seen.Status.HarnessImageGeneration == oldGeneration
	if !due || m.cached < m.written || m.torn {
		return
	}
	grant := f.slots.Reserve(seen, f.random.IntN(6) == 0, time.Unix(int64(f.version), 0))
	if grant == Deferred {
		return
	}
	switch f.random.IntN(5) {
	case 0:
		if grant == Admitted {
			f.slots.GiveBack(seen)
		}
		return
	case 1:
		return
	}
	m.torn = true
	if torn := f.torn(); torn > f.limit && !m.server().Status.Closed {
		f.t.Fatalf("%d units torn down at once, the limit is %d", torn, f.limit)
	}
	// The status write is refused if anything was written since.
	if m.cached == len(m.history)-1 {
		f.write(m, rolling)
		m.written = len(m.history) - 1
	}
}

// recover brings a torn unit one step back.
func (f *fleet) recover(m *member) {
	if !m.torn {
		return
	}
	if m.server().Status.HarnessImageGeneration != newGeneration {
		f.write(m, func(c *polychromev1alpha1.Conversation) {
			c.Status.HarnessReady, c.Status.HarnessImageGeneration = false, newGeneration
			c.Status.Phase = polychromev1alpha1.ConversationPending
		})
		return
	}
	f.write(m, func(c *polychromev1alpha1.Conversation) {
		c.Status.HarnessReady, c.Status.RollingHarness, c.Status.Phase = true, false, polychromev1alpha1.ConversationReady
	})
	m.torn = false
}

func (f *fleet) step() {
	m := f.members[f.random.IntN(len(f.members))]
	switch f.random.IntN(12) {
	case 0, 1, 2:
		f.pass(m)
	case 3, 4:
		f.recover(m)
	case 5, 6, 7:
		m.cached = min(m.cached+1, len(m.history)-1)
	case 8, 9, 10:
		f.handle(m)
	case 11:
		switch f.random.IntN(6) {
		case 0:
			f.write(m, closed)
		case 1, 2:
			f.write(m, func(c *polychromev1alpha1.Conversation) { c.Spec.Model += "x" })
		}
	}
}

func (f *fleet) handle(m *member) {
	if m.handled < m.cached {
		m.handled++
		f.slots.Observe(m.history[m.handled], false)
	}
}

// settle lets everything arrive and every unit come back.
func (f *fleet) settle() {
	for range 400 {
		for _, m := range f.members {
			for m.handled < len(m.history)-1 {
				m.cached = len(m.history) - 1
				f.handle(m)
			}
			f.pass(m)
			f.recover(m)
		}
	}
}

func TestTheLimitHoldsWhateverLags(t *testing.T) {
	for seed := range uint64(400) {
		f := newFleet(t, seed)
		for range 400 {
			f.step()
		}
		f.settle()
		for _, m := range f.members {
			s := m.server().Status
			if !s.Closed && (s.HarnessImageGeneration != newGeneration || !s.HarnessReady) {
				t.Errorf("seed %d: %s was never rolled", seed, m.server().Name)
			}
		}
		if taken := f.slots.taken(); taken != 0 {
			t.Errorf("seed %d: want every slot back, got %d taken", seed, taken)
		}
	}
}
