package slots

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// unit is one conversation of a simulated fleet: what the server has, what the
// cache has been told, and what the event handlers have been told. Each runs
// behind the one before.
type unit struct {
	history []*polychromev1alpha1.Conversation
	cached  int
	handled int
	// written is the version of our own last write, for which passes wait.
	written int
	// torn says that the unit is torn down and not back yet.
	torn bool
	// granted says that this process has let it roll, and that the API does
	// not show that yet.
	granted bool
	// dead ones find no pass; sick ones do not get ready.
	dead, sick bool
}

func (u *unit) server() *polychromev1alpha1.Conversation { return u.history[len(u.history)-1] }

type fleet struct {
	t          *testing.T
	random     *rand.Rand
	slots      *Slots
	limit      int
	version    int
	generation int
	clock      time.Time
	units      map[string]*unit
	names      []string
	woken      []string
	// calm is a fleet in which nothing lags or fails, and fair one in which
	// everybody has asked since.
	calm, fair bool
}

func newFleet(t *testing.T, seed uint64, size int) *fleet {
	f := &fleet{t: t, random: rand.New(rand.NewPCG(seed, 7)), version: 100, generation: 1, clock: start, units: map[string]*unit{}}
	f.limit = 1 + f.random.IntN(5)
	for i := range size {
		f.names = append(f.names, "c"+strconv.Itoa(i))
		f.create(f.names[i])
	}
	f.restart()
	return f
}

func (f *fleet) desired() string { return "g" + strconv.Itoa(f.generation) }

func (f *fleet) create(name string) {
	f.version++
	c := conv(name, at(f.version), activeAt(int64(f.random.IntN(1000))))
	c.UID = types.UID(strconv.Itoa(f.version))
	c.Status.HarnessImageGeneration = "g" + strconv.Itoa(f.random.IntN(f.generation+1))
	u := &unit{history: []*polychromev1alpha1.Conversation{c}, handled: -1}
	if before := f.units[name]; before != nil {
		// What came of the old one is nobody's unit any more.
		u.dead = before.dead
	}
	f.units[name] = u
}

// restart is a crash, maybe with another generation to bring about: the new
// process knows what the API shows.
func (f *fleet) restart() {
	f.slots = New(Options{
		Limit: f.limit, Generation: f.desired(), BusyUntil: announced,
		Now: func() time.Time { return f.clock },
		Wake: func(keys ...framework.Key) {
			for _, key := range keys {
				f.woken = append(f.woken, key.Name)
			}
		},
	})
	for _, name := range f.names {
		u := f.units[name]
		u.cached, u.handled, u.written, u.granted = len(u.history)-1, len(u.history)-1, 0, false
		f.slots.Observe(u.server(), false)
	}
}

func (f *fleet) write(u *unit, change option) {
	f.version++
	next := u.server().DeepCopy()
	change(next)
	at(f.version)(next)
	u.history = append(u.history, next)
}

// inFlight counts what the API shows and what was admitted beside that.
func (f *fleet) inFlight() (n int) {
	for _, u := range f.units {
		c := u.server()
		if !c.Status.Closed && (u.granted || (c.Status.RollingHarness && !Failed(f.clock.Unix(), c))) {
			n++
		}
	}
	return n
}

// pass is what a pass does that finds a roll due in the cache.
func (f *fleet) pass(name string) {
	u := f.units[name]
	seen := u.history[u.cached]
	recorded := seen.Status.HarnessImageGeneration
	present := !u.torn || (u.server().Status.RollingHarness && seen.Status.SandboxClaimName != "")
	if u.dead || seen.Status.Closed || recorded == "" || recorded == f.desired() || u.cached < u.written || !present {
		return
	}
	before := f.inFlight()
	ahead := f.ahead(name)
	// One that was busy for too long is treated as if it were not.
	busy := announced(0, seen) > f.clock.Unix()
	grant := f.slots.Reserve(seen, busy)
	if grant == Deferred || grant == Halted {
		return
	}
	if grant == Admitted && f.fair && !busy && ahead >= f.limit-before {
		f.t.Fatalf("%s was admitted with %d before it and %d of %d slots in use", name, ahead, before, f.limit)
	}
	if !f.calm && grant == Admitted && f.random.IntN(6) == 0 {
		f.slots.GiveBack(seen)
		return
	}
	u.granted, u.torn = true, true
	// Unlike before, since a roll of a lower limit's time may be under way.
	if now := f.inFlight(); now > max(f.limit, before) {
		f.t.Fatalf("%d in flight, the limit is %d", now, f.limit)
	}
	u.sick = !f.calm && f.random.IntN(5) == 0
	// The status write is refused if anything was written since.
	if u.cached == len(u.history)-1 {
		f.write(u, func(c *polychromev1alpha1.Conversation) {
			rolling(c)
			began(start.Sub(f.clock))(c)
		})
		u.written, u.granted = len(u.history)-1, false
	}
}

// ahead counts those that ask and stand before a conversation, by what the
// server shows.
func (f *fleet) ahead(name string) (n int) {
	rank := func(name string) (class, when int64, waits bool) {
		u, c := f.units[name], f.units[name].server()
		recorded, lost := c.Status.HarnessImageGeneration, Failed(f.clock.Unix(), c)
		waits = !c.Status.Closed && recorded != "" && recorded != f.desired() && (!c.Status.RollingHarness || lost) && !u.granted && !u.dead
		class = 2
		if lost {
			class = 1
		} else if announced(0, c) > f.clock.Unix() {
			class = 3
		}
		return class, *c.Status.LastActivityUnix, waits
	}
	class, when, _ := rank(name)
	for _, other := range f.names {
		otherClass, otherWhen, waits := rank(other)
		before := cmp.Or(cmp.Compare(otherClass, class), cmp.Compare(otherWhen, when), cmp.Compare(other, name)) < 0
		if waits && otherClass < 3 && before {
			n++
		}
	}
	return n
}

