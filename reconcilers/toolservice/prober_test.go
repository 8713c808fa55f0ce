package toolservice

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

func at(name string) option {
	return func(ts *polychromev1alpha1.ToolService) {
		named(name)(ts)
		ts.Spec.Remotes[0].URL = "http://" + name + ".tools/mcp"
	}
}

// calls records when each URL was probed. It is safe for concurrent use.
type calls struct {
	mu    sync.Mutex
	began time.Time
	times map[string][]time.Duration
}

func newCalls() *calls { return &calls{began: time.Now(), times: map[string][]time.Duration{}} }

func (c *calls) add(url string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[url] = append(c.times[url], time.Since(c.began))
	return len(c.times[url])
}

func (c *calls) of(name string) []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times["http://"+name+".tools/mcp"]
}

func TestAHangingServerDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := newCalls()
		h := newHouse(t, func(ctx context.Context, target probe.Target) probe.Result {
			made.add(target.URL)
			if target.URL == "http://hangs.tools/mcp" {
				<-ctx.Done()
			}
			return good(two...)
		})
		h.has(held(at("hangs")))
		for i := range 100 {
			h.has(held(at(nth(i))))
		}
		h.run(10 * time.Minute)
		for i := range 100 {
			probes := made.of(nth(i))
			if len(probes) < 10 || probes[0] != 0 {
				t.Errorf("%s: want a probe at once and ten in ten minutes, got %v", nth(i), probes)
			}
			if h.get(nth(i)).Status.Phase != polychromev1alpha1.ToolServiceReady || h.writes[nth(i)] != 1 {
				t.Errorf("%s: want one write, ready, got %d, %+v", nth(i), h.writes[nth(i)], saidBy(h.get(nth(i))))
			}
		}
		if len(made.of("hangs")) != 1 {
			t.Errorf("want one probe that hangs, got %v", made.of("hangs"))
		}
	})
}

func TestAtMostTwentyProbesRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		h := newHouse(t, func(context.Context, probe.Target) probe.Result {
			most.Store(max(most.Load(), running.Add(1)))
			<-time.After(time.Second)
			running.Add(-1)
			return good(two...)
		})
		for i := range 95 {
			h.has(held(at(nth(i)), every(600)))
		}
		h.run(time.Millisecond)
		if !h.r.Probes().Busy() {
			t.Error("it says that no probe is under way")
		}
		h.run(5 * time.Second)
		if h.r.Probes().Busy() || most.Load() != 20 {
			t.Errorf("want 95 probes by twenties in five seconds, got %d at once, busy %t", most.Load(), h.r.Probes().Busy())
		}
	})
}

func TestRefusedConnectionsAreTriedAsTheScheduleSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := newCalls()
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			made.add(target.URL)
			return refused
		})
		h.has(held(at("down")))
		h.run(5 * time.Minute)
		var want []time.Duration
		var m Memory
		for next := time.Duration(0); next < 5*time.Minute; {
			want = append(want, next)
			m = m.ended(*failed(refused.Reason, 0))
			next += pace(held(at("down")), m.Last)
		}
		if diff := cmp.Diff(want, made.of("down")); diff != "" {
			t.Errorf("probes (-want +got):\n%s", diff)
		}
		if n := len(want); n < 6 || n > 8 {
			t.Errorf("want about seven in five minutes, got %d", n)
		}
		if h.writes["down"] != 1 {
			t.Errorf("want one write, got %d", h.writes["down"])
		}
	})
}

func TestAServerThatGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		h := newHouse(t, func(context.Context, probe.Target) probe.Result {
			if down.Load() {
				return refused
			}
			return good(two...)
		})
		h.has(held())
		h.run(time.Minute)
		down.Store(true)
		// The interval, and two tries after 5 and 10 s.
		h.run(85 * time.Second)
		if got := saidBy(h.get("weather")); got.Phase != polychromev1alpha1.ToolServiceUnreachable || len(got.Tools) != 2 {
			t.Errorf("want it unreachable, its list kept, got %+v", got)
		}
		down.Store(false)
		h.run(24 * time.Second)
		if got := saidBy(h.get("weather")); got.Phase != polychromev1alpha1.ToolServiceReady || h.writes["weather"] != 3 {
			t.Errorf("want it ready with the third write, got %d, %+v", h.writes["weather"], got)
		}
		if len(h.events) != 0 {
			t.Errorf("want no event, got %v", h.events)
		}
	})
}

func TestAShuffledCatalogueIsNotWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := many(300, nil)
		r := rand.New(rand.NewPCG(1, 1))
		h := newHouse(t, func(context.Context, probe.Target) probe.Result {
			r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
			return good(tools...)
		})
		h.has(held())
		h.run(time.Hour)
		if h.writes["weather"] != 1 || len(h.events) != 0 {
			t.Errorf("want one write and no event, got %d and %v", h.writes["weather"], h.events)
		}
	})
}

func TestAPanicOverAnAnswerEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, func(context.Context, probe.Target) probe.Result { panic("token") })
		h.has(held())
		h.run(time.Second)
		got := h.objects[keyOf(held())].Status
		if got.Ready || got.Phase != polychromev1alpha1.ToolServiceDegraded || got.Message != "what the server sent could not be read" {
			t.Errorf("want what cannot be read said of the server, got %+v", got)
		}
	})
}

func TestASpecThatChangesWhileAProbeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gaveUp atomic.Int32
		h := newHouse(t, func(ctx context.Context, target probe.Target) probe.Result {
			if target.URL == "http://old.tools/mcp" {
				<-ctx.Done()
				gaveUp.Add(1)
				return good(tool("of the old one"))
			}
			return good(two...)
		})
		h.has(held(at("old")))
		h.run(3 * time.Second)
		h.has(held(at("old"), generation(2), remotes(remote("", "http://new.tools/mcp"))))
		h.run(time.Second)
		if got := saidBy(h.get("old")); got.Observed != 2 || got.ToolCount != 2 || gaveUp.Load() != 1 {
			t.Errorf("want the tools of the new one, the old probe given up, got %d, %+v", gaveUp.Load(), got)
		}
	})
}

func TestAProbeThatIsOvertakenIsThrownAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			asked.Add(1)
			// It does not listen to anybody.
			<-time.After(time.Minute)
			return good(tool(target.URL))
		})
		h.has(held(at("one")))
		h.run(59 * time.Second)
		h.has(held(at("one"), generation(2), remotes(remote("", "http://two.tools/mcp"))))
		h.run(30 * time.Second)
		if got := h.get("one").Status; got.ObservedGeneration != 0 {
			t.Errorf("want nothing said before the second probe has ended, got %+v", got)
		}
		h.run(31 * time.Second)
		if got := h.get("one").Status; got.ObservedGeneration != 2 || got.Tools[0].Name != "http://two.tools/mcp" {
			t.Errorf("want what the second probe found, got %+v", got)
		}
		if got := asked.Load(); got != 2 {
			t.Errorf("want two probes, got %d", got)
		}
	})
}

func TestTheAnnotationAsksForAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := newCalls()
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			made.add(target.URL)
			return good(two...)
		})
		h.has(held(at("a"), every(86_400)))
		h.run(time.Minute)
		h.has(held(at("a"), every(86_400), annotated("now")))
		h.run(time.Minute)
		h.has(held(at("a"), every(86_400), annotated("now"), foreign))
		h.run(time.Minute)
		if diff := cmp.Diff([]time.Duration{0, time.Minute}, made.of("a")); diff != "" {
			t.Errorf("probes (-want +got):\n%s", diff)
		}
	})
}

func TestARestartProbesEachOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := newCalls()
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			if made.add(target.URL) < 3 {
				return refused
			}
			return good(two...)
		})
		const fleet = 200
		at := func(i int) *polychromev1alpha1.ToolService {
			return told(polychromev1alpha1.ReasonCatalogListed, at(nth(i)), every(600))
		}
		for i := range fleet {
			h.has(at(i))
		}
		h.run(10*time.Minute + time.Second)
		early := 0
		for i := range fleet {
			probes := made.of(nth(i))
			if len(probes) == 0 {
				t.Fatalf("%s was not probed within its interval", nth(i))
			}
			if probes[0] < time.Minute {
				early++
			}
		}
		if early < fleet/20 || early > fleet/5 {
			t.Errorf("want about a tenth in the first of ten minutes, got %d of %d", early, fleet)
		}
		h.run(time.Minute)
		for i := range fleet {
			// Two failures in a row do not count, though this process has never
			// seen the server well.
			if h.get(nth(i)).Status.Phase != polychromev1alpha1.ToolServiceReady || h.writes[nth(i)] > 1 {
				t.Fatalf("%s: got %d writes, %+v", nth(i), h.writes[nth(i)], saidBy(h.get(nth(i))))
			}
		}
	})
}

func TestWhatTheCacheDoesNotHaveIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gaveUp atomic.Int32
		h := newHouse(t, func(ctx context.Context, _ probe.Target) probe.Result {
			<-ctx.Done()
			gaveUp.Add(1)
			return good(two...)
		})
		known := h.r.prober.known
		unknown := held()
		if _, err := h.r.Act(t.Context(), unknown, Action{Kind: Probe}); err != nil || h.r.Probes().Busy() || len(known) != 0 {
			t.Errorf("want nothing begun, got %v, %v", err, known)
		}
		h.has(unknown)
		h.run(1)
		h.services.loses(held(func(ts *polychromev1alpha1.ToolService) { ts.UID = "another" }))
		if len(known) != 1 {
			t.Error("the end of another object of that name has it forgotten")
		}
		h.services.loses(&polychromev1alpha1.ToolService{ObjectMeta: unknown.ObjectMeta})
		synctest.Wait()
		if len(known) != 0 || gaveUp.Load() != 1 || len(h.due) != 0 {
			t.Errorf("want it forgotten and its probe given up, got %v, %d, %d due", known, gaveUp.Load(), len(h.due))
		}
		h.has(held())
		h.run(1)
		h.has(held(func(ts *polychromev1alpha1.ToolService) { ts.UID = "another" }))
		h.run(1)
		if gaveUp.Load() != 2 || known[keyOf(unknown)].uid != "another" {
			t.Errorf("want another object of that name to begin anew, got %d, %+v", gaveUp.Load(), known[keyOf(unknown)])
		}
		if _, err := h.r.Act(t.Context(), held(), Action{Kind: Probe}); err != nil || h.r.prober.look(held()).Flight != nil {
			t.Errorf("want nothing done for the one before, got %v", err)
		}
		nameless := &polychromev1alpha1.ToolService{}
		nameless.Namespace, nameless.Name = unknown.Namespace, unknown.Name
		h.services.loses(nameless)
		if len(known) != 0 {
			t.Error("want it forgotten by its name")
		}
	})
}

func TestProbesEndWithTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		h := newHouse(t, func(ctx context.Context, _ probe.Target) probe.Result {
			asked.Add(1)
			<-ctx.Done()
			return refused
		})
		for i := range 50 {
			h.has(held(at(nth(i))))
		}
		h.run(time.Second)
		h.end()
		if h.r.Probes().Busy() {
			t.Error("a probe has outlived the process")
		}
		if len(h.due) != 0 {
			t.Errorf("%d passes are asked for that nobody makes", len(h.due))
		}
		before := asked.Load()
		for i := range 50 {
			h.has(held(at("late-" + nth(i))))
		}
		h.run(time.Second)
		if asked.Load() != before || h.r.Probes().Busy() {
			t.Errorf("%d probes have begun after the end", asked.Load()-before)
		}
	})
}
