package slots

import (
	"strconv"
	"sync"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

func TestTheLimit(t *testing.T) {
	for limit := range 7 {
		r := newRig(t, limit-1)
		for i := range 7 {
			want := Deferred
			if i < limit-1 {
				want = Admitted
			}
			r.wantGrant(conv("c"+strconv.Itoa(i)), want)
		}
	}
}

func TestWhoHoldsASlot(t *testing.T) {
	long := began((FailedAfter + 1) * time.Second)
	cases := []struct {
		name string
		seen []*polychromev1alpha1.Conversation
		want Grant
	}{
		{"nobody", nil, Admitted},
		{"one that is ready does not", []*polychromev1alpha1.Conversation{conv("z", rolled)}, Admitted},
		{"one that rolls does, also after a restart", []*polychromev1alpha1.Conversation{conv("z", rolling)}, Deferred},
		{"one that rolled and is ready does not", []*polychromev1alpha1.Conversation{conv("z", rolling), conv("z", rolled, at(11))}, Admitted},
		{"a closed one does not", []*polychromev1alpha1.Conversation{conv("z", rolling, closed)}, Admitted},
		{"a closing one does not", []*polychromev1alpha1.Conversation{conv("z", rolling, closing)}, Admitted},
		{"a deleting one does not", []*polychromev1alpha1.Conversation{conv("z", rolling, deleting)}, Admitted},
		{"one that closed later does not", []*polychromev1alpha1.Conversation{conv("z", rolling), conv("z", rolling, closed, at(11))}, Admitted},
		{"a paused one does", []*polychromev1alpha1.Conversation{conv("z", rolling, isPaused)}, Deferred},
		{"one whose roll failed does not", []*polychromev1alpha1.Conversation{conv("z", rolling, long)}, Admitted},
		{"one whose roll has failed, made again, does not", []*polychromev1alpha1.Conversation{conv("z", remade(newGeneration), long)}, Admitted},
		{"an event of the time before changes nothing", []*polychromev1alpha1.Conversation{conv("z", rolling, at(12)), conv("z", at(11))}, Deferred},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			newRig(t, 1, c.seen...).wantGrant(conv("b"), c.want)
		})
	}
}

func TestWhatEndsAnAdmission(t *testing.T) {
	cases := []struct {
		name    string
		seen    *polychromev1alpha1.Conversation
		deleted bool
		want    Grant
	}{
		{"the version that was judged does not", conv("a", closed), false, Deferred},
		{"an earlier version does not", conv("a", closed, at(9)), false, Deferred},
		{"a later version that changes nothing does not", conv("a", at(11)), false, Deferred},
		{"rolling does not: it is counted from the cache now", conv("a", rolling, at(11)), false, Deferred},
		{"the desired generation, not ready, does not", conv("a", rolled, at(11), unready), false, Deferred},
		{"ready with the desired generation does", conv("a", rolled, at(11)), false, Admitted},
		{"closing does", conv("a", closed, at(11)), false, Admitted},
		{"deletion does", conv("a", deleting, at(11)), false, Admitted},
		{"leaving the cache does", conv("a"), true, Admitted},
		{"leaving the cache unseen does", conv("a", func(c *polychromev1alpha1.Conversation) { c.UID, c.ResourceVersion = "", "" }), true, Admitted},
		{"an earlier incarnation leaving the cache does not", conv("a", another), true, Deferred},
		{"a version that cannot be compared counts", conv("a", closed, func(c *polychromev1alpha1.Conversation) { c.ResourceVersion = "x" }), false, Admitted},
	}
	for _, before := range []bool{false, true} {
		for _, c := range cases {
			t.Run(c.name+map[bool]string{true: ", observed before"}[before], func(t *testing.T) {
				r := newRig(t, 1)
				if before {
					r.see(conv("a"))
				}
				r.wantGrant(conv("a"), Admitted)
				r.Observe(c.seen, c.deleted)
				r.wantGrant(conv("b"), c.want)
			})
		}
	}
}

func TestOneRollsAgainInItsOwnSlot(t *testing.T) {
	r := newRig(t, 1, conv("a", rolling, at(10)))
	r.wantGrant(conv("a", rolling, at(10)), Held)
	r.see(conv("a", at(9)))
	r.wantGrant(conv("b"), Deferred)
	r.see(conv("a", rolling, began(0), at(11)), conv("a", rolled, at(12)))
	r.wantGrant(conv("b"), Admitted)
}

func TestRollingAgainTakesNoSecondSlot(t *testing.T) {
	r := newRig(t, 2, conv("a", rolling, at(10)))
	r.wantGrant(conv("a", rolling, at(10)), Held)
	r.wantGrant(conv("b"), Admitted)
}

func TestANewRollIsNotTakenForTheOneItReplaces(t *testing.T) {
	first := []option{remade(oldGeneration), began(590 * time.Second)}
	r := newRig(t, 1, conv("a", first...))
	r.wantGrant(conv("a", first...), Held)
	// Somebody else writes before the new roll is in the status.
	r.see(conv("a", append(first, at(11), activeAt(7))...))
	r.step(time.Minute)
	r.wantGrant(conv("b"), Deferred)
	r.see(conv("a", rolling, began(0), at(12)))
	r.step(9 * time.Minute)
	r.wantGrant(conv("b"), Deferred)
	r.step(2 * time.Minute)
	r.wantGrant(conv("b"), Admitted)
}

