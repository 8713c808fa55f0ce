package conversation

import (
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation"
)

// settledFor is how long a settled fleet is watched for requests.
const settledFor = 60 * time.Second

func TestSettledFleetGetsNoRequest(t *testing.T) {
	w := newWorld(t)
	p := w.start(conversation.Options{Generation: "a"})
	for i := range 50 {
		w.create(fmt.Sprintf("settled-%d", i), polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 86400})
	}
	for i := range 50 {
		w.eventuallyReady(fmt.Sprintf("settled-%d", i))
	}
	w.eventuallyIdle(p)
	before := len(p.asks())
	timer := time.NewTimer(settledFor)
	defer timer.Stop()
	<-timer.C
	if got := p.asks()[before:]; len(got) != 0 {
		t.Errorf("want no request but watches for %s, got %v", settledFor, got)
	}

	// Nor does a new process have anything to write.
	p.stop()
	p = w.start(conversation.Options{Generation: "a"})
	w.eventuallyIdle(p)
	if got := p.writes(); len(got) != 0 {
		t.Errorf("want no write after a restart, got %v", got)
	}
}

func TestRollNeverExceedsItsCap(t *testing.T) {
	const fleet, limit = 12, 3
	w := newWorld(t)
	p := w.start(conversation.Options{Generation: "a"})
	for i := range fleet {
		w.create(fmt.Sprintf("roll-%d", i), polychromev1alpha1.ConversationSpec{})
	}
	for i := range fleet {
		w.eventuallyReady(fmt.Sprintf("roll-%d", i))
	}
	p.stop()

	most := w.watchRolls()
	w.start(conversation.Options{Generation: "b", RollConcurrency: limit})
	for i := range fleet {
		w.eventually(fmt.Sprintf("roll-%d", i), "ready on b", func(conv *polychromev1alpha1.Conversation) bool {
			claim := w.claim(conv.Name)
			return isReady(conv) && conv.Status.HarnessImageGeneration == "b" && !conv.Status.RollingHarness &&
				conv.Status.RollStartedAt == nil &&
				claim != nil && claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation] == "b"
		})
	}
	if got := most(); got > limit || got == 0 {
		t.Errorf("want at least one and at most %d rolling at once, got %d", limit, got)
	}
}

// watchRolls counts, after every single write, how many conversations roll;
// the function it returns tells the most there ever were.
func (w *world) watchRolls() func() int {
	w.t.Helper()
	list, err := w.client.PolychromeV1alpha1().Conversations(w.ns).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	events, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Watch(w.t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	most, rolling := 0, map[string]bool{}
	go func() {
		for event := range events.ResultChan() {
			conv, ok := event.Object.(*polychromev1alpha1.Conversation)
			if !ok {
				continue
			}
			mu.Lock()
			delete(rolling, conv.Name)
			if event.Type != watch.Deleted && conv.Status.RollingHarness {
				rolling[conv.Name] = true
			}
			most = max(most, len(rolling))
			mu.Unlock()
		}
	}()
	w.t.Cleanup(events.Stop)
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return most
	}
}
