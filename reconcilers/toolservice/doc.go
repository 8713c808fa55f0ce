// Package toolservice keeps the registry entry of each MCP server truthful: it
// asks the server for its tools from time to time and shows what came of it.
//
// It watches ToolServices and owns of them the finalizer
// polychrome.dev/toolservice-cleanup and the status, but for conditions of
// types that are not its own. It reads, and never lists, the Secrets that hold
// bearer tokens.
//
// A pass finds its row in a table; the first that fits wins:
//
//	RemoveFinalizer  deleting: drop what is remembered, let it go
//	Noop             deleting, and not held by us
//	AddFinalizer     not held yet
//	ReportInvalid    the spec cannot be probed, until it changes
//	Probe            a probe is due: begin it
//	Probing          a probe is under way; its end brings the next pass
//	Wait             until the next probe is due
//
// A probe is due when there was none of this spec, when the annotation
// polychrome.dev/probe has another value, and when its time has come: after
// the interval, give or take a tenth, where all is well or where people have
// to act, and after 5 s to 2 min where a server fails. A restarted process
// probes each once within an interval, at a moment of the object's own.
//
// What must always be true:
//
//   - No pass waits for a server. Probes run beside the passes, at most twenty
//     at once; one whose question has been overtaken is thrown away.
//   - What came of probes is remembered, not stored: a status is written when
//     it says something else than before, and never causes a probe.
//   - The first probe of a spec decides at once. After that Ready turns False
//     after three bad probes in a row, and True after one good one. The last
//     good list stays.
//   - A Secret is read by name, once for each probe that needs it. The token
//     is in the memory of that probe alone, and goes to nobody but the server.
//   - Reserved Secrets are refused before anything is dialled.
//
// The decision (plan.go, spec.go, due.go), the catalogue (catalog.go,
// changes.go) and the status (status.go, standing.go) are pure.
package toolservice
