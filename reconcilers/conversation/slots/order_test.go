package slots

import (
	"math"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestWhoWaits(t *testing.T) {
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		want bool
	}{
		{"one of another generation does", conv("a"), true},
		{"one that is not ready does, too", conv("a", unready), true},
		{"one of the desired generation does not", conv("a", rolled), false},
		{"one without a recorded generation does not: it is adopted", conv("a", func(c *polychromev1alpha1.Conversation) { c.Status.HarnessImageGeneration = "" }), false},
		{"one that names no claim does not", conv("a", func(c *polychromev1alpha1.Conversation) { c.Status.SandboxClaimName = "" }), false},
		{"a closed one does not", conv("a", closed), false},
		{"a closing one does not", conv("a", closing), false},
		{"a deleting one does not", conv("a", deleting), false},
		{"a paused one does not", conv("a", isPaused), false},
		{"a word that does not pause is none", conv("a", annotated(polychromev1alpha1.PausedAnnotation, "yes")), true},
		{"one that rolls does not", conv("a", remade(oldGeneration), began(0)), false},
		{"one whose roll failed does, if it is due again", conv("a", remade(oldGeneration), began(time.Hour)), true},
		{"one whose roll to the desired generation failed does not", conv("a", remade(newGeneration), began(time.Hour)), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 1, c.conv)
			if got := r.Standing().Waiting == 1; got != c.want {
				t.Errorf("want %t, got %t", c.want, got)
			}
		})
	}
}

func TestTheOrder(t *testing.T) {
	r := newRig(t, 1,
		conv("busy-longer", busyFor(2*time.Minute), activeAt(0)),
		conv("busy", busyFor(time.Minute), activeAt(50)),
		conv("far", activeAt(math.MaxInt64)),
		conv("recent", activeAt(200)),
		conv("old", activeAt(100)),
		conv("b-never"),
		conv("a-negative", activeAt(-5)),
		conv("was-busy", busyFor(0), activeAt(150)),
		conv("failed-recent", remade(oldGeneration), began(time.Hour), activeAt(300)),
		conv("failed", remade(oldGeneration), began(time.Hour), activeAt(250), busyFor(time.Hour)),
	)
	r.wantOrder("failed", "failed-recent", "a-negative", "b-never", "old", "was-busy", "recent", "far", "busy", "busy-longer")
}

func TestNamesakesInTwoNamespacesBothWait(t *testing.T) {
	elsewhere := func(c *polychromev1alpha1.Conversation) { c.Namespace = "another" }
	r := newRig(t, 1, conv("a"), conv("a", elsewhere), conv("b", elsewhere))
	r.wantOrder("a", "b", "a")
}

func TestATurnMovesAConversationBack(t *testing.T) {
	r := newRig(t, 1, conv("a", activeAt(1)), conv("b", activeAt(2)), conv("c", activeAt(3)))
	r.see(conv("a", activeAt(9), at(11)))
	r.wantOrder("b", "c", "a")
	r.see(conv("b", activeAt(2), busyFor(time.Minute), at(11)))
	r.wantOrder("c", "a", "b")
}

func TestTheFirstRollFirstWhateverTheOrderOfPasses(t *testing.T) {
	names := []string{"e", "d", "c", "b", "a"}
	r := newRig(t, 2)
	for i, name := range names {
		r.see(conv(name, activeAt(int64(i))))
	}
	r.wantWoken()
	r.wantGrant(conv("a"), Deferred)
	r.wantWoken("e", "d")
	r.wantGrant(conv("c"), Deferred)
	r.wantGrant(conv("d"), Admitted)
	r.wantGrant(conv("e"), Admitted)
	r.wantGrant(conv("c"), Deferred)
	r.wantWoken()
	r.see(conv("d", rolling, at(11)), conv("d", rolled, at(12)))
	r.wantWoken("c")
	r.wantGrant(conv("b"), Deferred)
	r.wantGrant(conv("c"), Admitted)
}

func TestOneThatTheEventsDoNotShowYetAsksInItsPlace(t *testing.T) {
	r := newRig(t, 1, conv("a", activeAt(5)))
	r.wantGrant(conv("late", activeAt(6)), Deferred)
	r.wantGrant(conv("early", activeAt(4)), Admitted)
}

func TestOneThatDoesNotComeIsPassedOver(t *testing.T) {
	r := newRig(t, 1, conv("gone", activeAt(1)), conv("b", activeAt(2)), conv("c", activeAt(3)))
	r.wantGrant(conv("b"), Deferred)
	r.wantWoken("gone")
	r.step(patience - time.Millisecond)
	r.wantGrant(conv("b"), Deferred)
	r.wantOrder("gone", "b", "c")
	r.step(time.Millisecond)
	r.wantStanding(Standing{Waiting: 3})
	r.wantOrder("b", "c", "gone")
	r.wantWoken("b")
	r.wantGrant(conv("b"), Admitted)
	r.see(conv("b", closed, at(11)), conv("c", closed, at(11)))
	r.step(time.Hour)
	r.wantStanding(Standing{Waiting: 1})
	r.wantWoken("c")
	r.wantGrant(conv("new"), Admitted)
}

