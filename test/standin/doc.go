// Package standin plays the agent-sandbox operator for tests that must decide
// when a unit becomes ready, or that run where the real one does not. It
// knows nothing of pods: it only writes what the operator would say.
package standin
