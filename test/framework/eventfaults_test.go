package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// follower follows the ConfigMaps of a namespace through a transport, as an
// informer does, in one of the encodings.
type follower struct {
	t         *testing.T
	faults    *frameworktest.Transport
	kube      kubernetes.Interface
	namespace string
	watch.Interface
}

// eachEncoding runs a test for both encodings that clients use.
func eachEncoding(t *testing.T, test func(*follower)) {
	t.Helper()
	for name, contentType := range map[string]string{"JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := cluster.Shared(t)
			namespace := cluster.Namespace(t, config)
			f := &follower{t: t, faults: frameworktest.NewTransport(), kube: must(kubernetes.NewForConfig(config)), namespace: namespace}
			config.ContentType, config.AcceptContentTypes = contentType, contentType
			config.Wrap(f.faults.Wrap)
			f.follow(config)
			test(f)
		})
	}
}

func (f *follower) follow(config *rest.Config) {
	client := must(kubernetes.NewForConfig(config)).CoreV1().ConfigMaps(f.namespace)
	begin := f.make("begin")
	f.Interface = must(client.Watch(f.t.Context(), metav1.ListOptions{ResourceVersion: begin.ResourceVersion, FieldSelector: "metadata.name!=kube-root-ca.crt"}))
	f.t.Cleanup(f.Stop)
}

func (f *follower) make(name string) *corev1.ConfigMap {
	f.t.Helper()
	return must(f.kube.CoreV1().ConfigMaps(f.namespace).Create(f.t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
}

// sees compares the next events, as in "ADDED a".
func (f *follower) sees(want ...string) {
	f.t.Helper()
	for _, one := range want {
		select {
		case event := <-f.ResultChan():
			got := string(event.Type)
			switch object := event.Object.(type) {
			case *corev1.ConfigMap:
				got += " " + object.Name
			case *metav1.Status:
				got += fmt.Sprint(" ", object.Code, " ", object.Reason)
			}
			if got != one {
				f.t.Errorf("want the event %q, got %q", one, got)
			}
		case <-time.After(patience):
			f.t.Fatalf("the event %q never came", one)
		}
	}
}

// ends waits for the watch to end without another event.
func (f *follower) ends() {
	f.t.Helper()
	select {
	case event, open := <-f.ResultChan():
		if open {
			f.t.Errorf("want the watch to end, got %v", event)
		}
	case <-time.After(patience):
		f.t.Error("the watch never ended")
	}
}

func TestEventsCanChangePlaces(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(f *follower) {
		swapped := f.faults.SwapEvents("configmaps", 1)
		f.faults.SwapEvents("secrets", 1)
		for _, name := range []string{"a", "b", "c"} {
			f.make(name)
		}
		f.sees("ADDED b", "ADDED a", "ADDED c")
		if swapped.Hits() != 1 {
			t.Errorf("want one hit, got %d", swapped.Hits())
		}
	})
}

func TestEventsCanGetLost(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(f *follower) {
		lost := f.faults.DropEvents("configmaps", -1)
		f.make("a")
		f.make("b")
		cluster.Eventually(f.t, patience, func() error {
			if lost.Hits() != 2 {
				return fmt.Errorf("want two events lost, got %d", lost.Hits())
			}
			return nil
		})
		lost.Stop()
		f.make("c")
		f.sees("ADDED c")
	})
}

func TestAWatchCanExpire(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(f *follower) {
		f.make("a")
		f.sees("ADDED a")
		if err := f.faults.ExpireWatches("configmaps"); err != nil {
			f.t.Fatal(err)
		}
		f.sees("ERROR 410 Expired")
		f.ends()
	})
}

func TestARequestCanStall(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	faults := frameworktest.NewTransport()
	faults.Inject(frameworktest.Fault{Verb: "list", Resource: "configmaps", Hold: make(chan struct{})})
	config.Wrap(faults.Wrap)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := must(kubernetes.NewForConfig(config)).CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("want the deadline exceeded, got %v", err)
	}
}

func TestACutTransportLetsNothingThrough(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(f *follower) {
		f.faults.Cut()
		f.ends()
		config := cluster.Shared(f.t)
		config.Wrap(f.faults.Wrap)
		before := f.faults.Count()
		if err := must(kubernetes.NewForConfig(config)).CoreV1().ConfigMaps(f.namespace).Delete(f.t.Context(), "begin", metav1.DeleteOptions{}); err == nil {
			f.t.Error("want a delete refused")
		}
		if f.faults.Count() != before {
			f.t.Error("want nothing sent")
		}
		must(f.kube.CoreV1().ConfigMaps(f.namespace).Get(f.t.Context(), "begin", metav1.GetOptions{}))
	})
}

// TestAProgramBearsBadWatches has widgets made, edited and deleted while news
// of them is out of order, or no longer to be had.
func TestAProgramBearsBadWatches(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*rig){
		"events change places": func(r *rig) {
			r.faults.SwapEvents("widgets", 3)
			r.faults.SwapEvents("configmaps", 3)
		},
		"the version to follow from is too old": func(r *rig) {
			r.faults.Inject(frameworktest.Fault{Verb: "watch", Resource: "widgets", Status: http.StatusGone, Times: 2})
			for _, resource := range []string{"widgets", "configmaps"} {
				if err := r.faults.ExpireWatches(resource); err != nil {
					r.t.Fatal(err)
				}
			}
		},
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, rigOptions{})
			r.create("red", "a", "b", "c")
			r.ready("a", "b", "c")
			r.idle()
			trouble(r)
			r.recolor("blue", "a", "b", "c")
			r.ready("a", "b", "c")
			r.idle()
			r.each([]string{"a", "b", "c"}, func(name string) error { r.delete(name); return nil })
			for _, name := range []string{"a", "b", "c"} {
				r.gone(name)
			}
			if got := r.failures("") - r.failures(framework.ClassConflict); got != 0 {
				t.Errorf("want no failure but conflicts, got %v", got)
			}
		})
	}
}

// TestALostEventOfAnOwnWriteIsMissed loses the echo of a status write: the
// program notices what it never heard of, and follows anew.
func TestALostEventOfAnOwnWriteIsMissed(t *testing.T) {
	t.Parallel()
	clock := frameworktest.NewClock()
	lose := make(chan *frameworktest.Injected, 1)
	r := newRig(t, rigOptions{
		manager: func(o *framework.ManagerOptions) { o.Clock = clock },
		script: func(r *rig) *script {
			return standard(r).before(apply, func(w *widget.Widget) {
				if w.Spec.Color == "blue" {
					lose <- r.faults.DropEvents("widgets", 1)
				}
			})
		},
	})
	r.run()
	r.create("red", "w")
	r.ready("w")
	r.idle()
	r.recolor("blue", "w")
	if lost := <-lose; lost == nil {
		t.Fatal("nothing was lost")
	}
	r.ready("w")
	live := must(metadata.NewForConfig(r.config))
	if err := frameworktest.Settle(t.Context(), r.program, clock, live); err != nil {
		t.Fatal(err)
	}
	cached, _ := r.parents.Get(r.namespace, "w")
	r.same("the cached widget", r.get("w").ResourceVersion, cached.ResourceVersion)
	// A bookmark that comes first has the store seem up to date.
	if got := r.failures(""); got > 1 || got != r.failures(framework.ClassConflict) {
		t.Errorf("want at most one conflict, got %v failures", got)
	}
}
