package framework_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
)

// candidate makes a rig that runs for the one lease of a namespace. Its
// requests for the lease are in the log of its transport, too.
func candidate(t *testing.T, namespace, identity string, times framework.Election) *rig {
	t.Helper()
	config := cluster.Shared(t)
	define(t, config)
	return newRig(t, rigOptions{config: config, namespace: namespace, election: &times, manager: func(o *framework.ManagerOptions) {
		o.Election.Namespace, o.Election.Name, o.Election.Identity = namespace, "leader", identity
	}})
}

// elect gives the election the access of the program.
func (r *rig) elect() *rig {
	config := rest.CopyConfig(r.config)
	config.Wrap(r.faults.Wrap)
	r.election.Config = config
	return r.run()
}

func (r *rig) leads() {
	r.t.Helper()
	r.eventually(func() error {
		if !r.program.Leading() {
			return errors.New("not leading")
		}
		return nil
	})
}

// TestLeadershipIsHandedOverUnderWork stops the leader in the middle of a
// pass.
func TestLeadershipIsHandedOverUnderWork(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t, cluster.Shared(t))
	one := candidate(t, namespace, "one", framework.Election{}).elect()
	one.leads()
	two := candidate(t, namespace, "two", framework.Election{}).elect()
	fleet := fleetOf(50)
	one.create("red", fleet...)
	one.ready(fleet...)
	hold := make(chan struct{})
	held := one.faults.Inject(frameworktest.Fault{Verb: "apply", Name: "w025", Hold: hold})
	one.recolor("blue", fleet...)
	one.eventually(func() error {
		if held.Hits() == 0 {
			return errors.New("nothing is in flight")
		}
		return nil
	})
	if two.program.Leading() {
		t.Fatal("two programs lead")
	}
	one.stop()
	time.AfterFunc(300*time.Millisecond, func() { close(hold) })
	<-one.ended
	released := time.Now()
	two.leads()
	// A quiet machine needs under 3 s. Without the release it would be the 15 s
	// of the lease, on any machine.
	if took := time.Since(released); took > 12*time.Second {
		t.Errorf("the hand-over took %s", took)
	}
	if one.err != nil {
		t.Errorf("want an ordinary end, got %v", one.err)
	}
	two.ready(fleet...)

	sent := one.faults.Requests(frameworktest.Writes)
	if last := sent[len(sent)-1]; last.Resource != "leases" {
		t.Errorf("want the release to be the last write, got %s %s", last.Verb, last.Path)
	}
	if got := one.faults.Requests(frameworktest.Writes, frameworktest.Named("w025")); got[len(got)-1].Resource != "widgets/status" || got[len(got)-1].Code != http.StatusOK {
		t.Errorf("want the pass in flight finished, got %+v", got[len(got)-1])
	}
	if got := two.faults.Count(frameworktest.Writes, func(r frameworktest.Request) bool { return r.Resource != "leases" && r.At.Before(released) }); got != 0 {
		t.Errorf("want nothing written by two leaders at a time, got %d writes", got)
	}
}

// TestALostLeaseEndsTheProgram takes the lease away, with a pass in flight.
func TestALostLeaseEndsTheProgram(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t, cluster.Shared(t))
	r := candidate(t, namespace, "one", framework.Election{
		LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond,
	}).elect()
	r.leads()
	never := make(chan struct{})
	held := r.faults.Inject(frameworktest.Fault{Verb: "apply", Hold: never})
	r.create("red", "w")
	r.eventually(func() error {
		if held.Hits() == 0 {
			return errors.New("nothing is in flight")
		}
		return nil
	})
	r.faults.Inject(frameworktest.Fault{Resource: "leases", Status: http.StatusInternalServerError, Times: -1})
	lost := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-r.ended:
	case <-ctx.Done():
		t.Fatal("a program without its lease goes on")
	}
	if r.err == nil {
		t.Error("want an error")
	}
	// A pass that cannot be finished in time must not hold up the end: from
	// the end of the lease on, somebody else leads.
	if took := time.Since(lost); took > 10*time.Second {
		t.Errorf("the end took %s", took)
	}
	// The last renewal was sent before the lease was lost, and nobody else
	// may lead before it has run out.
	end := lost.Add(r.election.LeaseDuration)
	late := func(request frameworktest.Request) bool { return request.Resource != "leases" && request.At.After(end) }
	if got := r.faults.Requests(frameworktest.Writes, late); len(got) > 0 {
		t.Errorf("want nothing written without the lease, got %+v", got)
	}
}
