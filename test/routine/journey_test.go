package routine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// On a whole cluster others act too: kubectl waits for the condition, and
// what a routine leaves is collected with it.
func TestAJourneyOnAWholeCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t, cluster.Shared(t))
	t.Cleanup(func() {
		if err := s.kube.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), s.Namespace, metav1.DeleteOptions{}); err != nil {
			t.Logf("deleting the namespace %s: %v", s.Namespace, err)
		}
	})
	l := s.start()
	l.plays(s.makes("one", every("0 9 * * 1-5", "Europe/London")))
	cluster.Kubectl(t, "wait", "--namespace", s.Namespace, "--for=condition=Ready", "--timeout=30s", "routine/one")
	table := cluster.Kubectl(t, "get", "--namespace", s.Namespace, "routines")
	for _, shown := range []string{"0 9 * * 1-5", "Europe/London", "True", "T09:00:00"} {
		if !strings.Contains(table, shown) {
			t.Errorf("kubectl get does not show %q:\n%s", shown, table)
		}
	}
	l.plays(s.leftBehind("one"))
	s.finds("routine one Scheduled 3")

	l.plays(s.reschedules("one", "0 0 30 2 *", "UTC"), s.leftBehind("one"))
	cluster.Kubectl(t, "wait", "--namespace", s.Namespace, "--for=condition=Stalled", "--timeout=30s", "routine/one")
	s.finds("routine one "+string(polychromev1alpha1.ReasonNeverFires)+" 0", "cronjobs routine-one", "serviceaccounts routine-one")
	l.plays(s.deletes(routines, "one"))
	cluster.Eventually(t, 90*time.Second, func() error {
		_, err := s.Live.Resource(cronJobs).Namespace(s.Namespace).Get(t.Context(), "routine-one", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the trigger of a deleted routine is not collected: %w", err)
		}
		return nil
	})
}