func TestWhatEndsBeingPassedOver(t *testing.T) {
	cases := []struct {
		name string
		do   func(r *rig)
		want bool
	}{
		{"asking does", func(r *rig) {
			r.step(patience)
			r.wantGrant(conv("a", activeAt(1)), Admitted)
		}, true},
		{"asking in vain does", func(r *rig) {
			r.see(conv("full", rolling))
			r.wantGrant(conv("a", activeAt(1)), Deferred)
		}, true},
		{"another claim does", func(r *rig) {
			r.see(conv("a", activeAt(1), at(11), func(c *polychromev1alpha1.Conversation) { c.Status.SandboxClaimName = "x" }))
		}, true},
		{"another generation does", func(r *rig) {
			r.see(conv("a", activeAt(1), at(11), func(c *polychromev1alpha1.Conversation) { c.Status.HarnessImageGeneration = "2026.5.0" }))
		}, true},
		{"a roll that failed does", func(r *rig) { r.see(conv("a", activeAt(1), at(11), remade(oldGeneration), began(time.Hour))) }, true},
		{"pausing and going on does", func(r *rig) { r.see(conv("a", isPaused, at(11)), conv("a", activeAt(1), at(12))) }, true},
		{"a namesake does", func(r *rig) { r.see(conv("a", another, at(11), activeAt(1))) }, true},
		{"a turn does not", func(r *rig) { r.see(conv("a", at(11), activeAt(0))) }, false},
		{"getting unready does not", func(r *rig) { r.see(conv("a", at(11), activeAt(1), unready)) }, false},
		{"a turn announced and over does not", func(r *rig) {
			r.see(conv("a", at(11), activeAt(1), busyFor(time.Hour)))
			r.step(2 * time.Hour)
			r.Standing()
		}, false},
		{"time does not", func(r *rig) { r.step(24 * time.Hour); r.Standing() }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 1, conv("a", activeAt(1)), conv("b", activeAt(2)))
			r.wantGrant(conv("b"), Deferred)
			r.step(patience)
			r.wantStanding(Standing{Waiting: 2})
			r.wantOrder("b", "a")
			r.wantWoken("a", "b")
			c.do(r)
			if m := r.members[keyOf(conv("a"))]; (m.passed == 0) != c.want {
				t.Errorf("want a no longer passed over: %t, got order %v", c.want, order(r.Slots))
			}
		})
	}
}

func TestThosePassedOverAreNotWokenAgain(t *testing.T) {
	r := newRig(t, 2, conv("a"), conv("b"), conv("c"))
	r.wantGrant(conv("d"), Deferred)
	for range 10 {
		r.step(patience)
		r.Standing()
	}
	r.wantWoken("a", "b", "c")
	r.wantOrder("a", "b", "c")
}

func TestBusyConversationsTakeNoSlotForTenMinutes(t *testing.T) {
	busy := conv("a", busyFor(24*time.Hour))
	r := newRig(t, 1, busy, conv("b"))
	r.wantGrant(busy, Deferred)
	r.step(10*time.Minute - time.Second)
	r.wantGrant(busy, Deferred)
	r.wantGrant(conv("b"), Admitted)
	r.step(2 * time.Second)
	r.wantGrant(busy, Deferred)
	r.GiveBack(conv("b"))
	r.wantGrant(busy, Admitted)
}

func TestOneThatWasBusyForTooLongStandsWhereItWouldWithoutATurn(t *testing.T) {
	r := newRig(t, 0, conv("a", busyFor(24*time.Hour), activeAt(1)), conv("b", activeAt(2)))
	r.wantGrant(conv("a", busyFor(24*time.Hour)), Deferred)
	r.wantOrder("b", "a")
	r.step(9 * time.Minute)
	r.see(conv("a", busyFor(48*time.Hour), activeAt(1), at(11)))
	r.wantOrder("b", "a")
	r.step(2 * time.Minute)
	r.Standing()
	r.wantOrder("a", "b")
}

func TestADeferralForBusynessEndsWithTheRoll(t *testing.T) {
	r := newRig(t, 1, conv("a", busyFor(time.Minute)))
	r.wantGrant(conv("a", busyFor(time.Minute)), Deferred)
	r.see(conv("a", rolled, at(11)))
	r.step(time.Hour)
	r.see(conv("a", at(12)))
	r.wantGrant(conv("a", at(12), busyFor(2*time.Hour)), Deferred)
}

func TestTheBusyAreNotWokenAndKeepNobodyWaiting(t *testing.T) {
	r := newRig(t, 3, conv("a", busyFor(time.Minute)), conv("b", busyFor(2*time.Minute)))
	r.wantGrant(conv("a", busyFor(time.Minute)), Deferred)
	r.wantGrant(conv("c"), Admitted)
	r.wantWoken()
	r.step(time.Minute)
	r.wantStanding(Standing{Rolling: 1, Waiting: 2})
	r.wantWoken("a")
}

func TestOneThatAsksWhileBusyStandsBackThoughItsEventsDoNotSayIt(t *testing.T) {
	r := newRig(t, 1, conv("a", activeAt(1)), conv("b", activeAt(2)))
	r.wantGrant(conv("a", busyFor(time.Minute)), Deferred)
	r.wantOrder("b", "a")
	r.wantWoken("b")
	r.wantGrant(conv("b"), Admitted)
}

func TestARollThatFailedIsNotAskedWhetherItIsBusy(t *testing.T) {
	again := conv("a", remade(oldGeneration), began(time.Hour), busyFor(time.Hour))
	newRig(t, 1, again).wantGrant(again, Admitted)
}

func TestAnOfferLapsesWithItsReason(t *testing.T) {
	r := newRig(t, 1, conv("a"), conv("b"))
	r.wantGrant(conv("b"), Deferred)
	r.see(conv("a", busyFor(time.Minute), at(11)))
	r.step(patience)
	r.wantStanding(Standing{Waiting: 2})
	r.step(time.Minute)
	r.Standing()
	r.wantOrder("a", "b")
}
