package conversation

import (
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/standin"
)

// TestASettledFleetThatIsTalkedToCostsNothing has the control plane stamp the
// turns of a large fleet: they move deadlines, and are nothing to write about.
func TestASettledFleetThatIsTalkedToCostsNothing(t *testing.T) {
	t.Parallel()
	fleet := 1000
	if testing.Short() {
		fleet = 200
	}
	s := newScene(t, startBare(t))
	standin.Start(t, s.Config, s.Namespace)
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	s.each(fleet, s.makes)
	l.awaitFleet(fleet)
	s.each(fleet, s.stampsTurn)
	l.settle()
	before := s.readyOnes()

	l.faults.Forget()
	// The timeout is ten minutes: without the stamps all would be closed.
	const minutes = 12
	for minute := range minutes {
		l.plays(s.waits(time.Minute))
		if minute%4 == 2 {
			s.each(fleet, s.stampsTurn)
			l.settle()
		}
	}
	if diff := cmp.Diff([]string(nil), l.asked(aboutObjects)); diff != "" {
		t.Errorf("requests but watches in %d minutes (-want +got):\n%s", minutes, diff)
	}
	if len(before) != fleet {
		t.Errorf("want %d ready, got %d", fleet, len(before))
	}
	if diff := cmp.Diff(before, s.readyOnes()); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// stampsTurn is the control plane at the beginning of a turn.
func (s *scene) stampsTurn(name string) frameworktest.Step {
	return s.says("a turn", name, map[string]any{"lastActivityUnix": s.Clock.Now().Unix()})
}

// each does something to each of a fleet, some at a time.
func (s *scene) each(fleet int, do func(name string) frameworktest.Step) {
	s.t.Helper()
	names := make(chan string)
	var working sync.WaitGroup
	for range 16 {
		working.Go(func() {
			for name := range names {
				if err := do(name).Do(s.t.Context()); err != nil {
					s.t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for i := range fleet {
		names <- nth(i)
	}
	close(names)
	working.Wait()
}

// fleetReady is how long a large fleet may take to come up, on a machine that
// is busy.
const fleetReady = 10 * time.Minute

// awaitFleet settles once the operator has made every conversation ready.
func (l *life) awaitFleet(fleet int) {
	l.t.Helper()
	cluster.Eventually(l.t, fleetReady, func() error {
		if ready := len(l.readyOnes()); ready != fleet {
			return fmt.Errorf("%d of %d are ready", ready, fleet)
		}
		return nil
	})
	l.settle()
}

// readyOnes has the address of each conversation that is ready, by its name.
func (s *scene) readyOnes() map[string]string {
	s.t.Helper()
	list, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	for i := range list.Items {
		if conv := &list.Items[i]; isReady(conv) {
			found[conv.Name] = conv.Status.PodIP
		}
	}
	return found
}
