package conversation

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

var (
	refReady   = execution.Ref{Name: "c1", UID: "uid-claim", Version: "8"}
	refBooting = execution.Ref{Name: "c1", UID: "uid-claim", Version: "7"}
	makeUnit   = Action{Kind: EnsureUnit, Unit: execution.Ref{Name: "c1"}}
)

type planCase struct {
	name        string
	rules       rules
	conv        *polychromev1alpha1.Conversation
	world       World
	at          int64
	want        string
	wantActions []Action
	reason      string
}

func runPlanCases(t *testing.T, cases []planCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := c.at
			if at == 0 {
				at = now
			}
			if c.world.Unit.Name == "" {
				c.world.Unit.Name = "c1"
			}
			got := c.rules.reconciler().Plan(time.Unix(at, 0), c.conv, c.world)
			if got.Decision != c.want {
				t.Errorf("decision: want %s, got %s; %s", c.want, got.Decision, c.reason)
			}
			if diff := cmp.Diff(c.wantActions, got.Actions); diff != "" {
				t.Errorf("actions (-want +got); %s:\n%s", c.reason, diff)
			}
		})
	}
}

func TestPlanOfOpenConversations(t *testing.T) {
	child := func(c *polychromev1alpha1.Conversation) {
		c.Spec.ParentConversationID, c.Spec.AgentID = "parent-1", "researcher"
	}
	foreignFinalizer := func(c *polychromev1alpha1.Conversation) { c.Finalizers = []string{"example.com/other"} }
	runPlanCases(t, []planCase{
		{name: "a fresh conversation gets the finalizer first", conv: bare(),
			want: "AddFinalizer", wantActions: []Action{{Kind: AddFinalizer}}},
		{name: "somebody else's finalizer is not ours", conv: bare(foreignFinalizer),
			want: "AddFinalizer", wantActions: []Action{{Kind: AddFinalizer}}},
		{name: "held and without a claim it gets one", conv: held(),
			want: "CreateSandboxClaim", wantActions: []Action{makeUnit}},
		{name: "a child takes the same path: finalizer", conv: bare(child),
			want: "AddFinalizer", wantActions: []Action{{Kind: AddFinalizer}}},
		{name: "a child takes the same path: claim", conv: held(child),
			want: "CreateSandboxClaim", wantActions: []Action{makeUnit}},
		{name: "a claim found already there is recorded without a request", conv: held(), world: World{Unit: bootingUnit},
			want: "CreateSandboxClaim"},
		{name: "a claim found already there is mended", conv: held(), world: World{Unit: drifted(bootingUnit)},
			want:        "CreateSandboxClaim",
			wantActions: []Action{{Kind: EnsureUnit, Unit: refBooting, Drift: []string{"spec.sandboxTemplateRef.name"}}}},
		{name: "no claim is made while the old one is going", conv: held(), world: World{Unit: goingUnit},
			want: "CreateSandboxClaim"},
		{name: "no claim is made while the name is somebody else's", conv: held(), world: World{Unit: othersUnit},
			want: "CreateSandboxClaim"},
		{name: "no claim is made while the backend is not there", conv: held(), world: World{Unit: noBackend},
			want: "CreateSandboxClaim"},
		{name: "with a claim recorded the status is synced", conv: recorded(), world: World{Unit: bootingUnit},
			want: "SyncStatus"},
		{name: "drift of the claim is mended", conv: healthy(), world: World{Unit: drifted(readyUnit)}, want: "SyncStatus",
			wantActions: []Action{{Kind: EnsureUnit, Unit: refReady, Drift: []string{"spec.sandboxTemplateRef.name"}}}},
		{name: "a settled conversation plans nothing", conv: healthy(), world: World{Unit: readyUnit}, want: "SyncStatus"},
		{name: "a vanished unit is not made in the pass that notices", conv: healthy(), want: "SyncStatus"},
		{name: "an absent unit that was never healthy is still on its way and is made", conv: recorded(),
			want: "SyncStatus", wantActions: []Action{makeUnit}},
		{name: "a going unit is neither mended nor made", conv: healthy(), world: World{Unit: drifted(goingUnit)}, want: "SyncStatus"},
		{name: "a foreign claim under a recorded name is left alone", conv: recorded(), world: World{Unit: othersUnit}, want: "SyncStatus"},
		{name: "without a backend nothing is made", conv: recorded(), world: World{Unit: noBackend}, want: "SyncStatus"},
	})
}

