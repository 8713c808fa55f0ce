// Package framework is a small, typed reconcile framework on client-go.
//
// # A pass
//
// A pass is one run of four beats for one key. Observe reads everything the
// pass needs, from caches, into one world. Plan, a pure function of time,
// object and world, returns actions as data, and a wait. Act carries out one
// action at a time, in order; the first failure ends acting. Status computes,
// again purely, the whole status that follows, also after a failed action;
// the framework compares it with what is stored and writes the changed
// fields, once, last. Events follow a successful write.
//
// A pass ends in one of four outcomes: done (come back on a change), wait
// (come back after a time), retry (an error), terminal (an error that only
// new input can cure). Outcomes are returned. The queue is nobody's but the
// framework's; a Trigger is how a reconciler asks for a pass of some key.
//
// # Making a controller
//
//	connections := framework.Connect(config)
//	manager, err := framework.NewManager(framework.ManagerOptions{...})
//	widgets := framework.NewResource(manager, framework.ResourceOptions[*v1.Widget]{...})
//	things := framework.NewResource(manager, framework.ResourceOptions[*v1.Thing]{...})
//	framework.New(manager, framework.Options[*v1.Widget]{
//		Name:     "widget",
//		Resource: widgets,
//		Watches:  []framework.Watch{framework.Watches(things, ownerOf)},
//		Conditions: func(w *v1.Widget) *[]metav1.Condition { return &w.Status.Conditions },
//	}, &widgetReconciler{...})
//	err = manager.Run(ctx)
//
// # What it guarantees
//
// It never decides on a cache older than its own writes. Each write leaves a
// note: the version it made, the UID whose end it began, or the version it
// conflicted with. A key whose caches lack what its notes say is parked: no
// worker waits, nothing backs off. The ordinary event wakes it; a sweep finds
// what bookmarks settled. A watch that stays late is asked about and, after
// five seconds, established anew. Not covered are the writes of a process
// that led before this one: there, derived names, preconditions and create-
// only first applies protect.
//
// A status is written at most once a pass, as a merge patch of the changed
// fields, always on the condition that the object is the version that was
// judged. Other writers' fields survive.
//
// A converged object costs no requests. Children are applied only when they
// differ from what is wanted, compared after normalising both, with an
// annotation that remembers what was applied, so that a field no longer
// wanted is noticed too. A child of somebody else is never written.
//
// Finalizers are added and removed one by one, by compare-and-swap of the
// list. Deletes carry UID and resourceVersion.
//
// Errors are told apart by class (see Class): a conflict parks, throttling
// waits as asked, a terminal verdict waits for new input, all others back
// off with jitter; a name's steady delay lies in [10 s, 60 s], so that a
// fleet never retries in step. Events during a backoff neither shorten nor
// lengthen it; a new generation ends it. A panic is such an error.
//
// An API that is absent, forbidden or gone makes its controllers dormant, and
// nothing else. It is looked for every five seconds, and nothing is watched
// before it answers. An optional one only changes its State.
//
// An object that does not decode does not hide the others: it is listed as a
// stub, and its condition SchemaSkew names the field.
//
// Watches and other requests use different connections. Requests have a
// deadline; a watch that is silent for three minutes is established anew.
//
// # What it never does
//
// It never adopts, never writes to an object of somebody else, never sleeps
// in a pass, and never drops an event before the queue.
package framework
