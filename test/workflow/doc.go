// Package workflow holds the journeys of Workflows through the real API
// server. Nothing but the tests says how the ServiceDefinitions of the stages
// are, so that they decide when a stage becomes ready.
package workflow
