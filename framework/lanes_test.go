package framework

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"
)

// laneWorld is lanes whose keys are urgent as told.
type laneWorld struct {
	*lanes
	hot map[Key]bool
	due []int
}

func newLaneWorld() *laneWorld {
	w := &laneWorld{hot: map[Key]bool{}}
	w.lanes = newLanes(testclock.NewFakeClock(time.Unix(1000, 0)), func(key Key) bool { return w.hot[key] },
		func(due int, _ time.Duration) { w.due = append(w.due, due) })
	return w
}

func (w *laneWorld) push(urgent bool, names ...string) {
	for _, name := range names {
		w.hot[Key{Name: name}] = urgent
		w.Push(Key{Name: name})
	}
}

func (w *laneWorld) drain() []string {
	var order []string
	for w.Len() > 0 {
		order = append(order, w.Pop().Name)
	}
	return order
}

func TestUrgentKeysGoAheadAndTheOthersStillGetTheirTurn(t *testing.T) {
	for name, c := range map[string]struct {
		others, urgent []string
		want           []string
	}{
		"first in, first out":                {others: []string{"a", "b"}, want: []string{"a", "b"}},
		"urgent ones go ahead, in order":     {others: []string{"a", "b"}, urgent: []string{"1", "2"}, want: []string{"1", "2", "a", "b"}},
		"seven in a row, then somebody else": {others: []string{"a", "b"}, urgent: names("u", 15), want: slices.Concat(names("u", 7), []string{"a"}, names("u", 14)[7:], []string{"b", "u14"})},
		"a herd does not hold up a newcomer": {others: names("o", 1000), urgent: []string{"new"}, want: append([]string{"new"}, names("o", 1000)...)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLaneWorld()
			w.push(false, c.others...)
			w.push(true, c.urgent...)
			if diff := cmp.Diff(c.want, w.drain()); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func names(prefix string, count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

func TestAWaitingKeyThatBecomesUrgentGoesAheadOnce(t *testing.T) {
	w := newLaneWorld()
	w.push(false, "a", "b", "c")
	w.Touch(Key{Name: "b"})
	w.hot[Key{Name: "c"}] = true
	w.Touch(Key{Name: "c"})
	w.Touch(Key{Name: "c"})
	if w.Len() != 3 {
		t.Errorf("want three keys, got %d", w.Len())
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, w.drain()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if last := w.due[len(w.due)-1]; last != 0 {
		t.Errorf("want the depth told down to none, got %v", w.due)
	}
}

// TestAKeyThatComesBackInAnotherLaneIsTakenOnce has a key leave a stale place
// behind in the lane that it has left.
func TestAKeyThatComesBackInAnotherLaneIsTakenOnce(t *testing.T) {
	w := newLaneWorld()
	w.push(false, "a", "b")
	w.hot[Key{Name: "b"}] = true
	w.Touch(Key{Name: "b"})
	if got := w.Pop().Name; got != "b" {
		t.Fatalf("want b first, got %s", got)
	}
	w.push(false, "c", "b")
	got := w.drain()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// TestANewObjectDoesNotWaitForAHerd lets two hundred periodic looks fall due
// at once for one worker.
func TestANewObjectDoesNotWaitForAHerd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		start := time.Now()
		f := runFleet(t, 1, func(key Key, pass int) outcome {
			if pass == 2 || key.Name == "new" {
				mu.Lock()
				order = append(order, key.Name)
				mu.Unlock()
			}
			time.Sleep(10 * time.Millisecond)
			if pass == 1 {
				// All fall due together, whenever their pass was.
				return outcome{wait: time.Minute - time.Since(start)}
			}
			return outcome{}
		})
		herd := names("o", 200)
		for _, name := range herd {
			f.begin(Key{Name: name}, false)
		}
		time.Sleep(time.Minute + 55*time.Millisecond)
		f.queue.add(Key{Name: "new"}, sourceCause(0))
		changed := herd[slices.IndexFunc(herd, func(name string) bool { return f.count(Key{Name: name}) == 1 })]
		f.queue.add(Key{Name: changed}, sourceCause(0))
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		at := slices.Index(order, "new")
		if at < 4 || at > 7 {
			t.Errorf("want the new object next, after those that were done already, got it at %d", at)
		}
		if at := slices.Index(order, changed); at < 5 || at > 8 {
			t.Errorf("want the changed object after it, got it at %d", at)
		}
		if len(order) != len(herd)+1 {
			t.Errorf("want everybody's turn once, got %d", len(order))
		}
	})
}

func TestTheWaitOfAKeyIsMeasured(t *testing.T) {
	var waits []time.Duration
	clock := testclock.NewFakeClock(time.Unix(0, 0))
	l := newLanes(clock, func(Key) bool { return false }, func(_ int, waited time.Duration) {
		if waited > 0 {
			waits = append(waits, waited)
		}
	})
	l.Push(thing)
	clock.Step(3 * time.Second)
	l.Pop()
	if diff := cmp.Diff([]time.Duration{3 * time.Second}, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}
