package toolservice

import (
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// Ask is what a probe answers: a spec, by its generation, and a wish of
// people, by the value of the annotation.
type Ask struct {
	Generation int64
	Annotation string
}

func askOf(ts *polychromev1alpha1.ToolService) Ask {
	return Ask{Generation: ts.Generation, Annotation: ts.Annotations[polychromev1alpha1.ProbeAnnotation]}
}

// Memory is what this process knows of the probes of one ToolService.
type Memory struct {
	// Since is when a pass of this process first looked at it, First what a
	// probe would have answered then.
	Since time.Time
	First Ask
	// Flight is what the probe under way answers; nil for none.
	Flight *Ask
	// Last is the last probe that ended; nil for none.
	Last *Outcome
}

// Outcome is what one probe came to, and how many there were of its kind.
type Outcome struct {
	Ask
	// At is when it ended.
	At time.Time
	// Reason and Message are the verdict. Without a reason there is none: the
	// server was not asked, and that is not the ToolService's fault.
	Reason  polychromev1alpha1.Reason
	Message string
	// RetryAfter is how long the server asked to wait; zero if it did not.
	RetryAfter time.Duration
	// Catalog and Server are what was learnt of a server that is well.
	Catalog Catalog
	Server  probe.ServerInfo
	// Failures is how many verdicts in a row were bad, for the same spec; Tries
	// also counts the probes without a verdict.
	Failures, Tries int
	// Count is how many probes of this process have ended.
	Count int
}

// ok reports whether the server is well.
func (o *Outcome) ok() bool { return o.Reason == polychromev1alpha1.ReasonCatalogListed }

// ended is the memory after a probe has ended.
func (m Memory) ended(o Outcome) Memory {
	o.Count, o.Failures, o.Tries = 1, 0, 0
	if m.Last != nil {
		o.Count = m.Last.Count + 1
		if m.Last.Generation == o.Generation {
			o.Failures, o.Tries = m.Last.Failures, m.Last.Tries
		}
	}
	switch {
	case o.ok():
		o.Failures, o.Tries = 0, 0
	case o.Reason == "":
		o.Tries++
	default:
		o.Failures++
		o.Tries++
	}
	m.Flight, m.Last = nil, &o
	return m
}
