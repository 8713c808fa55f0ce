// Package slots limits how many conversations roll at once, and says whose
// turn it is.
//
// A slot is held by each conversation that shows a roll which has not failed,
// and by each that was admitted here and does not show it yet. Both are kept
// by events from the cache, so that no pass counts anything and the limit
// holds from the first pass after a restart. Closed, closing and deleted
// conversations hold none.
//
// Those that wait stand in one order: failed rolls, then the idle by how long
// they are, then the busy. A free slot is for the first; one that was told and
// does not come for it is passed over. When several rolls to the desired
// generation have failed, no further one starts.
//
// Nothing is stored anywhere: all of it follows from what the cache shows, the
// time, and what this process has admitted. The package makes no requests.
package slots
