package framework_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"polychrome.dev/controller/framework/frameworktest"
)

// TestOwnWritesAreWaitedFor takes many widgets through their lives while the
// watches are late. A controller that decided on what its caches still show
// would write more than is needed, or meet its own writes as conflicts.
func TestOwnWritesAreWaitedFor(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{0, 300 * time.Millisecond, time.Second} {
		t.Run(lag.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			r.faults.LagWatches(lag)
			r.run()
			fleet := fleetOf(fleetSize())
			r.create("red", fleet...)
			r.ready(fleet...)
			r.recolor("blue", fleet...)
			r.ready(fleet...)
			r.idle()
			r.writesPerWidget(fleet, map[string]int{
				"patch widgets": 1, "apply configmaps": 2, "patch widgets/status": 2,
			})
			if lag == 0 {
				r.costNothing(fleet)
			}
			r.each(fleet, func(name string) error { r.delete(name); return nil })
			for _, name := range fleet {
				r.gone(name)
			}
			r.idle()
			r.writesPerWidget(fleet, map[string]int{
				"patch widgets": 2, "apply configmaps": 2, "delete configmaps": 1, "patch widgets/status": 3,
			})
			if got := r.failures(""); got != 0 {
				t.Errorf("failed passes: want none, got %v", got)
			}
		})
	}
}

func (r *rig) writesPerWidget(fleet []string, want map[string]int) {
	r.t.Helper()
	got := map[string]map[string]int{}
	for _, request := range r.faults.Requests(frameworktest.Writes) {
		if got[request.Name] == nil {
			got[request.Name] = map[string]int{}
		}
		got[request.Name][request.Verb+" "+request.Resource]++
		if request.Code != 200 && request.Code != 201 {
			r.t.Errorf("%s %s of %s was answered with %d", request.Verb, request.Resource, request.Name, request.Code)
		}
	}
	wrong := 0
	for _, name := range fleet {
		if diff := cmp.Diff(want, got[name]); diff != "" && wrong < 3 {
			wrong++
			r.t.Errorf("writes for %s (-want +got):\n%s", name, diff)
		}
	}
}

// fleetSize is many, unless time is short.
func fleetSize() int {
	if testing.Short() {
		return 20
	}
	return 200
}

func fleetOf(size int) []string {
	fleet := make([]string, size)
	for i := range fleet {
		fleet[i] = fmt.Sprintf("w%03d", i)
	}
	return fleet
}
