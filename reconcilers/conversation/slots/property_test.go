package slots

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// subject is what the model knows of a conversation.
type subject struct {
	seen, admitted *polychromev1alpha1.Conversation
	deferredAt     time.Time
	until          int64
	passed         int
	offeredAt      time.Time
	// offered counts the offers.
	offered int
}

// model is the rules of the package, without trees and counts: every question
// is answered by a look at everybody.
type model struct {
	limit    int
	now      time.Time
	subjects map[string]*subject
	passes   int
	offers   int
}

func versionOf(c *polychromev1alpha1.Conversation) int {
	n, _ := strconv.Atoi(c.ResourceVersion)
	return n
}

func open(c *polychromev1alpha1.Conversation) bool {
	return c != nil && c.DeletionTimestamp == nil && !c.Status.Closed && c.Status.Phase != polychromev1alpha1.ConversationClosing
}

func (m *model) rolls(u *subject) bool {
	return u.admitted == nil && open(u.seen) && u.seen.Status.RollingHarness && !Failed(m.now.Unix(), u.seen)
}

func (m *model) fails(u *subject) bool {
	return u.admitted == nil && open(u.seen) && Failed(m.now.Unix(), u.seen)
}

func due(c *polychromev1alpha1.Conversation) bool {
	if !open(c) || c.Annotations[polychromev1alpha1.PausedAnnotation] == "true" {
		return false
	}
	recorded := c.Status.HarnessImageGeneration
	return recorded != "" && recorded != newGeneration && c.Status.SandboxClaimName != ""
}

func (m *model) waits(u *subject) bool {
	return u.admitted == nil && due(u.seen) && !m.rolls(u)
}

func (m *model) standing() (s Standing) {
	stuck := 0
	for _, u := range m.subjects {
		if u.admitted != nil || m.rolls(u) {
			s.Rolling++
		}
		if m.waits(u) {
			s.Waiting++
		}
		if m.fails(u) {
			s.Failed++
			if g := u.seen.Status.HarnessImageGeneration; g == "" || g == newGeneration {
				stuck++
			}
		}
	}
	s.Halted = stuck >= 3
	return s
}

// rank is the class of one that waits, and its number within that.
func (m *model) rank(u *subject) (class, when int64) {
	activity := int64(-1)
	if at := u.seen.Status.LastActivityUnix; at != nil && *at >= 0 {
		activity = *at
	}
	switch {
	case u.passed > 0:
		return 4, int64(u.passed)
	case m.fails(u):
		return 1, activity
	case u.until > m.now.Unix():
		return 3, u.until
	}
	return 2, activity
}

// order is everybody who waits, sorted.
func (m *model) order() (names []string) {
	for name, u := range m.subjects {
		if m.waits(u) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		classA, whenA := m.rank(m.subjects[a])
		classB, whenB := m.rank(m.subjects[b])
		return cmp.Or(cmp.Compare(classA, classB), cmp.Compare(whenA, whenB), cmp.Compare(a, b))
	})
	return names
}

// tidy drops what holds only for one that waits, or that is told of slots.
func (m *model) tidy() {
	for _, u := range m.subjects {
		if !m.waits(u) {
			u.passed, u.offeredAt = 0, time.Time{}
		} else if class, _ := m.rank(u); class > 2 {
			u.offeredAt = time.Time{}
		}
	}
}

// tick lets time pass.
func (m *model) tick(now time.Time) (moved bool) {
	busyBefore := m.busy()
	m.now = now
	m.tidy()
	moved = m.busy() < busyBefore
	var late []string
	for name, u := range m.subjects {
		if !u.offeredAt.IsZero() && now.Sub(u.offeredAt) >= patience {
			late = append(late, name)
		}
	}
	slices.SortFunc(late, func(a, b string) int {
		return cmp.Compare(m.subjects[a].offered, m.subjects[b].offered)
	})
	for _, name := range late {
		m.passes++
		m.subjects[name].passed, m.subjects[name].offeredAt = m.passes, time.Time{}
	}
	return moved || len(late) > 0
}

func (m *model) busy() (n int) {
	for _, name := range m.order() {
		if class, _ := m.rank(m.subjects[name]); class == 3 {
			n++
		}
	}
	return n
}

// offer tells the first of the slots that are free.
func (m *model) offer() (told []string) {
	stands := m.standing()
	for i, name := range m.order() {
		u := m.subjects[name]
		if class, _ := m.rank(u); class > 2 || stands.Halted || i >= m.limit-stands.Rolling {
			break
		}
		if u.offeredAt.IsZero() {
			m.offers++
			u.offeredAt, u.offered = m.now, m.offers
			told = append(told, name)
		}
	}
	return told
}

