package workflow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// dense are n stages of which each depends on every one before it, or on every
// other one.
func dense(n int, cyclic bool) []workflowStage {
	stages := make([]workflowStage, n)
	for i := range stages {
		stages[i] = stage(fmt.Sprintf("s%02d", i))
		for j := range n {
			if j < i || (cyclic && j != i) {
				stages[i].DependsOn = append(stages[i].DependsOn, fmt.Sprintf("s%02d", j))
			}
		}
	}
	return stages
}

func TestGraphs(t *testing.T) {
	for name, c := range map[string]struct {
		stages      []workflowStage
		wantOrder   []string
		wantCircles [][]string
	}{
		"none":    {},
		"a chain": {stages: []workflowStage{stage("a", "b"), stage("b", "c"), stage("c")}, wantOrder: []string{"c", "b", "a"}},
		"a diamond": {
			stages:    []workflowStage{stage("end", "left", "right"), stage("left", "start"), stage("right", "start"), stage("start")},
			wantOrder: []string{"start", "left", "right", "end"},
		},
		"itself is no circle": {stages: []workflowStage{stage("a", "a")}, wantOrder: []string{"a"}},
		"nobody is no circle": {stages: []workflowStage{stage("a", "nobody")}, wantOrder: []string{"a"}},
		"twice is once":       {stages: []workflowStage{stage("a", "b", "b"), stage("b")}, wantOrder: []string{"b", "a"}},
		"a circle of two":     {stages: []workflowStage{stage("b", "a"), stage("a", "b")}, wantCircles: [][]string{{"a", "b"}}},
		"a circle of three":   {stages: []workflowStage{stage("c", "b"), stage("b", "a"), stage("a", "c")}, wantCircles: [][]string{{"a", "c", "b"}}},
		"two circles at once": {stages: []workflowStage{stage("d", "c"), stage("c", "d"), stage("b", "a"), stage("a", "b")}, wantCircles: [][]string{{"a", "b"}, {"c", "d"}}},
		"a circle behind a chain": {
			stages:      []workflowStage{stage("a", "b"), stage("b", "y"), stage("y", "z"), stage("z", "x"), stage("x", "y"), stage("ok")},
			wantOrder:   []string{"b", "a", "ok"},
			wantCircles: [][]string{{"x", "y", "z"}},
		},
		"two circles that share a stage are one knot": {
			stages:      []workflowStage{stage("a", "b"), stage("b", "a", "c"), stage("c", "b")},
			wantCircles: [][]string{{"a", "b"}},
		},
		"a circle split over two stages of a name": {
			stages: []workflowStage{stage("a"), stage("b", "a"), stage("a", "b")}, wantCircles: [][]string{{"a", "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				rand.Shuffle(len(c.stages), func(i, j int) { c.stages[i], c.stages[j] = c.stages[j], c.stages[i] })
				g := graphOf(c.stages)
				var order []string
				for _, i := range g.order() {
					order = append(order, g.stages[i].Name)
				}
				if diff := cmp.Diff(c.wantOrder, order); diff != "" {
					t.Errorf("order (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.wantCircles, g.circles(), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("circles (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Every order and every circle is right, whatever the graph.
func TestAnyGraph(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var stages []workflowStage
		n := 1 + r.IntN(9)
		for i := range n {
			s := stage(string(rune('a' + i)))
			for j := range n {
				if r.IntN(n+1) == 0 {
					s.DependsOn = append(s.DependsOn, string(rune('a'+j)))
				}
			}
			stages = append(stages, s)
		}
		g := graphOf(stages)
		order, circles := g.order(), g.circles()
		for at, i := range order {
			for _, j := range g.needs[i] {
				if before := slices.Index(order, j); before > at {
					t.Errorf("seed %d: %s comes before %s", seed, g.stages[i].Name, g.stages[j].Name)
				}
			}
		}
		for _, circle := range circles {
			for at, name := range circle {
				i := g.at[name]
				next := g.at[circle[(at+1)%len(circle)]]
				if !slices.Contains(g.needs[i], next) || name < circle[0] || len(circle) < 2 {
					t.Errorf("seed %d: %v is no circle from its first name on", seed, circle)
				}
			}
		}
		if knots := knotsOf(g); len(order)+knots.members != len(g.stages) || len(circles) != knots.count {
			t.Errorf("seed %d: want %+v, got order %v and circles %v", seed, knots, order, circles)
		}
	}
}

type knots struct{ count, members int }

// knotsOf finds out who can reach whom the slow way.
func knotsOf(g graph) knots {
	n := len(g.stages)
	reach := make([][]bool, n)
	for i := range n {
		reach[i] = make([]bool, n)
		for _, j := range g.needs[i] {
			reach[i][j] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	var found knots
	for i := range n {
		if reach[i][i] {
			found.members++
			if firstOf(reach, i) == i {
				found.count++
			}
		}
	}
	return found
}

// firstOf is the least member of a knot.
func firstOf(reach [][]bool, member int) int {
	for i := range member {
		if reach[i][member] && reach[member][i] {
			return i
		}
	}
	return member
}

// looks counts how often a dependency is looked at.
func looks(g graph) int {
	count := 0
	walk(len(g.stages), func(i int) []int {
		count += len(g.needs[i])
		return g.needs[i]
	})
	return count
}

func TestEachDependencyIsLookedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		cyclic bool
		want   int
	}{
		"64 stages, each on all before it": {false, 64 * 63 / 2},
		"64 stages, each on every other":   {true, 64 * 63},
	} {
		if got := looks(graphOf(dense(64, c.cyclic))); got != c.want {
			t.Errorf("%s: want %d looks, got %d", name, c.want, got)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, cyclic := range map[string]bool{"64 stages, each on all before it": false, "64 stages, each on every other": true} {
		b.Run(name, func(b *testing.B) {
			wf := flow(dense(64, cyclic)...)
			b.ReportAllocs()
			for b.Loop() {
				if _, broken := invalid(wf); broken != cyclic {
					b.Fatalf("want invalid %t", cyclic)
				}
			}
			b.ReportMetric(float64(looks(graphOf(wf.Spec.Stages))), "looks/op")
		})
	}
}
