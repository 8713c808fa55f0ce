package framework

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestRewritesOfSettledObjectsAreSpacedOut starts over a thousand settled
// objects that all want a write, and some other work.
func TestRewritesOfSettledObjectsAreSpacedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *fleet
		wrote := map[Key]time.Duration{}
		f = runFleet(t, 8, func(key Key, _ int) outcome {
			if wait := f.turn(key); wait > 0 {
				return outcome{paced: true, wait: wait}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if _, again := wrote[key]; again {
				return outcome{}
			}
			wrote[key] = time.Since(f.start)
			return outcome{writes: 1}
		})
		settled := names("settled", 1000)
		for _, name := range settled {
			f.begin(Key{Name: name}, true)
		}
		for _, name := range names("unsettled", 10) {
			f.begin(Key{Name: name}, false)
		}
		time.Sleep(5 * time.Second)
		f.event(Key{Name: "new"})
		f.event(Key{Name: "settled999"})
		time.Sleep(time.Minute)
		synctest.Wait()

		f.mu.Lock()
		defer f.mu.Unlock()
		perSecond, last := map[time.Duration]int{}, time.Duration(0)
		for _, name := range settled[:999] {
			at, written := wrote[Key{Name: name}]
			if !written {
				t.Fatalf("%s was never written", name)
			}
			perSecond[at.Truncate(time.Second)]++
			last = max(last, at)
		}
		for second, count := range perSecond {
			if count > 50 {
				t.Errorf("want at most 50 rewrites a second, got %d after %s", count, second)
			}
		}
		if last > 21*time.Second {
			t.Errorf("want all written in twenty seconds, got %s", last)
		}
		for _, name := range names("unsettled", 10) {
			if at := wrote[Key{Name: name}]; at > time.Second {
				t.Errorf("want what was not settled written at once, got %s after %s", name, at)
			}
		}
		for _, name := range []string{"new", "settled999"} {
			if at := wrote[Key{Name: name}]; at > 5*time.Second+100*time.Millisecond {
				t.Errorf("want new work done at once, got %s written after %s", name, at-5*time.Second)
			}
		}
		if got := f.backingOff(); got != 0 {
			t.Errorf("want nobody waiting for a turn, got %d", got)
		}
	})
}

func TestASettledObjectThatWantsNothingTakesNoTurn(t *testing.T) {
	p := pacer{}
	now := time.Unix(1000, 0)
	for i := range 100 {
		p.begin(Key{Name: fmt.Sprint(i)})
	}
	for i := range 99 {
		p.end(Key{Name: fmt.Sprint(i)})
	}
	if got := p.wait(now, Key{Name: "99"}); got != 0 {
		t.Errorf("want no wait for others that write nothing, got %s", got)
	}
	if got := p.wait(now, Key{Name: "stranger"}); got != 0 || len(p.turns) != 1 {
		t.Errorf("want new work never paced, got %s", got)
	}
}

// TestAPacedObjectKeepsItsTurn asks again before it has come.
func TestAPacedObjectKeepsItsTurn(t *testing.T) {
	p := pacer{}
	now := time.Unix(1000, 0)
	for _, name := range []string{"a", "b", "c"} {
		p.begin(Key{Name: name})
	}
	for range 3 {
		for i, name := range []string{"a", "b", "c"} {
			if got, want := p.wait(now, Key{Name: name}), time.Duration(i)*rewritesEvery; got != want {
				t.Errorf("want %s to wait %s, got %s", name, want, got)
			}
		}
	}
	if got := p.pending(); got != 3 {
		t.Errorf("want three waiting for their turn, got %d", got)
	}
	if got := p.wait(now.Add(time.Minute), Key{Name: "c"}); got != 0 {
		t.Errorf("want the turn come, got %s", got)
	}
}
