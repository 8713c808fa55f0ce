package slots

import (
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

// conv is a conversation that is ready with the old generation.
func conv(name string, options ...func(*polychromev1alpha1.Conversation)) *polychromev1alpha1.Conversation {
	c := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{
		Namespace: "chat", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "10",
	}}
	c.Status.Phase, c.Status.HarnessReady = polychromev1alpha1.ConversationReady, true
	c.Status.HarnessImageGeneration = oldGeneration
	for _, change := range options {
		change(c)
	}
	return c
}

func rolling(c *polychromev1alpha1.Conversation) {
	c.Status.RollingHarness, c.Status.HarnessReady = true, false
	c.Status.HarnessImageGeneration = ""
	c.Status.Phase = polychromev1alpha1.ConversationRollingHarness
}

func rolled(c *polychromev1alpha1.Conversation) { c.Status.HarnessImageGeneration = newGeneration }

func at(version int) func(*polychromev1alpha1.Conversation) {
	return func(c *polychromev1alpha1.Conversation) { c.ResourceVersion = strconv.Itoa(version) }
}

func closed(c *polychromev1alpha1.Conversation) { c.Status.Closed = true }

func closing(c *polychromev1alpha1.Conversation) {
	c.Status.Phase = polychromev1alpha1.ConversationClosing
}

func deleting(c *polychromev1alpha1.Conversation) { c.DeletionTimestamp = &metav1.Time{Time: start} }

func another(c *polychromev1alpha1.Conversation) { c.UID = "uid-another" }

// woken gathers the keys that were woken.
type woken struct {
	mu   sync.Mutex
	keys []string
}

func (w *woken) wake(keys ...framework.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		w.keys = append(w.keys, key.Name)
	}
}

func TestTheLimit(t *testing.T) {
	for limit := range 7 {
		s := New(limit, newGeneration, (&woken{}).wake)
		for i := range 7 {
			want := Deferred
			if i < limit {
				want = Admitted
			}
			if got := s.Reserve(conv("c"+strconv.Itoa(i)), false, start); got != want {
				t.Errorf("limit %d, wish %d: want %d, got %d", limit, i, want, got)
			}
		}
	}
}

func TestWhoHoldsASlot(t *testing.T) {
	cases := []struct {
		name string
		seen []*polychromev1alpha1.Conversation
		want Grant
	}{
		{"nobody", nil, Admitted},
		{"one that is ready does not", []*polychromev1alpha1.Conversation{conv("a")}, Admitted},
		{"one that rolls does, also after a restart", []*polychromev1alpha1.Conversation{conv("a", rolling)}, Deferred},
		{"one that rolled and is ready does not", []*polychromev1alpha1.Conversation{conv("a", rolling), conv("a", rolled, at(11))}, Admitted},
		{"a closed one does not", []*polychromev1alpha1.Conversation{conv("a", rolling, closed)}, Admitted},
		{"a closing one does not", []*polychromev1alpha1.Conversation{conv("a", rolling, closing)}, Admitted},
		{"a deleting one does not", []*polychromev1alpha1.Conversation{conv("a", rolling, deleting)}, Admitted},
		{"one that closed later does not", []*polychromev1alpha1.Conversation{conv("a", rolling), conv("a", rolling, closed, at(11))}, Admitted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := New(1, newGeneration, (&woken{}).wake)
			for _, seen := range c.seen {
				s.Observe(seen, false)
			}
			if got := s.Reserve(conv("b"), false, start); got != c.want {
				t.Errorf("want %d, got %d", c.want, got)
			}
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
		{"the desired generation, not ready, does not", conv("a", rolled, at(11), func(c *polychromev1alpha1.Conversation) { c.Status.HarnessReady = false }), false, Deferred},
		{"ready with the desired generation does", conv("a", rolled, at(11)), false, Admitted},
		{"closing does", conv("a", closed, at(11)), false, Admitted},
		{"deletion does", conv("a", deleting, at(11)), false, Admitted},
		{"leaving the cache does", conv("a"), true, Admitted},
		{"leaving the cache unseen does", conv("a", func(c *polychromev1alpha1.Conversation) { c.UID, c.ResourceVersion = "", "" }), true, Admitted},
		{"an earlier incarnation leaving the cache does not", conv("a", another), true, Deferred},
		{"a version that cannot be compared counts", conv("a", closed, func(c *polychromev1alpha1.Conversation) { c.ResourceVersion = "x" }), false, Admitted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := New(1, newGeneration, (&woken{}).wake)
			if got := s.Reserve(conv("a"), false, start); got != Admitted {
				t.Fatalf("want %d, got %d", Admitted, got)
			}
			s.Observe(c.seen, c.deleted)
			if got := s.Reserve(conv("b"), false, start); got != c.want {
				t.Errorf("want %d, got %d", c.want, got)
			}
		})
	}
}