// recover brings a torn unit one step back.
func (f *fleet) recover(u *unit) {
	c := u.server()
	switch {
	case !u.torn || c.Status.Closed:
		return
	case c.Status.SandboxClaimName == "" || ((u.granted || !c.Status.RollingHarness) && c.Status.HarnessImageGeneration != f.desired()):
		f.write(u, func(c *polychromev1alpha1.Conversation) {
			c.Status.HarnessReady, c.Status.Phase = false, polychromev1alpha1.ConversationPending
			c.Status.SandboxClaimName, c.Status.HarnessImageGeneration = c.Name, f.desired()
		})
	case !u.sick || f.calm:
		f.write(u, func(c *polychromev1alpha1.Conversation) {
			c.Status.HarnessReady, c.Status.RollingHarness, c.Status.RollStartedAt = true, false, nil
			c.Status.Phase = polychromev1alpha1.ConversationReady
		})
		u.torn, u.granted = false, false
	default:
		return
	}
	u.written = len(u.history) - 1
}

func (f *fleet) step() {
	name := f.names[f.random.IntN(len(f.names))]
	u := f.units[name]
	switch f.random.IntN(14) {
	case 0, 1, 2, 3:
		f.pass(name)
	case 4, 5:
		f.recover(u)
	case 6, 7:
		u.cached = min(u.cached+1, len(u.history)-1)
	case 8, 9:
		f.handle(u)
	case 10:
		// One that comes twice, or too late.
		if u.handled >= 0 {
			f.slots.Observe(u.history[f.random.IntN(u.handled+1)], false)
		}
	case 11:
		f.clock = f.clock.Add(time.Duration(f.random.IntN(12)) * time.Second)
	case 12:
		for range f.limit {
			if len(f.woken) > 0 {
				f.pass(f.woken[0])
				f.woken = f.woken[1:]
			}
		}
	case 13:
		f.foreign(name)
	}
}

// foreign is what others do.
func (f *fleet) foreign(name string) {
	u := f.units[name]
	switch f.random.IntN(20) {
	case 0:
		f.write(u, closed)
		u.granted = false
	case 1:
		for u.handled < len(u.history)-1 {
			u.cached = len(u.history) - 1
			f.handle(u)
		}
		f.slots.Observe(u.server(), true)
		f.create(name)
	case 2:
		// A namesake whose predecessor nobody sees go.
		f.create(name)
	case 3:
		if f.random.IntN(20) == 0 {
			f.generation++
			f.restart()
		}
	case 4:
		if f.random.IntN(10) == 0 {
			f.restart()
		}
	case 5, 6:
		f.write(u, busyFor(f.clock.Sub(start)+time.Duration(f.random.IntN(300))*time.Second))
	case 7:
		u.dead = !u.dead
	default:
		f.write(u, activeAt(int64(f.random.IntN(1000))))
	}
}

func (f *fleet) handle(u *unit) {
	if u.handled < u.cached {
		u.handled++
		f.slots.Observe(u.history[u.handled], false)
	}
}

func (f *fleet) catchUp(u *unit) {
	u.cached = len(u.history) - 1
	for u.handled < u.cached {
		f.handle(u)
	}
}

// settle lets everything arrive, everybody ask and every unit come back, but
// for those that find no pass; it reports how many were not rolled.
func (f *fleet) settle() (left []string) {
	f.calm, f.woken = true, nil
	for round := range 2000 {
		f.fair = round > 3
		left = left[:0]
		for _, i := range f.random.Perm(len(f.names)) {
			f.catchUp(f.units[f.names[i]])
			f.recover(f.units[f.names[i]])
			f.catchUp(f.units[f.names[i]])
			f.answer()
			f.pass(f.names[i])
			f.catchUp(f.units[f.names[i]])
			f.answer()
		}
		for _, name := range f.names {
			u := f.units[name]
			if c := u.server(); !u.dead && !c.Status.Closed && (c.Status.HarnessImageGeneration != f.desired() || !c.Status.HarnessReady) {
				left = append(left, name)
			}
		}
		if len(left) == 0 {
			break
		}
		f.clock = f.clock.Add(15 * time.Second)
		f.slots.Standing()
	}
	return left
}

// answer gives the woken their passes.
func (f *fleet) answer() {
	for len(f.woken) > 0 {
		name := f.woken[0]
		f.woken = f.woken[1:]
		f.pass(name)
		f.catchUp(f.units[name])
	}
}

func TestTheLimitHoldsAndEverybodyGetsATurn(t *testing.T) {
	for seed := range uint64(9) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			f := newFleet(t, seed, []int{6, 40, 300}[seed%3])
			for range 4000 {
				f.step()
			}
			if left := f.settle(); len(left) > 0 {
				t.Errorf("never rolled: %v", left)
			}
			stands := f.slots.Standing()
			dead := slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return !f.units[name].dead })
			if stands.Rolling != 0 || stands.Halted || stands.Waiting > len(dead) {
				t.Errorf("want all slots back and only some of %d waiting, got %+v", len(dead), stands)
			}
		})
	}
}
