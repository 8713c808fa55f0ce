package slots

import (
	"math"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestFailed(t *testing.T) {
	started := func(unix int64) *polychromev1alpha1.Conversation {
		return conv("a", rolling, func(c *polychromev1alpha1.Conversation) { c.Status.RollStartedAt = &unix })
	}
	cases := []struct {
		name string
		now  int64
		conv *polychromev1alpha1.Conversation
		want bool
	}{
		{"exactly at the limit is not yet failed", 1600, started(1000), false},
		{"a second later is", 1601, started(1000), true},
		{"one that does not roll has not failed", 1601, conv("a", func(c *polychromev1alpha1.Conversation) { c.Status.RollStartedAt = new(int64(1000)) }), false},
		{"one without a start never fails", math.MaxInt64, conv("a", rolling), false},
		{"one from before 1970 counts as without a start", math.MaxInt64, started(-1), false},
		{"the smallest number is no start either", 1601, started(math.MinInt64), false},
		{"1970 is a start", 1601, started(0), true},
		{"one in the future has not failed", 1000, started(5000), false},
		{"the largest number is the future", math.MaxInt64, started(math.MaxInt64), false},
		{"a clock before 1970 sees everything in the future", math.MinInt64, started(0), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Failed(c.now, c.conv); got != c.want {
				t.Errorf("want %t, got %t", c.want, got)
			}
		})
	}
}

// failures are n conversations with a failed roll.
func failures(n int, generation string) (made []*polychromev1alpha1.Conversation) {
	for i := range n {
		made = append(made, conv("f"+string(rune('0'+i)), remade(generation), began(601*time.Second)))
	}
	return made
}

func TestFailuresHalt(t *testing.T) {
	cases := []struct {
		name string
		seen []*polychromev1alpha1.Conversation
		want Grant
	}{
		{"two do not", failures(2, newGeneration), Deferred},
		{"three with the desired generation do", failures(3, newGeneration), Halted},
		{"three that could not even be made again do", failures(3, ""), Halted},
		{"three with another generation do not: they are due again", failures(3, oldGeneration), Deferred},
		{"one that closes counts no more", append(failures(3, newGeneration), conv("f0", remade(newGeneration), began(time.Hour), closed, at(11))), Deferred},
		{"one that recovers counts no more", append(failures(3, newGeneration), conv("f0", rolled, at(11))), Deferred},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 1, c.seen...)
			r.see(conv("running", rolling))
			r.wantGrant(conv("b"), c.want)
			if got := r.Standing().Halted; got != (c.want == Halted) {
				t.Errorf("halted: got %t", got)
			}
		})
	}
}

func TestNobodyRollsAnewInAHalt(t *testing.T) {
	r := newRig(t, 3, failures(3, newGeneration)...)
	r.see(conv("running", rolling))
	for _, name := range []string{"running", "admitted", "busy"} {
		r.wantGrant(conv(name, busyFor(time.Minute)), Halted)
	}
	r.wantStanding(Standing{Rolling: 1, Failed: 3, Halted: true})
}

func TestTimeAloneHalts(t *testing.T) {
	r := newRig(t, 5, failures(2, newGeneration)...)
	r.see(conv("third", remade(newGeneration), began(0)))
	r.wantGrant(conv("b"), Admitted)
	r.step(601 * time.Second)
	r.wantGrant(conv("c"), Halted)
}

func TestALiftedHaltWakesTheFirst(t *testing.T) {
	r := newRig(t, 2, failures(3, newGeneration)...)
	r.see(conv("a", activeAt(3)), conv("b", activeAt(2)), conv("c", activeAt(1)))
	r.wantGrant(conv("c"), Halted)
	r.wantWoken()
	r.Observe(conv("f1"), true)
	r.wantWoken("c", "b")
	r.wantGrant(conv("b"), Admitted)
}

func TestWithoutADesiredGenerationNothingIsHalted(t *testing.T) {
	s := New(Options{Limit: 1, Now: func() time.Time { return start }})
	for _, c := range failures(3, "") {
		s.Observe(c, false)
	}
	s.Observe(conv("a"), false)
	if got := s.Standing(); got != (Standing{Failed: 3}) {
		t.Errorf("want three failed, none waiting and no halt, got %+v", got)
	}
}
