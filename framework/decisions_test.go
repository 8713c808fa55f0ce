package framework

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// recordPass records a pass as a loop does.
func recordPass(l *decisionLog, key Key, uid types.UID, v visit, out outcome, start time.Time) {
	(&loop{loopOptions: loopOptions{name: "things", decisions: l}}).record(key, identity{uid: uid}, v, out, Decision{First: start, Last: start})
}

func TestTheRingOfDecisionsDoesNotGrow(t *testing.T) {
	l := newDecisionLog()
	start := time.Unix(1000, 0)
	const passes = 2*maxDecisions + 100
	for i := range passes {
		out := outcome{decision: "did", writes: 1}
		recordPass(l, Key{Namespace: "n", Name: fmt.Sprint("o", i)}, "u", visit{}, out, start)
	}
	if maxDecisions != 16384 || len(l.ring) != maxDecisions || cap(l.ring) > 2*maxDecisions {
		t.Errorf("want a ring of 16384, got %d of %d", len(l.ring), cap(l.ring))
	}
	if len(l.last) != maxDecisions {
		t.Errorf("want nothing remembered of what has left the ring, got %d", len(l.last))
	}
	all := l.of(func(*Decision) bool { return true })
	if len(all) != maxDecisions || all[0].Name != fmt.Sprint("o", passes-maxDecisions) || all[maxDecisions-1].Name != fmt.Sprint("o", passes-1) {
		t.Errorf("want the newest ones, oldest first, got %d from %s to %s", len(all), all[0].Name, all[len(all)-1].Name)
	}
	// An object whose decisions have left the ring begins anew, and does not
	// count on top of what has taken their place.
	recordPass(l, Key{Namespace: "n", Name: "o0"}, "u", visit{}, outcome{decision: "did"}, start)
	if again := l.of(func(d *Decision) bool { return d.Name == "o0" }); len(again) != 1 || again[0].Count != 1 {
		t.Errorf("want one decision of one pass, got %+v", again)
	}
}

func TestOnlyAlikePassesThatWroteNothingAreOneDecision(t *testing.T) {
	calm := pass{out: outcome{decision: "keep"}}
	for name, c := range map[string]struct {
		second pass
		want   int
	}{
		"alike":            {calm, 1},
		"another cause":    {pass{causes: causeTrigger, out: calm.out}, 2},
		"another object":   {pass{uid: "v", out: calm.out}, 2},
		"another decision": {pass{out: outcome{decision: "await"}}, 2},
		"other actions":    {pass{out: outcome{decision: "keep", actions: []string{"a"}}}, 2},
		"another outcome":  {pass{out: outcome{decision: "keep", wait: time.Second}}, 2},
		"an error":         {pass{out: outcome{decision: "keep", err: errFlapping}}, 2},
		"a write":          {pass{out: outcome{decision: "keep", writes: 1}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			l := newDecisionLog()
			for i, p := range []pass{calm, c.second} {
				recordPass(l, thing, p.uid, visit{causes: p.causes}, p.out, time.Unix(int64(i), 0))
			}
			if got := l.of(func(*Decision) bool { return true }); len(got) != c.want || got[0].Count != 3-c.want {
				t.Errorf("want %d decisions, got %+v", c.want, got)
			}
		})
	}
}

// pass is one as it is recorded.
type pass struct {
	causes causes
	uid    types.UID
	out    outcome
}