func TestASlotThatIsGivenBackIsForTheNext(t *testing.T) {
	r := newRig(t, 1, conv("a", activeAt(1)), conv("b", activeAt(2)), conv("c", activeAt(3)))
	r.wantGrant(conv("a"), Admitted)
	r.GiveBack(conv("a"))
	r.wantWoken("b")
	r.wantOrder("b", "c", "a")
	r.wantGrant(conv("b"), Admitted)
	r.wantGrant(conv("a"), Deferred)
	r.wantOrder("a", "c")
}

func TestGivingBackWhatIsNotHeldChangesNothing(t *testing.T) {
	r := newRig(t, 1, conv("a", rolling))
	r.GiveBack(conv("a"))
	r.GiveBack(conv("unknown"))
	r.wantStanding(Standing{Rolling: 1})
}

func TestAFailedRollFreesItsSlotAndWakesTheFirst(t *testing.T) {
	r := newRig(t, 1, conv("a", remade(newGeneration), began(0)), conv("b"), conv("c"))
	r.step(FailedAfter * time.Second)
	r.wantStanding(Standing{Rolling: 1, Waiting: 2})
	r.wantWoken()
	r.step(time.Second)
	r.wantStanding(Standing{Waiting: 2, Failed: 1})
	r.wantWoken("b")
	r.wantGrant(conv("b"), Admitted)
}

func TestAFailedRollThatIsDueAgainStandsFirst(t *testing.T) {
	again := conv("z", remade(oldGeneration), began(601*time.Second), activeAt(9), busyFor(time.Hour))
	r := newRig(t, 1, conv("a", activeAt(1)), again, conv("b"))
	r.wantOrder("z", "b", "a")
	r.wantStanding(Standing{Waiting: 3, Failed: 1})
	r.wantGrant(conv("b"), Deferred)
	r.wantWoken("z")
	r.wantGrant(again, Admitted)
	r.wantStanding(Standing{Rolling: 1, Waiting: 2})
}

func TestAClockThatStepsBackUndoesAFailure(t *testing.T) {
	r := newRig(t, 1, conv("a", remade(newGeneration), began(601*time.Second)))
	r.wantStanding(Standing{Failed: 1})
	r.step(-time.Minute)
	r.wantStanding(Standing{Rolling: 1})
	r.wantGrant(conv("b"), Deferred)
}

func TestConcurrentWishesNeverExceedTheLimit(t *testing.T) {
	const limit, conversations, rounds = 5, 40, 50
	s := New(Options{Limit: limit, Generation: newGeneration, Wake: func(...framework.Key) {}})
	var mu sync.Mutex
	var rollingNow, most int
	var all sync.WaitGroup
	for i := range conversations {
		all.Go(func() {
			name := "c" + strconv.Itoa(i)
			for round := range rounds {
				version := 10 * (round + 1)
				s.Observe(conv(name, at(version)), false)
				s.Standing()
				grant := s.Reserve(conv(name, at(version)), i%7 == 0)
				if grant != Admitted {
					continue
				}
				if round%5 == 0 {
					s.GiveBack(conv(name))
					continue
				}
				mu.Lock()
				rollingNow++
				most = max(most, rollingNow)
				mu.Unlock()
				s.Observe(conv(name, rolling, at(version+1)), false)
				mu.Lock()
				rollingNow--
				mu.Unlock()
				s.Observe(conv(name, rolled, at(version+2)), false)
			}
			s.Observe(conv(name), true)
		})
	}
	all.Wait()
	if most > limit {
		t.Errorf("want at most %d at once, got %d", limit, most)
	}
	if got := s.Standing(); got != (Standing{}) || len(s.members) != 0 || s.offers.Len() != 0 {
		t.Errorf("want nothing left, got %+v, %d members and %d offers", got, len(s.members), s.offers.Len())
	}
}

func TestANamesakeInheritsNothing(t *testing.T) {
	r := newRig(t, 1)
	r.wantGrant(conv("a"), Admitted)
	r.see(conv("a", another, at(11)))
	r.wantGrant(conv("b"), Deferred)
	r.wantStanding(Standing{Waiting: 1})
	r.see(conv("a", another, at(12), rolled))
	r.wantGrant(conv("b"), Admitted)
}

func TestTheEndOfAnEarlierNamesakeIsNoNews(t *testing.T) {
	r := newRig(t, 2, conv("a", rolling, another, at(20)))
	r.Observe(conv("a"), true)
	r.wantStanding(Standing{Rolling: 1})
	r.wantGrant(conv("b"), Admitted)
	r.Observe(conv("b", another), true)
	r.wantStanding(Standing{Rolling: 2})
}

func TestWhoAsksOfThePastIsDeferred(t *testing.T) {
	r := newRig(t, 1, conv("a", closed, at(12)), conv("b", another, at(12)))
	r.wantGrant(conv("a"), Deferred)
	r.wantGrant(conv("b"), Deferred)
	r.wantGrant(conv("b", another, at(12)), Admitted)
}
