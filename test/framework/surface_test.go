package framework_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// getOptions are the usual ones.
var getOptions = metav1.GetOptions{}

// recorded keeps events as lines.
type recorded struct {
	mu    sync.Mutex
	lines []string
}

// Event implements record.EventRecorder.
func (e *recorded) Event(about runtime.Object, kind, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	named, _ := meta.Accessor(about)
	e.lines = append(e.lines, fmt.Sprintf("%s %s %s", named.GetName(), kind, reason))
}

// Eventf implements record.EventRecorder.
func (e *recorded) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	e.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder.
func (e *recorded) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	e.Eventf(about, kind, reason, format, args...)
}

func (e *recorded) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.lines...)
}

func TestEventsMarkTransitionsOnly(t *testing.T) {
	t.Parallel()
	events := &recorded{}
	r := newRig(t, rigOptions{events: events, script: func(r *rig) *script {
		s := standard(r)
		plan := s.plan
		s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
			p := plan(now, w, seen)
			p.Events = []framework.Event{{Reason: "Planned", Message: "a plan was made"}}
			return p
		}
		return s
	}})
	refusal := r.faults.Inject(frameworktest.Fault{Verb: "apply", Status: http.StatusForbidden, Times: 2})
	r.run()
	r.create("red", "w")
	r.ready("w")
	for range 20 {
		r.wake("w")
		r.idle()
	}
	r.recolor("blue", "w")
	r.ready("w")
	r.idle()
	if refusal.Hits() != 2 {
		t.Errorf("want two refusals, got %d", refusal.Hits())
	}
	r.same("events", []string{"w Warning APIRefused", "w Normal Planned", "w Normal Mirrored"}, events.all())
}

func TestHealthAndMetricsTell(t *testing.T) {
	t.Parallel()
	health, metrics := must(net.Listen("tcp", "127.0.0.1:0")), must(net.Listen("tcp", "127.0.0.1:0"))
	r := newRig(t, rigOptions{manager: func(o *framework.ManagerOptions) { o.Health, o.Metrics = health, metrics }})
	framework.NewResource(r.program, framework.ResourceOptions[*widget.Widget]{
		Resource: widget.GroupVersion.WithResource("gizmos"), Kind: "Gizmo", Namespace: r.namespace, Optional: true,
		Informer: func(func(*widget.Widget, []byte, error)) cache.SharedIndexInformer { return nil },
	})
	r.run()
	r.create("red", "w")
	r.ready("w")
	r.idle()
	for path, want := range map[string][]string{
		"/livez":  {"ok"},
		"/readyz": {"[+] widgets.example.test: served", "[+] configmaps: served", "gizmos.example.test: dormant (absent)", "leading: true"},
	} {
		code, body := fetch(t, health, path)
		for _, line := range want {
			if code != http.StatusOK || !strings.Contains(body, line) {
				t.Errorf("%s: want %q, got %d:\n%s", path, line, code, body)
			}
		}
	}
	code, body := fetch(t, metrics, "/metrics")
	for _, line := range []string{
		`fw_reconcile_total{controller="widgets",outcome="done"}`,
		`fw_writes_total{answer="ok",resource="widgets.example.test",verb="status"} 1`,
		`fw_resource_dormant{resource="gizmos.example.test"} 1`,
		`fw_watch_age_seconds{resource="configmaps"}`,
		`fw_leader 1`, `fw_build_info{`, `fw_queue_depth{`, `fw_parked_objects{`, `fw_reconcile_duration_seconds_bucket{`,
	} {
		if code != http.StatusOK || !strings.Contains(body, line) {
			t.Errorf("metrics: want %s in (%d):\n%s", line, code, body)
		}
	}
	problems, err := testutil.GatherAndLint(r.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("want metrics without a fault, got %v, %v", problems, err)
	}
}

func fetch(t *testing.T, from net.Listener, path string) (int, string) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+from.Addr().String()+path, nil))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("asking for %s: %v", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	return resp.StatusCode, string(body)
}