func TestOneRollsAgainInItsOwnSlot(t *testing.T) {
	s := New(1, newGeneration, (&woken{}).wake)
	s.Observe(conv("a", rolling, at(10)), false)
	if got := s.Reserve(conv("a", rolling, at(10)), false, start); got != Held {
		t.Errorf("want %d, got %d", Held, got)
	}
	s.Observe(conv("a", at(9)), false)
	if got := s.Reserve(conv("b"), false, start); got != Deferred {
		t.Error("an event from before the second teardown ended the slot")
	}
	s.Observe(conv("a", rolling, at(11)), false)
	s.Observe(conv("a", rolled, at(12)), false)
	if got := s.Reserve(conv("b"), false, start); got != Admitted {
		t.Errorf("want %d once the roll is over, got %d", Admitted, got)
	}
}

func TestRollingAgainTakesNoSecondSlot(t *testing.T) {
	s := New(2, newGeneration, (&woken{}).wake)
	s.Observe(conv("a", rolling, at(10)), false)
	s.Reserve(conv("a", rolling, at(10)), false, start)
	if got := s.Reserve(conv("b"), false, start); got != Admitted {
		t.Errorf("want %d, got %d", Admitted, got)
	}
}

func TestASlotThatIsGivenBackIsFree(t *testing.T) {
	s := New(1, newGeneration, (&woken{}).wake)
	s.Reserve(conv("a"), false, start)
	s.GiveBack(conv("a"))
	if got := s.Reserve(conv("b"), false, start); got != Admitted {
		t.Errorf("want %d, got %d", Admitted, got)
	}
}

func TestTheWaitingAreWokenInOrder(t *testing.T) {
	w := &woken{}
	s := New(2, newGeneration, w.wake)
	s.Reserve(conv("a"), false, start)
	s.Reserve(conv("b"), false, start)
	for _, name := range []string{"d", "c", "e", "f", "d"} {
		s.Reserve(conv(name), false, start)
	}
	s.Observe(conv("d", closed, at(11)), false)
	s.Observe(conv("e", rolled, at(11)), false)
	if diff := cmp.Diff([]string(nil), w.keys); diff != "" {
		t.Fatalf("woken though nothing is free (-want +got):\n%s", diff)
	}
	s.Observe(conv("a", rolled, at(11)), false)
	if diff := cmp.Diff([]string{"c"}, w.keys); diff != "" {
		t.Fatalf("woken for one slot (-want +got):\n%s", diff)
	}
	s.GiveBack(conv("b"))
	if diff := cmp.Diff([]string{"c", "f"}, w.keys); diff != "" {
		t.Errorf("woken for two slots (-want +got):\n%s", diff)
	}
}

func TestBusyConversationsTakeNoSlotForTenMinutes(t *testing.T) {
	s := New(1, newGeneration, (&woken{}).wake)
	ask := func(after time.Duration, busy bool, want Grant) {
		t.Helper()
		if got := s.Reserve(conv("a"), busy, start.Add(after)); got != want {
			t.Errorf("after %s: want %d, got %d", after, want, got)
		}
	}
	ask(0, true, Deferred)
	ask(10*time.Minute-time.Second, true, Deferred)
	if got := s.Reserve(conv("b"), false, start); got != Admitted {
		t.Fatal("a busy conversation that waits must not take a slot")
	}
	ask(10*time.Minute, true, Deferred)
	s.GiveBack(conv("b"))
	ask(10*time.Minute, true, Admitted)
}

func TestADeferralForBusynessEndsWithTheRoll(t *testing.T) {
	s := New(1, newGeneration, (&woken{}).wake)
	s.Reserve(conv("a"), true, start)
	s.Observe(conv("a", rolled, at(11)), false)
	if got := s.Reserve(conv("a", at(12)), true, start.Add(time.Hour)); got != Deferred {
		t.Errorf("want a fresh deferral, got %d", got)
	}
}

func TestConcurrentWishesNeverExceedTheLimit(t *testing.T) {
	const limit, conversations, rounds = 5, 40, 50
	w := &woken{}
	s := New(limit, newGeneration, w.wake)
	var mu sync.Mutex
	var rollingNow, most int
	var all sync.WaitGroup
	for i := range conversations {
		all.Go(func() {
			name := "c" + strconv.Itoa(i)
			for round := range rounds {
				version := 10 * (round + 1)
				if s.Reserve(conv(name, at(version)), false, start) == Deferred {
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
		})
	}
	all.Wait()
	if most > limit {
		t.Errorf("want at most %d at once, got %d", limit, most)
	}
	if taken := s.taken(); taken != 0 {
		t.Errorf("want every slot back, got %d taken", taken)
	}
}

func TestANamesakeInheritsNothing(t *testing.T) {
	s := New(1, newGeneration, (&woken{}).wake)
	s.Reserve(conv("a"), false, start)
	s.Observe(conv("a", another, at(11)), false)
	if got := s.Reserve(conv("b"), false, start); got != Admitted {
		t.Errorf("the slot of one that was replaced unseen: want it free, got %v", got)
	}
}
