// Package frameworktest is the framework's test kit.
//
// A [Transport] stands between a client and a real API server. It makes
// watches lag or freeze, answers requests in the server's place, loses
// answers, and keeps a log of all requests, so that a test can say how often
// something was written, or that nothing was asked at all:
//
//	faults := frameworktest.NewTransport()
//	config.Wrap(faults.Wrap)
//	connections := framework.Connect(config)
//	faults.LagWatches(300 * time.Millisecond)
//	faults.Inject(frameworktest.Fault{Verb: "apply", Resource: "configmaps", Status: 409})
//
// The kit is for tests only and never part of a program.
package frameworktest
