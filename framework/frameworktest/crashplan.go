package frameworktest

import (
	"fmt"
	"maps"
	"slices"
)

// Point is a moment of a write at which the program is hit.
type Point int

// The points. At the first three the program is killed: nothing of it is sent
// any more, everything it knew is forgotten, and a new life begins. At the
// last it lives on.
const (
	// BeforeSend kills it before the write is sent.
	BeforeSend Point = iota
	// AfterCommit kills it when the API server has carried the write out and
	// the answer has not been read.
	AfterCommit
	// AfterReply kills it when it has the answer.
	AfterReply
	// ErrorThoughCommitted gives an error for a write that was carried out:
	// a reset connection to odd ones, a status 500 to even ones.
	ErrorThoughCommitted
)

// String names the point.
func (p Point) String() string {
	return [...]string{"killed before it is sent", "killed before its answer is read", "killed after its answer", "an error though committed"}[p]
}

// plan is where a run is disturbed; the zero plan nowhere.
type plan struct {
	write int
	point Point
}

func (p plan) String() string {
	if p.write == 0 {
		return "undisturbed"
	}
	return fmt.Sprintf("write %d: %s", p.write, p.point)
}

func (s *stage) plans(writes int) []plan {
	var plans []plan
	for write := 1; write <= writes; write++ {
		for _, point := range s.Points {
			plans = append(plans, plan{write: write, point: point})
		}
	}
	return plans
}

// outcome is what one run came to.
type outcome struct {
	state string
	// attempts is how many writes the program began.
	attempts int
	// hit is the write at which the program was hit.
	hit Request
	// committed counts the writes carried out, by verb and object.
	committed map[string]int
	// broken are invariants that did not hold.
	broken []error
	// restless are writes of a fresh program on the settled state.
	restless []Request
	err      error
}

func (o outcome) writes() int {
	total := 0
	for _, n := range o.committed {
		total += n
	}
	return total
}

// judge says what is wrong with a run.
func (s *stage) judge(p plan, want, got outcome) []Failure {
	var failures []Failure
	fail := func(diff, format string, args ...any) {
		failures = append(failures, Failure{Write: p.write, Point: p.point, Request: got.hit, What: fmt.Sprintf(format, args...), Diff: diff})
	}
	for _, err := range got.broken {
		fail("", "%v", err)
	}
	if got.err != nil {
		fail("", "%v", got.err)
		return failures
	}
	if diff := lineDiff(want.state, got.state); diff != "" {
		fail(diff, "it ends differently")
	}
	for _, r := range got.restless {
		fail("", "a fresh program on the settled state does %s %s %s", r.Verb, r.Resource, r.Name)
	}
	if more := got.writes() - want.writes(); more > s.Allowance {
		fail("", "%d writes instead of %d", got.writes(), want.writes())
	}
	for _, object := range slices.Sorted(maps.Keys(got.committed)) {
		if n := got.committed[object]; n > want.committed[object]+s.Allowance {
			fail("", "%d times %s instead of %d", n, object, want.committed[object])
		}
	}
	return failures
}
