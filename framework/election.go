package framework

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Election is one Lease that one of several processes holds. Writes on the
// unary connection are refused once the renewal deadline has passed since the
// last renewal was sent, whatever the process itself has noticed by then.
type Election struct {
	// Namespace and Name are the Lease's. Required.
	Namespace, Name string
	// Identity is this process, unique among those that run for the Lease.
	// Required.
	Identity string
	// Config reaches the Lease, apart from other requests. Required.
	Config *rest.Config
	// LeaseDuration, RenewDeadline and RetryPeriod default to 15, 10 and
	// 1 s: a standby takes over within 3 s of a release.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

func (e Election) withDefaults() Election {
	if e.LeaseDuration <= 0 {
		e.LeaseDuration = 15 * time.Second
	}
	if e.RenewDeadline <= 0 {
		e.RenewDeadline = 10 * time.Second
	}
	if e.RetryPeriod <= 0 {
		e.RetryPeriod = time.Second
	}
	return e
}

// errLostLease ends a process that was leading and no longer may.
var errLostLease = errors.New("the leader lease was lost")

// lead takes leadership once the caches are warm. It returns how to give it
// back, which is to be called when no pass is in flight any more.
func (m *Manager) lead(stop, caches context.Context, background *sync.WaitGroup, fail context.CancelCauseFunc) (end func()) {
	switch {
	case m.ReadOnly:
		if m.Connections.fence != nil {
			m.Connections.fence.arm()
		}
		return func() {}
	case m.Election == nil:
		background.Go(func() {
			if m.Warm(stop) {
				m.setLeading(true)
			}
		})
		return func() { m.leads.Store(false) }
	}
	term, endTerm := context.WithCancel(caches)
	ended := make(chan struct{})
	background.Go(func() {
		defer close(ended)
		if err := m.elect(stop, term); err != nil {
			fail(err)
		}
	})
	return func() {
		endTerm()
		<-ended
	}
}

// elect runs for the Lease and holds it until term ends, then releases it.
// While it only waits for the Lease, the end of stop is enough.
func (m *Manager) elect(stop, term context.Context) error {
	if !m.Warm(stop) {
		return nil
	}
	e := m.Election.withDefaults()
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, e.Namespace, e.Name,
		resourcelock.ResourceLockConfig{Identity: e.Identity}, e.Config, e.RenewDeadline)
	if err != nil {
		return fmt.Errorf("preparing the leader lease %s/%s: %w", e.Namespace, e.Name, err)
	}
	if fence := m.Connections.fence; fence != nil {
		fence.arm()
		lock = fencedLock{Interface: lock, fence: fence, term: e.RenewDeadline}
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: e.Name, ReleaseOnCancel: true,
		LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				m.Log.Info("leading", "lease", e.Namespace+"/"+e.Name, "identity", e.Identity)
				m.setLeading(true)
			},
			OnStoppedLeading: func() { m.leads.Store(false) },
			OnNewLeader: func(identity string) {
				if identity != e.Identity {
					m.Log.Info("standing by", "leader", identity)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("preparing the election for %s/%s: %w", e.Namespace, e.Name, err)
	}
	elector.Run(term)
	if term.Err() == nil {
		return errLostLease
	}
	return nil
}
