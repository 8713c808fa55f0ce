// Package cluster gives tests a real Kubernetes API server.
//
// [Shared] is the cluster that make test starts once for all tests: control plane, nodes and the agent-sandbox operator,
// which acts in every namespace. Tests keep apart by each taking a [Namespace] of their own, and leave definitions,
// rights and everything else that is not namespaced alone.
//
// [Start] runs a control plane for one test, without nodes and without the operator, for tests that change definitions
// or rights, kill the server, or have to decide for themselves what becomes of a pod or a claim. It takes about three
// seconds and 320 MB.
//
// Where no cluster has been built or started, as in a plain go test ./..., both skip the test; where one has been and
// does not work, they fail it.
package cluster
