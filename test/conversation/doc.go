// Package conversation holds the journeys of Conversations through the real
// API server and the real agent-sandbox operator. They assert the state of
// the world, not the calls.
package conversation
