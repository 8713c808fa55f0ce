package framework

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// loopWorld is a loop over one object whose passes end as told.
type loopWorld struct {
	*loop
	mu       sync.Mutex
	id       identity
	exists   bool
	asleep   bool
	passes   []time.Duration
	start    time.Time
	outcomes func(pass int) outcome
}

// runLoop runs a loop in virtual time until the test ends.
func runLoop(t *testing.T, outcomes func(pass int) outcome) *loopWorld {
	t.Helper()
	w := &loopWorld{id: identity{uid: "u", generation: 1}, exists: true, outcomes: outcomes, start: time.Now()}
	w.loop = testLoop(4)
	w.awake = func() bool { return locked(&w.mu, func() bool { return !w.asleep }) }
	w.identify = func(Key) (identity, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.id, w.exists
	}
	w.pass = func(context.Context, Key, visit) outcome {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.passes = append(w.passes, time.Since(w.start))
		return w.outcomes(len(w.passes))
	}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { w.run(ctx, t.Context()) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
	})
	return w
}

// testLoop makes a loop that lives by the real clock, or a bubble's.
func testLoop(workers int) *loop {
	return newLoop(loopOptions{
		name: "test", workers: workers, log: slog.New(slog.DiscardHandler), clock: clock.RealClock{},
		metrics: newMetrics("test", ""), decisions: newDecisionLog(),
	})
}

func locked[V any](mu *sync.Mutex, read func() V) V {
	mu.Lock()
	defer mu.Unlock()
	return read()
}

func (w *loopWorld) count() int {
	return locked(&w.mu, func() int { return len(w.passes) })
}

// event adds the key and waits until all that follows at once is over.
func (w *loopWorld) event() {
	w.queue.Add(thing)
	synctest.Wait()
}

func TestLoopRunsAPassPerEventAndComesBackAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(pass int) outcome { return outcome{wait: time.Duration(pass%2) * time.Minute} })
		w.event()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if got := w.count(); got != 1 {
			t.Errorf("passes before the wait is over: want 1, got %d", got)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{0, time.Minute}, w.passes); diff != "" {
			t.Errorf("passes (-want +got):\n%s", diff)
		}
		if !w.idle() {
			t.Error("want the loop idle")
		}
	})
}

func TestLoopParksAKeyUntilTheCacheHasSeenItsWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &fakeView{version: "10", cached: map[Key]sight{thing: {version: "10"}}}
		w := runLoop(t, func(pass int) outcome {
			if pass == 1 {
				return outcome{notes: []note{{kind: noteSeen, view: v, key: thing, version: "11"}}}
			}
			return outcome{}
		})
		w.event()
		for range 5 {
			w.event()
		}
		if got := w.count(); got != 1 {
			t.Errorf("passes while the cache is behind: want 1, got %d", got)
		}
		if w.idle() {
			t.Error("want a loop with a parked key not idle")
		}
		v.change(func() { v.version = "11" })
		w.event()
		if got := w.count(); got != 2 {
			t.Errorf("passes once the cache has caught up: want 2, got %d", got)
		}
		if !w.idle() || len(w.keys) != 0 || len(w.parked) != 0 {
			t.Errorf("want nothing remembered, got %d keys, %d parked", len(w.keys), len(w.parked))
		}
	})
}

func TestSweepWakesAKeyWhoseEventNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &fakeView{version: "10"}
		w := runLoop(t, func(int) outcome {
			return outcome{notes: []note{{kind: noteSeen, view: v, key: thing, version: "11"}}}
		})
		w.event()
		w.event()
		v.change(func() { v.version = "12" }) // as by a bookmark
		time.Sleep(2 * sweepEvery)
		synctest.Wait()
		if got := w.count(); got != 2 {
			t.Errorf("passes after a bookmark: want 2, got %d", got)
		}
	})
}

func TestLateWatchIsAskedAboutThenRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &fakeView{version: "10", cached: map[Key]sight{thing: {version: "10"}}, server: map[Key]sight{thing: {version: "11"}}}
		w := runLoop(t, func(int) outcome {
			return outcome{notes: []note{{kind: noteSeen, view: v, key: thing, version: "11"}}}
		})
		w.event()
		w.event()
		time.Sleep(probeAfter - sweepEvery)
		synctest.Wait()
		if probes, restarted := v.asked(); probes != 0 || restarted != 0 {
			t.Errorf("want no question in the first 2 s, got %d and %d restarts", probes, restarted)
		}
		time.Sleep(3 * sweepEvery)
		synctest.Wait()
		if probes, restarted := v.asked(); probes != 1 || restarted != 0 {
			t.Errorf("want one question and no restart after 2 s, got %d and %d", probes, restarted)
		}
		time.Sleep(restartAfter)
		synctest.Wait()
		if _, restarted := v.asked(); restarted != 1 {
			t.Errorf("want the watch restarted after 5 s, got %d restarts", restarted)
		}
		time.Sleep(restartPause - probeAfter)
		synctest.Wait()
		if _, restarted := v.asked(); restarted != 1 {
			t.Errorf("want a pause between restarts, got %d restarts", restarted)
		}
		if got := w.count(); got != 1 {
			t.Errorf("want the key parked all along, got %d passes", got)
		}
	})
}

func TestNoteThatWaitsInVainIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &fakeView{version: "10", server: map[Key]sight{thing: {version: "11", outOfScope: true}}}
		w := runLoop(t, func(pass int) outcome {
			if pass > 1 {
				return outcome{}
			}
			return outcome{notes: []note{{kind: noteSeen, view: v, key: thing, version: "11"}}}
		})
		w.event()
		w.event()
		time.Sleep(probeAfter + 4*sweepEvery)
		synctest.Wait()
		if got := w.count(); got != 2 {
			t.Errorf("want the key woken, got %d passes", got)
		}
		if _, restarted := v.asked(); restarted != 0 {
			t.Errorf("want no restart, got %d", restarted)
		}
	})
}

func TestConflictsParkAndOnlyARowOfThemBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &fakeView{cached: map[Key]sight{thing: {version: "1"}}, server: map[Key]sight{thing: {version: "2"}}}
		w := runLoop(t, func(pass int) outcome {
			return outcome{
				err:   &conflictError{errors.New("conflict")},
				notes: []note{{kind: noteMoved, view: v, key: thing, version: v.shown()}},
			}
		})
		w.event()
		if got := w.count(); got != 1 {
			t.Errorf("want the key parked at the version that conflicted, got %d passes", got)
		}
		for _, version := range []string{"2", "3"} {
			v.change(func() { v.cached[thing] = sight{version: version} })
			w.event()
		}
		if got := w.count(); got != 3 {
			t.Errorf("want a try at once for each new version, got %d passes", got)
		}
		v.change(func() { v.cached[thing] = sight{version: "4"} })
		w.event()
		v.change(func() { v.cached[thing] = sight{version: "5"} })
		w.event()
		if got := w.count(); got != 4 {
			t.Errorf("want the key to back off after %d conflicts in a row, got %d passes", conflictsBeforeBackoff, got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.count(); got != 5 {
			t.Errorf("want a try after the backoff, got %d passes", got)
		}
	})
}

func TestEventsDuringABackoffNeitherShortenNorLengthenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := errors.New("no route")
		w := runLoop(t, func(int) outcome { return outcome{err: fails} })
		w.event()
		for range 300 {
			time.Sleep(200 * time.Millisecond)
			w.event()
		}
		// 1+2+4+8 s, each jittered by up to a half, then the steady delay.
		if got := w.count(); got < 5 || got > 8 {
			t.Errorf("want 5 to 8 passes in the first minute, got %d at %v", got, w.passes)
		}
		steady := retryDelay(thing.String(), 5)
		before := w.count()
		time.Sleep(10 * steady)
		synctest.Wait()
		if got := w.count() - before; got < 9 || got > 11 {
			t.Errorf("want about one pass per %s, got %d in ten times that", steady, got)
		}
		w.mu.Lock()
		w.id.generation, before = 2, len(w.passes)
		w.mu.Unlock()
		w.event()
		if got := w.count() - before; got != 1 {
			t.Errorf("want a new generation tried at once, got %d passes", got)
		}
	})
}

func TestTerminalWaitsForANewGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(int) outcome { return outcome{err: Terminal("Bad", "no")} })
		w.event()
		time.Sleep(100 * time.Hour)
		w.event()
		if got := w.count(); got != 1 {
			t.Errorf("want one pass, got %d", got)
		}
		w.mu.Lock()
		w.exists = false
		w.mu.Unlock()
		w.event()
		if len(w.keys) != 0 {
			t.Errorf("want the verdict forgotten with the object, got %d keys", len(w.keys))
		}
	})
}

func TestThrottledComesBackWhenTheServerSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(pass int) outcome {
			if pass > 1 {
				return outcome{}
			}
			return outcome{err: apierrors.NewTooManyRequests("busy", 20), retryAfter: 20 * time.Second}
		})
		w.event()
		time.Sleep(20*time.Second - time.Millisecond)
		w.event()
		if got := w.count(); got != 1 {
			t.Errorf("want no try before the server's time, got %d passes", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.count(); got != 2 {
			t.Errorf("want a try after it, got %d passes", got)
		}
	})
}

func TestAsleepRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(int) outcome { return outcome{} })
		w.mu.Lock()
		w.asleep = true
		w.mu.Unlock()
		w.event()
		if got := w.count(); got != 0 {
			t.Errorf("want no pass, got %d", got)
		}
	})
}

func TestStopFinishesThePassInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := false
		ctx, stop := context.WithCancel(t.Context())
		w := &loopWorld{loop: testLoop(1)}
		w.awake = func() bool { return true }
		w.identify = func(Key) (identity, bool) { return identity{}, true }
		w.pass = func(ctx context.Context, _ Key, _ visit) outcome {
			select {
			case <-time.After(3 * time.Second):
				finished = true
			case <-ctx.Done():
			}
			return outcome{}
		}
		w.queue.Add(thing)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.run(ctx, t.Context())
		}()
		synctest.Wait()
		stop()
		<-ended
		if !finished {
			t.Error("want the pass in flight finished, not cut off")
		}
	})
}

func TestStopBeginsNoPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passes := 0
		ctx, stop := context.WithCancel(t.Context())
		l := testLoop(1)
		l.awake = func() bool { return true }
		l.identify = func(Key) (identity, bool) { return identity{}, true }
		l.pass = func(context.Context, Key, visit) outcome {
			passes++
			time.Sleep(time.Second)
			return outcome{}
		}
		for _, name := range []string{"a", "b", "c"} {
			l.queue.Add(Key{Name: name})
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.run(ctx, t.Context())
		}()
		synctest.Wait()
		stop()
		<-ended
		if passes != 1 {
			t.Errorf("want the pass in flight and none of those that were due, got %d", passes)
		}
	})
}
