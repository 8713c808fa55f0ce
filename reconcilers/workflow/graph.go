package workflow

import (
	"slices"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// graph is the stages of a spec by what they depend on. It is the same in
// whatever order the spec lists them.
type graph struct {
	// stages are in the order of their names, one of each name.
	stages []polychromev1alpha1.WorkflowStage
	// at has the index of each, by name.
	at map[string]int
	// needs has for each stage those that it depends on, in order: stages that
	// there are, none twice, and never itself.
	needs [][]int
}

func graphOf(spec []polychromev1alpha1.WorkflowStage) graph {
	g := graph{stages: distinct(spec), at: make(map[string]int, len(spec))}
	slices.SortFunc(g.stages, func(a, b polychromev1alpha1.WorkflowStage) int { return strings.Compare(a.Name, b.Name) })
	for i := range g.stages {
		g.at[g.stages[i].Name] = i
	}
	g.needs = make([][]int, len(g.stages))
	for s := range spec {
		i := g.at[spec[s].Name]
		for _, name := range spec[s].DependsOn {
			if j, found := g.at[name]; found && j != i {
				g.needs[i] = append(g.needs[i], j)
			}
		}
	}
	for i := range g.needs {
		slices.Sort(g.needs[i])
		g.needs[i] = slices.Compact(g.needs[i])
	}
	return g
}

// distinct are the stages in the order of the spec, without those whose name
// has come before.
func distinct(spec []polychromev1alpha1.WorkflowStage) []polychromev1alpha1.WorkflowStage {
	seen := make(map[string]bool, len(spec))
	stages := make([]polychromev1alpha1.WorkflowStage, 0, len(spec))
	for i := range spec {
		if !seen[spec[i].Name] {
			stages = append(stages, spec[i])
		}
		seen[spec[i].Name] = true
	}
	return stages
}

// order is the indexes of the stages, each after those that it depends on.
func (g graph) order() []int {
	order, _ := walk(len(g.stages), func(i int) []int { return g.needs[i] })
	return order
}

// circles are cycles of names, one for each knot of stages that all depend on
// each other. Each begins, and they are sorted, by its first name.
func (g graph) circles() [][]string {
	_, circles := walk(len(g.stages), func(i int) []int { return g.needs[i] })
	slices.SortFunc(circles, slices.Compare)
	named := make([][]string, 0, len(circles))
	for _, circle := range circles {
		names := make([]string, 0, len(circle))
		for _, i := range circle {
			names = append(names, g.stages[i].Name)
		}
		named = append(named, names)
	}
	return named
}

// walk visits each of n nodes once and looks at what it needs once. order has
// the nodes that are in no cycle, each after those that it needs. Of every
// knot, a set of nodes that all need each other, circles has one way around,
// from its least node on. It is Tarjan's algorithm.
func walk(n int, needs func(int) []int) (order []int, circles [][]int) {
	w := walker{
		needs: needs, number: make([]int, n), low: make([]int, n), parent: make([]int, n), closing: make([]int, n),
		open: make([]bool, n), entered: make([]bool, n),
	}
	for i := range n {
		if w.number[i] == 0 {
			w.visit(i)
		}
	}
	return w.order, w.circles
}

type walker struct {
	needs func(int) []int
	// number counts the nodes in the order in which they are found, from 1;
	// low is the least number that a node of the same knot is known to have.
	number, low []int
	// parent is from where a node was found. closing is the first node, found
	// by way of this one, that needs this one: the end of a way around.
	parent, closing []int
	// open nodes are on the stack: their knot is not complete. Entered ones are
	// on the way to the node that is being looked at.
	open, entered []bool
	stack, order  []int
	circles       [][]int
	found         int
}

func (w *walker) visit(v int) {
	w.found++
	w.number[v], w.low[v], w.closing[v] = w.found, w.found, -1
	w.open[v], w.entered[v] = true, true
	w.stack = append(w.stack, v)
	for _, next := range w.needs(v) {
		switch {
		case w.number[next] == 0:
			w.parent[next] = v
			w.visit(next)
			w.low[v] = min(w.low[v], w.low[next])
		case w.open[next]:
			w.low[v] = min(w.low[v], w.number[next])
			if w.entered[next] && w.closing[next] < 0 {
				w.closing[next] = v
			}
		}
	}
	w.entered[v] = false
	if w.low[v] == w.number[v] {
		w.complete(v)
	}
}

// complete takes the knot that was entered at v off the stack.
func (w *walker) complete(v int) {
	from := len(w.stack)
	for closed := -1; closed != v; {
		from--
		closed = w.stack[from]
		w.open[closed] = false
	}
	alone := from == len(w.stack)-1
	w.stack = w.stack[:from]
	if alone {
		w.order = append(w.order, v)
		return
	}
	var circle []int
	for node := w.closing[v]; node != v; node = w.parent[node] {
		circle = append(circle, node)
	}
	circle = append(circle, v)
	slices.Reverse(circle)
	first := slices.Index(circle, slices.Min(circle))
	w.circles = append(w.circles, slices.Concat(circle[first:], circle[:first]))
}