func TestPlanOfRolls(t *testing.T) {
	roll := Action{Kind: RollUnit, Unit: refReady}
	runPlanCases(t, []planCase{
		{name: "with no generation desired nothing rolls", rules: off, conv: healthy(ofGeneration(oldGeneration)),
			world: World{Unit: readyUnit}, want: "SyncStatus"},
		{name: "row 9 never fires without a recorded generation", rules: on, conv: healthy(),
			world: World{Unit: readyUnit}, want: "SyncStatus", reason: "such a conversation is adopted"},
		{name: "a recorded generation that is the desired one is steady", rules: on, conv: healthy(ofGeneration(newGeneration)),
			world: World{Unit: readyUnit}, want: "SyncStatus"},
		{name: "a recorded generation that differs rolls", rules: on, conv: healthy(ofGeneration(oldGeneration)),
			world: World{Unit: readyUnit}, want: "RollHarness", wantActions: []Action{roll}},
		{name: "a unit that says it is of the desired one is not rolled, whatever is recorded", rules: on,
			conv: healthy(ofGeneration(oldGeneration)), world: World{Unit: made(readyUnit, newGeneration)}, want: "SyncStatus"},
		{name: "generations are compared as they stand", rules: on, conv: healthy(ofGeneration(newGeneration + " ")),
			world: World{Unit: readyUnit}, want: "RollHarness", wantActions: []Action{roll}},
		{name: "row 9 asks for a live claim: one that vanished is not waited for", rules: on, conv: healthy(ofGeneration(oldGeneration)),
			want: "SyncStatus"},
		{name: "row 9 asks for a live claim: one that is going is not torn down again", rules: on, conv: healthy(ofGeneration(oldGeneration)),
			world: World{Unit: goingUnit}, want: "SyncStatus"},
		{name: "row 9 asks for our own claim", rules: on, conv: healthy(ofGeneration(oldGeneration)),
			world: World{Unit: othersUnit}, want: "SyncStatus"},
		{name: "a turn under way is noted on the roll", rules: on, conv: healthy(ofGeneration(oldGeneration), busyFor(60)),
			world: World{Unit: readyUnit}, want: "RollHarness", wantActions: []Action{{Kind: RollUnit, Unit: refReady, Busy: true}}},
		{name: "drift is noted on the roll", rules: on, conv: healthy(ofGeneration(oldGeneration)),
			world: World{Unit: drifted(readyUnit)}, want: "RollHarness",
			wantActions: []Action{{Kind: RollUnit, Unit: refReady, Drift: []string{"spec.sandboxTemplateRef.name"}}}},
		{name: "idleness comes before a roll", rules: on, conv: healthy(ofGeneration(oldGeneration), activeAt(now-301)),
			world: World{Unit: readyUnit}, want: "CloseIdle"},
	})
}

func TestPlanOfIdleConversations(t *testing.T) {
	timeout := func(seconds int64) option {
		return func(c *polychromev1alpha1.Conversation) { c.Spec.IdleTimeoutSeconds = seconds }
	}
	reclaimed := status(func(s *polychromev1alpha1.ConversationStatus) { s.IdleReclaimed = true })
	ready := World{Unit: readyUnit}
	runPlanCases(t, []planCase{
		{name: "idle past the timeout it is closed", conv: healthy(activeAt(now - 301)), world: ready, want: "CloseIdle"},
		{name: "exactly at the timeout it is not", conv: healthy(activeAt(now - 300)), world: ready, want: "SyncStatus"},
		{name: "within the timeout it is not", conv: healthy(activeAt(now - 200)), world: ready, want: "SyncStatus"},
		{name: "row 7 has no fallback: no stamp, never closed", conv: healthy(), world: ready, at: 10_000_000_000, want: "SyncStatus"},
		{name: "a timeout of 0 never closes", conv: healthy(timeout(0), activeAt(0)), world: ready, want: "SyncStatus"},
		{name: "a timeout beyond 32 bits holds", conv: healthy(timeout(4294967295), activeAt(0)), world: ready, want: "SyncStatus"},
		{name: "idleReclaimed is honoured", conv: healthy(reclaimed, activeAt(0)), world: ready, want: "SyncStatus"},
		{name: "a turn under way keeps it open", conv: healthy(activeAt(0), busyFor(1)), world: ready, want: "SyncStatus"},
		{name: "a turn that has ended does not", conv: healthy(activeAt(0), busyFor(0)), world: ready, want: "CloseIdle"},
		{name: "a malformed busy-until is ignored", conv: healthy(activeAt(0), annotated(polychromev1alpha1.BusyUntilAnnotation, "soon")),
			world: ready, want: "CloseIdle"},
		{name: "a busy-until more than a day ahead is ignored", conv: healthy(activeAt(0), busyFor(86_401)), world: ready, want: "CloseIdle"},
		{name: "woken with an old stamp it gets its unit first", conv: held(activeAt(now - 9000)),
			want: "CreateSandboxClaim", wantActions: []Action{makeUnit}},
		{name: "and then a full timeout from the unit's creation", conv: recorded(activeAt(now - 9000)),
			world: World{Unit: bootingUnit}, want: "SyncStatus"},
		{name: "a live claim that is not recorded is enough", conv: held(activeAt(0)), world: ready, want: "CloseIdle"},
		{name: "a recorded claim that is gone is enough", conv: healthy(activeAt(0)), want: "CloseIdle"},
		{name: "a stamp before 1970 is none", conv: healthy(activeAt(math.MinInt64)), world: ready, want: "SyncStatus"},
		{name: "a stamp at the end of time does no harm", conv: healthy(activeAt(math.MaxInt64)), world: ready, want: "SyncStatus"},
		{name: "a clock that stepped back does no harm", conv: healthy(activeAt(now)), world: ready, at: now - 1000, want: "SyncStatus"},
	})
}

