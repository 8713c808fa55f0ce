// Package framework is a small, typed reconcile framework on client-go: its
// generated clients, informers and apply configurations, and nothing between
// them and a reconciler but what is told here. This page is its manual;
// examples/website is a whole controller to read and to copy.
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
// framework's; a Trigger is how a reconciler asks for a pass of some key. What
// no pass can wait for runs beside them; see Background.
//
// # Making a controller
//
//	connections := framework.Connect(config)
//	manager, err := framework.NewManager(framework.ManagerOptions{...})
//	client, watch, err := framework.Clients(connections, versioned.NewForConfig)
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
// All types follow from the arguments. A Resource is one kind in one
// namespace, cached and written: the only way to the API, so that every write
// is known. Writes are Apply, Delete, AddFinalizer and RemoveFinalizer; the
// status is the framework's to write.
//
// A mapper, as ownerOf above, tells which keys an object concerns. One that
// goes by the owner reference does not hear that somebody else's object of a
// child's name has gone; one that goes by the name does.
//
// # Children
//
// A child is named by the owner's name, never at random, and described by a
// generated apply configuration. Look compares that with the cache, Apply
// sends it when there is a difference:
//
//	child, err := things.Look(widgets.Owner(w), thingFor(w))   // in Observe
//	applied, _, err := things.Apply(ctx, widgets.Owner(w), thingFor(w)) // in Act
//
// Apply adds the reference to the owner. What it returns is newer than the
// world: a Status that judges the child takes it from Result.Learned, or it
// would say of the new spec what was true of the old one.
//
// Other writers' fields survive. A field that the configuration no longer
// names is given up, drift of one that it names is mended. Compared is what
// the Go type makes of both, and an annotation remembers what was applied:
// nothing is sent for what an API server respells or defaults. A child of
// somebody else is never written: Apply answers with an error
// (IsNameConflict) that shows in Ready; look first, and plan nothing.
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
// A converged object costs no requests. A reconciler that writes one object
// more than ten times a minute, while nobody else changes anything, is
// stopped: condition HotLoop names the paths, and it is tried again every
// five minutes, or when something changes. An apply that the server does not
// keep is not sent again until the child or the wish changes; HotLoop says so.
//
// Finalizers are added and removed one by one, by compare-and-swap of the
// list. Deletes carry UID and resourceVersion.
//
// Errors are told apart by class (see Class): a conflict parks, throttling
// waits as asked, a terminal verdict waits for new input, all others back
// off with jitter; a name's steady delay lies in [10 s, 60 s], so that a
// fleet never retries in step. Events during a backoff neither shorten nor
// lengthen it; a new generation ends it. A panic is such an error. A mapper
// or handler that panics costs its event, which is counted, and nothing else.
//
// A fleet makes no herd. Periodic waits (Plan.Spread) end at moments of an
// object's own, which restarts do not move. Rewrites of what was settled
// before the process began to lead are paced, 50 a second; new work never is. A
// kind that limits some work by itself says so (Plan.Unpaced).
// New and changed objects go ahead of those that are only looked at again.
//
// An API that is absent, forbidden or gone makes its controllers dormant, and
// nothing else. It is looked for every five seconds, and nothing is watched
// before it answers. An optional one only changes its State.
//
// An object that does not decode does not hide the others: it is listed as a
// stub, and its condition SchemaSkew names the field. So does that of an
// object whose status has a field that an older CustomResourceDefinition
// drops; the field is left out until a newer one is served. With CheckSchema
// such fields are known, and said, from the start.
//
// Watches and other requests use different connections. Requests have a
// deadline; a watch that is silent for three minutes is established anew.
//
// With an Election one of several processes works. Every write is refused
// once the lease may have been lost, whatever the process has noticed.
//
// # For people
//
// The annotation DOMAIN/paused: "true" stops all writes to an object but for
// the condition Paused; what would be done is still planned and remembered.
// Manager.Why tells what an object waits for and what was decided about it,
// out of the last 16,384 decisions of the process; /debug/decisions serves
// both as JSON. Manager.Previews tells what a pass would do, and a manager
// that is ReadOnly does so against a live cluster without leading.
//
// # Testing
//
// Plan and Status are tested as functions. Package frameworktest has what
// tests the rest: faults, crashes at every write, a stepped clock, stories.
// Over fake clientsets nothing parks, since their objects have no versions.
//
// # What it never does
//
// It never adopts, never writes to an object of somebody else, never sleeps
// in a pass, never drops an event before the queue, and never puts an
// object's name into a metric.
package framework
