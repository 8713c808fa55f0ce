// Package frameworktest is the framework's test kit, for tests only. It works
// for any kind that is built on the framework and knows none.
//
// # Faults
//
// A [Transport] stands between a client and a real API server. It answers
// requests in the server's place, loses answers, holds requests back, has
// watches lag, freeze, end or expire and their events get lost or change
// places, and keeps a log of all requests, so that a test can say how often
// something was written, or that nothing was asked at all:
//
//	faults := frameworktest.NewTransport()
//	config.Wrap(faults.Wrap)
//	connections := framework.Connect(config)
//	faults.LagWatches(300 * time.Millisecond)
//	faults.Inject(frameworktest.Fault{Verb: "apply", Resource: "configmaps", Status: 409})
//	faults.SwapEvents("configmaps", 1)
//
// # Time and rest
//
// A [Clock] goes into framework.ManagerOptions and stands until it is
// stepped. [Settle] runs a program until nothing is left to do, without
// sleeping blindly: every cache shows what the API server has, and nothing is
// due, parked or backing off. What waits for a time stays as it is; step the
// clock and settle again.
//
//	clock.Step(time.Minute)
//	err := frameworktest.Settle(ctx, manager, clock, metadataClient)
//
// # Crashes
//
// [CrashEverywhere] plays a journey on a real API server: a user does one
// thing after another, and the program comes to rest in between. It counts the
// writes of the program, then plays the journey again for each write and each
// of four points: before it is sent, before its answer is read, after its
// answer, and an error for what was carried out all the same. At the first
// three the program is killed and everything it knew in memory is gone; a new
// one starts at once. Each run has a namespace of its own and is compared
// with the undisturbed one: the end must be the same, with hardly more writes,
// and a fresh program must then find nothing to write. All a kind has to bring
// is its program, its users' steps and what to compare:
//
//	func TestAWidgetBearsEveryCrash(t *testing.T) {
//		frameworktest.CrashEverywhere(t, frameworktest.Crash{
//			Config: config, // an administrator's; the Widget's CRD is there
//			Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
//				user, err := versioned.NewForConfig(run.Config)
//				if err != nil {
//					return frameworktest.Scenario{}, err
//				}
//				widgets := user.ExampleV1().Widgets(run.Namespace)
//				return frameworktest.Scenario{
//					Start: func(config *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
//						return newProgram(framework.Connect(config), clock, run.Namespace)
//					},
//					Steps: []frameworktest.Step{
//						{Name: "made", Do: func(ctx context.Context) error {
//							_, err := widgets.Create(ctx, sample, metav1.CreateOptions{})
//							return err
//						}},
//						{Name: "expired", Do: func(context.Context) error {
//							run.Clock.Step(time.Hour)
//							return nil
//						}},
//						{Name: "deleted", Do: func(ctx context.Context) error {
//							return widgets.Delete(ctx, sample.Name, metav1.DeleteOptions{})
//						}},
//					},
//					State: run.State(v1.WidgetsResource, corev1.SchemeGroupVersion.WithResource("configmaps")),
//				}, nil
//			},
//			Invariants: []frameworktest.Invariant{
//				frameworktest.NoDeleteWithoutUID,
//				frameworktest.FinalizerBeforeEffect("widgets", "example.test/widget"),
//			},
//		})
//	}
//
// Start makes the program as its main would, caches, clients and all: what it
// shares between two calls survives the crash, which nothing in a real
// process does. The configuration that it gets carries the connection;
// nothing needs to be done about it. No election and no server belong into
// the program. A journey should have a step for each thing that makes the
// program write: make, edit, delete a child, delete the object, let time pass.
// A step may wait for what somebody else does, such as the garbage collector;
// the end is read as soon as the program rests.
//
// State must show all that the journey is about and nothing that differs from
// run to run; two undisturbed runs are compared to be sure. Run.State masks
// times, UIDs, versions and the namespace. A [Snapshot] can mask more: times
// kept in numbers, names made up.
//
// What the end cannot show, an [Invariant] can: it sees every write that was
// carried out, with its body and answer.
//
// A test of a fault that the runner must see calls Crash.Everywhere and looks
// at the Report.
//
// # Plans
//
// A [Simulation] plays passes of a reconciler's pure Plan and Status over a
// model of the world; [PlanTwice] checks with it that they are deterministic,
// change nothing, and come to rest from any world without repeating an action;
// [PlanTwiceFrom] does so from many random ones. [RunStories] shows passes in
// text files, one for each journey, that are read like code and recorded anew
// with the flag -frameworktest.rewrite; see [Story]:
//
//	make color=red
//	----
//
//	pass fail=apply error="quota exceeded"
//	----
//	decision: begin
//	action: finalize
//	failed: apply: quota exceeded
//	status: conditions[Ready].reason = "ActionFailed"
//
// [Make] and its options make sample objects.
//
// # What it never does
//
// The kit imports nothing but what the framework may import, and asserts
// nothing by itself: what checks returns an error or a report, and a thin
// function beside it fails a test.
package frameworktest
