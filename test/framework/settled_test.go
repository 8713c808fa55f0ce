package framework_test

import (
	"time"

	"polychrome.dev/controller/framework/frameworktest"
)

// quiet is how long a settled fleet is listened to.
const quiet = 15 * time.Second

// costNothing wakes a settled fleet once and then listens whether anything is
// asked of the server: neither a settled object nor a pass of it costs a
// request.
func (r *rig) costNothing(fleet []string) {
	r.t.Helper()
	since := time.Now()
	for _, name := range fleet {
		r.wake(name)
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for time.Since(since) < quiet {
		<-look.C
		for _, request := range r.faults.Requests(frameworktest.Unary) {
			if request.At.After(since) {
				r.t.Fatalf("a settled fleet asked for %s %s", request.Verb, request.Path)
			}
		}
	}
	if got := r.faults.Count(frameworktest.Watches); got < 2 {
		r.t.Errorf("want the watches to be there, got %d", got)
	}
}
