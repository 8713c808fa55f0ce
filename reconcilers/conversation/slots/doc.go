// Package slots limits how many conversations roll at once.
//
// A slot is held by each conversation that shows rollingHarness, and by each
// that was admitted here and does not show it yet. Both are kept by events
// from the cache, so that no pass counts anything and the limit holds from
// the first pass after a restart. Closed, closing and deleted conversations
// hold none.
package slots