func TestPlanOfClosedConversations(t *testing.T) {
	named := status(func(s *polychromev1alpha1.ConversationStatus) { s.SandboxClaimName = "c1" })
	teardown := []Action{{Kind: TeardownUnit, Unit: refReady}}
	reason := func(r polychromev1alpha1.Reason) option {
		return status(func(s *polychromev1alpha1.ConversationStatus) { s.Conditions = triadOf(false, false, false, r) })
	}
	left := func(change func(*polychromev1alpha1.ConversationStatus)) *polychromev1alpha1.Conversation {
		return shut(closedAt(now), status(change))
	}
	ready, going := World{Unit: readyUnit}, World{Unit: goingUnit}
	runPlanCases(t, []planCase{
		{name: "closed with a claim it is cleaned up and keeps the finalizer", conv: shut(named), world: ready,
			want: "Cleanup", wantActions: teardown},
		{name: "an own claim that is not recorded is cleaned up too", conv: shut(), world: ready, want: "Cleanup", wantActions: teardown},
		{name: "a claim recorded and gone needs no request", conv: shut(named), want: "Cleanup"},
		{name: "row 3 asks for a live claim: one that is held must not loop", conv: shut(), world: going, want: "SettleClosed"},
		{name: "a recorded claim that is held is let go of", conv: shut(named), world: going, want: "Cleanup"},
		{name: "a foreign claim is not torn down", conv: shut(named), world: World{Unit: othersUnit}, want: "Cleanup"},
		{name: "with the claim still there retention is ignored", rules: on, conv: shut(named, closedAt(1000)), world: ready,
			want: "Cleanup", wantActions: teardown},
		{name: "closed and settled it rests", conv: shut(), want: "Noop"},
		{name: "without a stamp it is settled, and so can be collected later", rules: on, conv: shut(), want: "SettleClosed",
			reason: "the original kept such an object for ever"},
		{name: "within the retention it rests", rules: on, conv: shut(closedAt(now - 50)), want: "Noop"},
		{name: "row 4 is strict: at the boundary it rests", rules: on, conv: shut(closedAt(now - 60)), want: "Noop"},
		{name: "past the retention it is deleted", rules: on, conv: shut(closedAt(now - 61)),
			want: "DeleteConversation", wantActions: []Action{{Kind: DeleteConversation}}},
		{name: "with retention off it rests for ever", rules: off, conv: shut(closedAt(1000)), want: "Noop"},
		{name: "a turn after the closing counts", rules: on, conv: shut(closedAt(now-61), activeAt(now-60)), want: "Noop"},
		{name: "a claim held by somebody does not keep it", rules: on, conv: shut(closedAt(now - 61)), world: going,
			want: "DeleteConversation", wantActions: []Action{{Kind: DeleteConversation}}},
		{name: "a stamp before 1970 is none and is replaced", rules: on, conv: shut(closedAt(-5)), want: "SettleClosed"},
		{name: "a stamp at the end of time does no harm", rules: on, conv: shut(closedAt(math.MaxInt64)), want: "Noop"},
		{name: "an endless retention does not wrap round", rules: rules{retention: math.MaxInt64}, conv: shut(closedAt(1000)), want: "Noop"},
		{name: "another reason is settled", conv: shut(reason(polychromev1alpha1.ReasonTearingDown)), want: "SettleClosed"},
		{name: "a roll that was left over is settled", conv: left(func(s *polychromev1alpha1.ConversationStatus) { s.RollingHarness = true }), want: "SettleClosed"},
		{name: "an address that was left over is settled", conv: left(func(s *polychromev1alpha1.ConversationStatus) { s.PodIP = "10.4.2.7" }), want: "SettleClosed"},
		{name: "an endpoint that was left over is settled", conv: left(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessEndpoint = "http://x" }), want: "SettleClosed"},
		{name: "a readiness that was left over is settled", conv: left(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessReady = true }), want: "SettleClosed"},
		{name: "while its own claim is going that is the settled reason", conv: shut(status(func(s *polychromev1alpha1.ConversationStatus) {
			s.Conditions = triadOf(false, true, false, polychromev1alpha1.ReasonExecutionUnitTerminating)
		})), world: going, want: "Noop"},
		{name: "the finalizer is not asked for", conv: shut(func(c *polychromev1alpha1.Conversation) { c.Finalizers = nil }), want: "Noop"},
	})
}

