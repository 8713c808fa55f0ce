package framework

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// fleet is a loop over many objects whose passes end as told.
type fleet struct {
	*loop
	mu     sync.Mutex
	start  time.Time
	ids    map[Key]identity
	passes map[Key][]time.Duration
}

// runFleet runs a loop in virtual time until the test ends. Every key has an
// object whose UID is its name, unless ids has another.
func runFleet(t *testing.T, workers int, ends func(key Key, pass int) outcome) *fleet {
	t.Helper()
	f := &fleet{start: time.Now(), ids: map[Key]identity{}, passes: map[Key][]time.Duration{}}
	f.loop = testLoop(workers)
	f.awake = func() bool { return true }
	f.identify = func(key Key) (identity, bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if id, known := f.ids[key]; known {
			return id, id.uid != ""
		}
		return identity{uid: types.UID(key.Name), generation: 1}, true
	}
	f.pass = func(_ context.Context, key Key, _ visit) outcome {
		f.mu.Lock()
		f.passes[key] = append(f.passes[key], time.Since(f.start))
		pass := len(f.passes[key])
		f.mu.Unlock()
		return ends(key, pass)
	}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { f.run(ctx, t.Context()) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
	})
	return f
}

// shows has the cache show another object, or with an empty UID none.
func (f *fleet) shows(key Key, id identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids[key] = id
}

func (f *fleet) count(key Key) int {
	return locked(&f.mu, func() int { return len(f.passes[key]) })
}

// event tells of a change and waits until all that follows at once is over.
func (f *fleet) event(key Key) {
	f.queue.add(key, sourceCause(0))
	synctest.Wait()
}

var errOutage = errors.New("no route to host")

// TestAFleetThatFailsTogetherDoesNotRetryTogether has an outage hit a thousand
// objects at one moment. Each gets twenty events that mean nothing while it
// waits.
func TestAFleetThatFailsTogetherDoesNotRetryTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := runFleet(t, 8, func(Key, int) outcome { return outcome{err: errOutage} })
		for i := range 1000 {
			f.begin(Key{Namespace: "n", Name: fmt.Sprintf("conversation-%d", i)}, false)
		}
		for range 20 {
			time.Sleep(time.Duration(1000+rand.N(30000)) * time.Millisecond)
			for i := range 1000 {
				f.queue.add(Key{Namespace: "n", Name: fmt.Sprintf("conversation-%d", i)}, sourceCause(0))
			}
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		low, high := time.Hour, time.Duration(0)
		for key, passes := range f.passes {
			for i := 5; i < len(passes); i++ {
				gap := passes[i] - passes[i-1]
				if gap != retryDelay(key.String(), i) {
					t.Fatalf("want %s tried every %s, got %s between tries %d and %d", key, retryDelay(key.String(), i), gap, i, i+1)
				}
				low, high = min(low, gap), max(high, gap)
			}
		}
		if low < 10*time.Second || high > 60*time.Second || high-low < 45*time.Second {
			t.Errorf("want the steady retries spread over [10 s, 60 s], got [%s, %s]", low, high)
		}
	})
}

// TestAVerdictDiesWithItsObject recreates, or changes, an object that nothing
// but new input can help. The end of the old one need not be noticed.
func TestAVerdictDiesWithItsObject(t *testing.T) {
	for name, id := range map[string]identity{
		"a namesake":                       {uid: "another", generation: 1},
		"a new generation":                 {uid: "thing", generation: 2},
		"an object that was mended":        {uid: "thing", generation: 1, broken: true},
		"a schema that may have the field": {uid: "thing", generation: 1, epoch: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := runFleet(t, 1, func(Key, int) outcome { return outcome{err: Terminal("Bad", "no")} })
				f.event(thing)
				for range 20 {
					time.Sleep(time.Minute)
					f.event(thing)
				}
				if got := f.count(thing); got != 1 {
					t.Errorf("want one pass before the change, got %d", got)
				}
				f.shows(thing, id)
				f.event(thing)
				f.event(thing)
				if got := f.count(thing); got != 2 {
					t.Errorf("want one more pass after it, got %d", got-1)
				}
			})
		})
	}
}

// TestPeriodicLooksAreNoHerd compares the busiest second with the
// mean of the whole period.
func TestPeriodicLooksAreNoHerd(t *testing.T) {
	const objects, period = 10_000, 5 * time.Minute
	w := newPassWorld(t, &scripted{})
	synctest.Test(t, func(t *testing.T) {
		w.clock = clock.RealClock{}
		f := runFleet(t, 8, func(key Key, _ int) outcome {
			svc := w.svc.DeepCopy()
			svc.UID = types.UID("uid-of-" + key.Name)
			_, wait, err := w.act(t.Context(), svc, Plan[string]{Wait: period, Spread: true})
			return outcome{wait: wait, err: err}
		})
		for i := range objects {
			f.begin(Key{Namespace: "n", Name: fmt.Sprint("thing-", i)}, true)
		}
		time.Sleep(3 * period)
		synctest.Wait()
		buckets := map[time.Duration]int{}
		for _, passes := range f.passes {
			for _, at := range passes[1:] {
				buckets[at.Truncate(time.Second)]++
			}
		}
		mean, busiest := objects/int(period/time.Second), 0
		for _, count := range buckets {
			busiest = max(busiest, count)
		}
		if busiest > 2*mean {
			t.Errorf("want no second with more than twice the mean of %d looks, got %d", mean, busiest)
		}
	})
}
