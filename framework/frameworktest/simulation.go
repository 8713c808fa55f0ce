package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"k8s.io/utils/dump"

	"polychrome.dev/controller/framework"
)

// Rounds is how many passes a plan has to become empty, from any world.
const Rounds = 6

// Simulation plays passes of a reconciler's pure parts over a model of its
// world, in which actions and status writes have their effect at once. It
// needs no API server, so that thousands of worlds can be tried.
type Simulation[T framework.Object, W, A any] struct {
	// Now is the time of the next pass.
	Now time.Time
	// Object and World are what the next pass sees. An Object of nil is gone.
	Object T
	World  W
	// Plan and Status are the reconciler's own. Required.
	Plan   func(now time.Time, obj T, world W) framework.Plan[A]
	Status func(now time.Time, obj T, world W, done []framework.Done[A]) T
	// Do is the model of Act: it gives Object and World of s the effect of an
	// action, on copies where they are pointers. Required.
	Do func(s *Simulation[T, W, A], action A) (framework.Result, error)
	// Fail is asked before each action; an error is what becomes of it. Nil
	// lets all succeed.
	Fail func(A) error
	// Same tells whether two actions are one that is repeated. Nil compares
	// all of them.
	Same func(a, b A) bool
}

// Pass is what happened in one pass of a simulation.
type Pass[T framework.Object, A any] struct {
	// Plan is what was decided.
	Plan framework.Plan[A]
	// Done are the actions that were tried; the last may have failed.
	Done []framework.Done[A]
	// Before is the object as the pass saw it, After with the status that the
	// pass gave it; the same if that changed nothing.
	Before, After T
}

// Busy reports whether anything happened.
func (p Pass[T, A]) Busy() bool { return len(p.Plan.Actions) > 0 || p.Before != p.After }

// Pass runs one pass, in the order of the framework.
func (s *Simulation[T, W, A]) Pass() Pass[T, A] {
	obj, world := s.Object, s.World
	pass := Pass[T, A]{Plan: s.Plan(s.Now, obj, world), Before: obj, After: obj}
	for _, action := range pass.Plan.Actions {
		done := framework.Done[A]{Action: action}
		if s.Fail != nil {
			done.Err = s.Fail(action)
		}
		if done.Err == nil {
			done.Result, done.Err = s.Do(s, action)
		}
		pass.Done = append(pass.Done, done)
		if done.Err != nil {
			break
		}
	}
	if s.Gone() {
		return pass
	}
	if said := s.Status(s.Now, obj, world, pass.Done); said != obj && !reflect.DeepEqual(statusOf(said), statusOf(obj)) {
		pass.After = said
		s.Object = s.Object.DeepCopyObject().(T)
		reflect.ValueOf(s.Object).Elem().FieldByName("Status").Set(reflect.ValueOf(said).Elem().FieldByName("Status"))
	}
	return pass
}

// statusOf reaches the field that every kind with a status has.
func statusOf[T framework.Object](obj T) any {
	field := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !field.IsValid() {
		panic(fmt.Sprintf("frameworktest: %T has no field Status", obj))
	}
	return field.Interface()
}

// Gone reports whether the object is gone.
func (s *Simulation[T, W, A]) Gone() bool {
	var none T
	return s.Object == none
}

// Settle runs passes until nothing happens in one, or the object is gone; an
// error if that takes more than so many.
func (s *Simulation[T, W, A]) Settle(rounds int) ([]Pass[T, A], error) {
	var passes []Pass[T, A]
	for range rounds {
		pass := s.Pass()
		passes = append(passes, pass)
		if s.Gone() || !pass.Busy() {
			return passes, nil
		}
	}
	return passes, fmt.Errorf("not settled after %d passes; tried so far: %v", rounds, tried(passes))
}

func tried[T framework.Object, A any](passes []Pass[T, A]) []string {
	var actions []string
	for _, pass := range passes {
		for _, done := range pass.Done {
			actions = append(actions, fmt.Sprintf("%v: %v", done.Action, done.Err))
		}
	}
	return actions
}

// PlanTwice says what is wrong with the plans of a reconciler from one world
// on: Plan and Status must give the same twice and leave their arguments
// alone, and within six passes must come one in which nothing happens, while
// no action is planned a second time. It plays the simulation to that end.
func PlanTwice[T framework.Object, W, A any](s *Simulation[T, W, A]) error {
	same := s.Same
	if same == nil {
		same = func(a, b A) bool { return reflect.DeepEqual(a, b) }
	}
	var actions []A
	for range Rounds {
		if err := s.pure(); err != nil {
			return err
		}
		pass := s.Pass()
		for _, action := range pass.Plan.Actions {
			for _, earlier := range actions {
				if same(action, earlier) {
					return fmt.Errorf("the action %v is repeated; before it: %v", action, actions)
				}
			}
			actions = append(actions, action)
		}
		if s.Gone() || !pass.Busy() {
			return nil
		}
	}
	return fmt.Errorf("not settled after %d passes; planned so far: %v", Rounds, actions)
}

// pure plans and judges the present world twice.
func (s *Simulation[T, W, A]) pure() error {
	before, exact := s.dumped()
	changed := func() (diff string, is bool) {
		// Only the exact one has the keys of maps in order.
		now, present := s.dumped()
		return lineDiff(before, now), present != exact
	}
	one, two := s.Plan(s.Now, s.Object, s.World), s.Plan(s.Now, s.Object, s.World)
	if !reflect.DeepEqual(one, two) {
		return fmt.Errorf("two plans of one world differ (-one +two):\n%s", lineDiff(dump.Pretty(one), dump.Pretty(two)))
	}
	if diff, is := changed(); is {
		return fmt.Errorf("planning changed the object or the world (-before +after):\n%s", diff)
	}
	said, again := s.Status(s.Now, s.Object, s.World, nil), s.Status(s.Now, s.Object, s.World, nil)
	if !reflect.DeepEqual(said, again) {
		return fmt.Errorf("two statuses of one world differ (-one +two):\n%s", lineDiff(dump.Pretty(said), dump.Pretty(again)))
	}
	if diff, is := changed(); is {
		return fmt.Errorf("judging changed the object or the world (-before +after):\n%s", diff)
	}
	return nil
}

// dumped is the present world, for people and to compare.
func (s *Simulation[T, W, A]) dumped() (pretty, exact string) {
	all := []any{s.Object, s.World}
	return dump.Pretty(all), dump.ForHash(all)
}

// PlanTwiceFrom runs PlanTwice from many random worlds and fails the test at
// the first that is wrong. A world follows from its seed alone.
func PlanTwiceFrom[T framework.Object, W, A any](t testing.TB, worlds int, world func(*rand.Rand) *Simulation[T, W, A]) {
	t.Helper()
	for seed := range uint64(worlds) {
		s := world(rand.New(rand.NewPCG(seed, 0)))
		start := dump.Pretty([]any{s.Object, s.World})
		if err := PlanTwice(s); err != nil {
			t.Fatalf("seed %d: %v\nThe world was:\n%s", seed, err, start)
		}
	}
}
