// Package servicedefinition holds the journeys of ServiceDefinitions through
// the real API server and the real controllers of Deployments, Services and
// their pods. They assert the state of the world, not the calls.
package servicedefinition
