// Package routine holds the journeys of Routines through a real API server.
// They assert the state of the world, not the calls.
package routine
