package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"polychrome.dev/controller/framework"
)

// journey is one run at work: a user, and a program with one or more lives.
type journey struct {
	*stage
	run      Run
	scenario Scenario
	ledger   *ledger
	// caches are those of the last life.
	caches []framework.Cache

	mu sync.Mutex
	// life is the present one; nil between two. err is why none can begin.
	life *life
	err  error
	// turned is closed and replaced when life or err change.
	turned chan struct{}
}

// play has the user do the steps, then sees whether all is at rest.
func (j *journey) play(ctx context.Context) (state string, restless []Request, err error) {
	alive, end := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { j.keep(alive) })
	state, err = j.walk(ctx)
	end()
	keeper.Wait()
	if err != nil {
		return state, nil, err
	}
	restless, err = j.rest(ctx)
	return state, restless, err
}

func (j *journey) walk(ctx context.Context) (string, error) {
	if err := j.settle(ctx); err != nil {
		return "", fmt.Errorf("starting: %w", err)
	}
	for i, step := range j.scenario.Steps {
		if err := step.Do(ctx); err != nil {
			return "", fmt.Errorf("step %d, %s: %w", i+1, step.Name, err)
		}
		if err := j.settle(ctx); err != nil {
			return "", fmt.Errorf("after step %d, %s: %w", i+1, step.Name, err)
		}
	}
	state, err := j.scenario.State(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the state: %w", err)
	}
	return state, nil
}

// rest returns what a fresh program writes when everything is settled.
func (j *journey) rest(ctx context.Context) ([]Request, error) {
	l, err := j.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer l.end()
	if err := j.settleOne(l); err != nil {
		return nil, fmt.Errorf("starting a fresh program at the end: %w", err)
	}
	return l.transport.Requests(numbered), nil
}

// keep has one life follow another until ctx ends. A user's step goes on
// meanwhile, and may wait for the next life.
func (j *journey) keep(ctx context.Context) {
	for ctx.Err() == nil {
		l, err := j.begin(ctx)
		j.turn(l, err)
		if err != nil {
			return
		}
		select {
		case <-l.killed:
		case <-ctx.Done():
		}
		j.turn(nil, nil)
		l.end()
		j.caches = l.manager.Caches()
	}
}

func (j *journey) turn(l *life, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.life, j.err = l, err
	close(j.turned)
	j.turned = make(chan struct{})
}

// settle runs the program to quiescence, whatever its life.
func (j *journey) settle(ctx context.Context) error {
	for {
		l, err := j.present(ctx)
		if err != nil {
			return err
		}
		if err := j.settleOne(l); !l.isKilled() {
			return err
		}
	}
}

func (j *journey) settleOne(l *life) error {
	ctx, cancel := context.WithTimeout(l.ctx, j.Patience)
	defer cancel()
	err := Settle(ctx, l.manager, j.run.Clock, j.metadata)
	if err != nil && l.ctx.Err() != nil && !l.isKilled() {
		return errors.Join(err, context.Cause(l.ctx))
	}
	return err
}

// present is the present life, or the next.
func (j *journey) present(ctx context.Context) (*life, error) {
	for {
		j.mu.Lock()
		l, err, turned := j.life, j.err, j.turned
		j.mu.Unlock()
		if err != nil || l != nil && !l.isKilled() {
			return l, err
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