// do carries out one call and returns who is to be woken.
func (m *model) do(now time.Time, call func() (asked bool)) (told []string) {
	before := m.standing()
	moved := m.tick(now)
	asked := call()
	m.tidy()
	after := m.standing()
	freed := max(m.limit-after.Rolling, 0) > max(m.limit-before.Rolling, 0)
	if asked || moved || freed || (before.Halted && !after.Halted) {
		return m.offer()
	}
	return nil
}

func (m *model) observe(c *polychromev1alpha1.Conversation, deleted bool) {
	u := m.subjects[c.Name]
	if deleted {
		delete(m.subjects, c.Name)
		return
	}
	if u == nil {
		u = &subject{}
		m.subjects[c.Name] = u
	}
	if u.seen != nil && versionOf(c) < versionOf(u.seen) {
		return
	}
	if u.seen == nil || identity(u.seen) != identity(c) {
		u.passed = 0
	}
	if !due(c) || (u.seen != nil && u.seen.UID != c.UID) {
		u.deferredAt = time.Time{}
	}
	if a := u.admitted; a != nil && versionOf(c) > versionOf(a) {
		newRoll := c.Status.RollingHarness && identity(c) != identity(a)
		settled := !c.Status.RollingHarness && c.Status.HarnessReady && c.Status.HarnessImageGeneration == newGeneration
		if c.UID != a.UID || !open(c) || newRoll || settled {
			u.admitted = nil
		}
	}
	u.seen, u.until = c, announced(0, c)
	if !u.deferredAt.IsZero() {
		u.until = min(u.until, u.deferredAt.Unix()+601)
	}
}

func identity(c *polychromev1alpha1.Conversation) mark {
	at := int64(never)
	if started := c.Status.RollStartedAt; started != nil && *started >= 0 {
		at = *started
	}
	return mark{c.UID, c.Status.SandboxClaimName, c.Status.HarnessImageGeneration, open(c) && c.Status.RollingHarness, at}
}

// reserve is for versions that were observed.
func (m *model) reserve(c *polychromev1alpha1.Conversation, busy bool) Grant {
	u := m.subjects[c.Name]
	u.passed, u.offeredAt = 0, time.Time{}
	grant := m.judge(u, c, busy)
	if grant == Admitted || grant == Held {
		u.admitted = c
	}
	return grant
}

func (m *model) judge(u *subject, c *polychromev1alpha1.Conversation, busy bool) Grant {
	stands := m.standing()
	switch {
	case stands.Halted:
		return Halted
	case u.seen.UID != c.UID:
		return Deferred
	case u.admitted != nil || m.rolls(u):
		return Held
	case versionOf(c) < versionOf(u.seen) && !m.waits(u):
		return Deferred
	case !m.fails(u):
		if u.until = 0; busy {
			if u.deferredAt.IsZero() {
				u.deferredAt = m.now
			}
			if m.now.Sub(u.deferredAt) < 10*time.Minute {
				u.until = max(min(announced(0, c), u.deferredAt.Unix()+601), m.now.Unix()+1)
				return Deferred
			}
		}
	}
	if slices.Index(m.order(), c.Name) >= m.limit-stands.Rolling {
		return Deferred
	}
	return Admitted
}

// world plays random news to Slots and to the model.
type world struct {
	t       *testing.T
	random  *rand.Rand
	clock   time.Time
	slots   *Slots
	model   *model
	woken   []string
	version int
	// told is what was observed of each conversation since it was made.
	told map[string][]*polychromev1alpha1.Conversation
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 7)), clock: start, version: 10,
		told: map[string][]*polychromev1alpha1.Conversation{}}
	w.restart()
	return w
}

// restart is a crash: all that is left is what the API shows.
func (w *world) restart() {
	limit := 1 + w.random.IntN(6)
	w.slots = New(Options{
		Limit: limit, Generation: newGeneration, BusyUntil: announced,
		Now: func() time.Time { return w.clock },
		Wake: func(keys ...framework.Key) {
			for _, key := range keys {
				w.woken = append(w.woken, key.Name)
			}
		},
	})
	w.model = &model{limit: limit, now: w.clock, subjects: map[string]*subject{}}
	for name, history := range w.told {
		w.told[name] = history[len(history)-1:]
	}
	for _, history := range w.told {
		w.observe(history[0], false)
	}
}

func (w *world) observe(c *polychromev1alpha1.Conversation, deleted bool) {
	w.slots.Observe(c, deleted)
	w.same(w.model.do(w.clock, func() bool { w.model.observe(c, deleted); return false }))
}