func TestPlanOfDeletedConversations(t *testing.T) {
	remove := Action{Kind: RemoveFinalizer}
	teardown := Action{Kind: TeardownUnit, Unit: refReady}
	lastChance := Action{Kind: TeardownUnit, Unit: refReady, LastChance: true}
	withoutFinalizer := func(c *polychromev1alpha1.Conversation) { c.Finalizers = nil }
	ready := World{Unit: readyUnit}
	unread := World{Unit: execution.Unit{Name: "c1"}, Unread: errTest}
	runPlanCases(t, []planCase{
		{name: "with our finalizer it is cleaned up and let go", conv: recorded(deletedFor(0)), world: ready,
			want: "Cleanup", wantActions: []Action{teardown, remove}},
		{name: "a claim that is present and not recorded is torn down too", conv: held(deletedFor(0)), world: ready,
			want: "Cleanup", wantActions: []Action{teardown, remove}},
		{name: "without a claim it is let go", conv: recorded(deletedFor(0)), want: "Cleanup", wantActions: []Action{remove}},
		{name: "row 1 asks for a live claim: one that is going counts as torn down", conv: recorded(deletedFor(0)),
			world: World{Unit: goingUnit}, want: "Cleanup", wantActions: []Action{remove}},
		{name: "a foreign claim is left alone", conv: recorded(deletedFor(0)), world: World{Unit: othersUnit},
			want: "Cleanup", wantActions: []Action{remove}},
		{name: "without a backend it is let go", conv: recorded(deletedFor(0)), world: World{Unit: noBackend},
			want: "Cleanup", wantActions: []Action{remove}},
		{name: "a unit that cannot be read must be torn down all the same", conv: recorded(deletedFor(0)), world: unread,
			want: "Cleanup", wantActions: []Action{{Kind: TeardownUnit, Unit: execution.Ref{Name: "c1"}}, remove}},
		{name: "a minute short of ten the teardown may fail", conv: recorded(deletedFor(599)), world: ready,
			want: "Cleanup", wantActions: []Action{teardown, remove}},
		{name: "after ten minutes it may not", conv: recorded(deletedFor(600)), world: ready,
			want: "Cleanup", wantActions: []Action{lastChance, remove}},
		{name: "a deletion in the future has no age", conv: recorded(deletedFor(-5000)), world: ready,
			want: "Cleanup", wantActions: []Action{teardown, remove}},
		{name: "without our finalizer nothing is done", conv: recorded(deletedFor(0), withoutFinalizer), world: ready, want: "Noop"},
		{name: "deletion comes before closing", rules: on, conv: shut(deletedFor(0), closedAt(1)), want: "Cleanup", wantActions: []Action{remove}},
	})
}

func TestPlanTellsOfWhatItPassesOver(t *testing.T) {
	long := annotated(polychromev1alpha1.BusyUntilAnnotation, "tomorrow, or whenever it suits everybody best, but certainly not before noon")
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		want []framework.Event
	}{
		{"a settled conversation tells nothing", healthy(), readyUnit, nil},
		{"a turn that was announced rightly tells nothing", healthy(busyFor(60)), readyUnit, nil},
		{"a malformed busy-until is told of, cut short", healthy(long), readyUnit, []framework.Event{{Warning: true, Reason: "BusyUntilIgnored",
			Message: `annotation polychrome.dev/busy-until is ignored: "tomorrow, or whenever it suits everybody best, but certainly …" is no RFC 3339 time`}}},
		{"a busy-until too far ahead is told of", healthy(busyFor(86_401)), readyUnit, []framework.Event{{Warning: true, Reason: "BusyUntilIgnored",
			Message: "annotation polychrome.dev/busy-until is ignored: 2027-01-16T08:00:01Z is more than 24 hours ahead"}}},
		{"a foreign claim that is not torn down is told of", recorded(deletedFor(0)), othersUnit, []framework.Event{{Warning: true, Reason: "NameConflict",
			Message: "left c1 alone: it belongs to somebody else"}}},
		{"a foreign claim that was never recorded is nobody's business", held(deletedFor(0)), othersUnit, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := on.reconciler().Plan(time.Unix(now, 0), c.conv, World{Unit: c.unit})
			if diff := cmp.Diff(c.want, got.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