// same compares what both say.
func (w *world) same(told []string) {
	w.t.Helper()
	if !slices.Equal(told, w.woken) {
		w.t.Fatalf("woken: want %v, got %v", told, w.woken)
	}
	w.woken = nil
	if want, got := w.model.order(), order(w.slots); !slices.Equal(want, got) {
		w.t.Fatalf("order (-want +got):\n%s", gocmp.Diff(want, got))
	}
	want, got := w.model.standing(), w.slots.Standing()
	if diff := gocmp.Diff(want, got); diff != "" {
		w.t.Fatalf("standing (-want +got):\n%s", diff)
	}
}

// news is a random next version of a conversation.
func (w *world) news(name string) *polychromev1alpha1.Conversation {
	c := conv(name)
	if history := w.told[name]; len(history) > 0 {
		c = history[len(history)-1].DeepCopy()
		if w.random.IntN(40) == 0 {
			c = conv(name, func(c *polychromev1alpha1.Conversation) { c.UID = types.UID(strconv.Itoa(w.version)) })
		}
	} else {
		c.UID = types.UID(strconv.Itoa(w.version))
	}
	w.version++
	at(w.version)(c)
	switch w.random.IntN(12) {
	case 0, 1:
		activeAt(int64(w.random.IntN(40) - 5))(c)
	case 2:
		busyFor(w.clock.Sub(start) + time.Duration(w.random.IntN(900))*time.Second)(c)
	case 3, 4:
		rolling(c)
		began(start.Sub(w.clock))(c)
	case 5:
		remade([]string{oldGeneration, newGeneration}[w.random.IntN(2)])(c)
		if w.random.IntN(3) == 0 {
			c.Status.RollStartedAt = new(int64(w.random.Uint64()))
		}
	case 6:
		c.Status.RollingHarness, c.Status.RollStartedAt, c.Status.HarnessReady = false, nil, true
		rolled(c)
	case 7:
		c.Status.RollingHarness, c.Status.RollStartedAt = false, nil
		c.Status.SandboxClaimName, c.Status.HarnessImageGeneration = name, oldGeneration
	case 8:
		c.Status.HarnessReady = !c.Status.HarnessReady
	case 9:
		c.Status.Closed = !c.Status.Closed
		c.Status.Phase = polychromev1alpha1.ConversationReady
	case 10:
		if delete(c.Annotations, polychromev1alpha1.PausedAnnotation); w.random.IntN(2) == 0 {
			isPaused(c)
		}
	}
	return c
}

func (w *world) step(names int) {
	name := "c" + strconv.Itoa(w.random.IntN(names))
	history := w.told[name]
	switch n := w.random.IntN(20); {
	case len(history) == 0 || n < 7:
		c := w.news(name)
		w.told[name] = append(history, c)
		w.observe(c, false)
	case n == 7:
		// One that comes twice, or late.
		w.observe(history[w.random.IntN(len(history))], false)
	case n == 8 && w.random.IntN(4) == 0:
		delete(w.told, name)
		w.observe(history[len(history)-1], true)
	case n < 16:
		w.ask(history[max(len(history)-1-w.random.IntN(8)/7, 0)])
	case n == 16:
		w.slots.GiveBack(history[len(history)-1])
		w.same(w.model.do(w.clock, func() bool {
			if u := w.model.subjects[name]; u.admitted != nil {
				w.model.passes++
				u.admitted, u.passed, u.offeredAt = nil, w.model.passes, time.Time{}
			}
			return false
		}))
	default:
		w.clock = w.clock.Add([]time.Duration{time.Millisecond, time.Second, 4 * time.Second, 11 * time.Second, time.Minute, 5 * time.Minute}[w.random.IntN(6)])
	}
}

func (w *world) ask(c *polychromev1alpha1.Conversation) {
	// Passes only ask for one that is due in their cache.
	if !due(c) {
		return
	}
	busy := announced(0, c) > w.clock.Unix()
	got := w.slots.Reserve(c, busy)
	var want Grant
	told := w.model.do(w.clock, func() bool { want = w.model.reserve(c, busy); return true })
	if got != want {
		w.t.Fatalf("%s asks: want grant %d, got %d", c.Name, want, got)
	}
	w.same(told)
}

func TestSlotsAreWhatTheModelSays(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newWorld(t, seed)
			names := []int{8, 30, 200}[seed%3]
			for range 1200 {
				w.step(names)
				if w.random.IntN(300) == 0 {
					w.restart()
				}
			}
		})
	}
}
