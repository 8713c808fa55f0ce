package execution

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
)

func TestReadClaim(t *testing.T) {
	base := Unit{Name: "c1", Standing: Own, UID: "uid-claim", Version: "7", CreatedAt: 1000}
	with := func(change func(*Unit)) Unit {
		u := base
		change(&u)
		return u
	}
	blockedBy := func(reason string) Unit {
		return with(func(u *Unit) { u.BlockedBy, u.BlockedText = reason, "says "+reason })
	}
	endedBy := func(reason string) Unit {
		return with(func(u *Unit) { u.EndedBy, u.EndedText = reason, "says "+reason })
	}
	cases := []struct {
		name  string
		claim *agentsandboxv1alpha1.SandboxClaim
		want  Unit
	}{
		{"a claim without a status is not ready", ownClaim(), base},
		{"the first address and readiness are read", ownClaim(addressed("10.4.2.7", "fd00::7"), saying("Ready", "True", "PodRunning")),
			with(func(u *Unit) { u.Address, u.Ready = "10.4.2.7", true })},
		{"an address without the condition is not ready", ownClaim(addressed("10.4.2.7")), with(func(u *Unit) { u.Address = "10.4.2.7" })},
		{"Unknown is not ready", ownClaim(saying("Ready", "Unknown", "WhoKnows")), base},
		{"a left-over Suspended does not count", ownClaim(saying("Suspended", "True", "Idle"), saying("Ready", "True", "PodRunning")),
			with(func(u *Unit) { u.Ready = true })},
		{"a blocking reason is read", ownClaim(saying("Ready", "False", "TemplateNotFound")), blockedBy("TemplateNotFound")},
		{"so is each other one", ownClaim(saying("Ready", "False", "VolumeClaimTemplatesError")), blockedBy("VolumeClaimTemplatesError")},
		{"an ordinary reason is none", ownClaim(saying("Ready", "False", "SandboxNotReady")), base},
		{"a blocking reason of another condition is none", ownClaim(saying("Finished", "False", "ReconcilerError")), base},
		{"an ended pod is read from Ready", ownClaim(saying("Ready", "False", "PodFailed")), endedBy("PodFailed")},
		{"and from Finished", ownClaim(saying("Ready", "False", "SandboxNotReady"), saying("Finished", "True", "PodSucceeded")), endedBy("PodSucceeded")},
		{"which wins over Ready", ownClaim(saying("Ready", "True", "PodRunning"), saying("Finished", "True", "PodFailed")), endedBy("PodFailed")},
		{"Finished for a reason that nobody knows is a failure", ownClaim(saying("Finished", "True", "Whatever")),
			with(func(u *Unit) { u.EndedBy, u.EndedText = "PodFailed", "says Whatever" })},
		{"Finished that is False is not", ownClaim(saying("Finished", "False", "PodFailed")), base},
		{"so does an expired claim end", ownClaim(saying("Ready", "False", "ClaimExpired")), endedBy("ClaimExpired")},
		{"and an expired sandbox", ownClaim(saying("Ready", "False", "SandboxExpired")), endedBy("SandboxExpired")},
		{"ready wins over its own reason", ownClaim(saying("Ready", "True", "ReconcilerError")), with(func(u *Unit) { u.Ready = true })},
		{"a going claim says what holds it", ownClaim(terminating), with(func(u *Unit) { u.Terminating, u.HeldBy = true, []string{"example.com/hold"} })},
		{"the generation is read", ownClaim(madeWith("g1")), with(func(u *Unit) { u.Generation = "g1" })},
		{"a generation longer than any status holds is none", ownClaim(madeWith(strings.Repeat("g", 257))), base},
		{"without a reference the label makes it ours", ownClaim(unreferenced), base},
		{"without either it is not", ownClaim(unreferenced, unlabelled), Unit{Name: "c1", Standing: Foreign}},
		{"the label does not outweigh another controller", ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.OwnerReferences[0].UID = "uid-other" }, addressed("10.9.9.9")),
			Unit{Name: "c1", Standing: Foreign}},
		{"an earlier incarnation's claim is foreign", ownClaim(unlabelled, func(c *agentsandboxv1alpha1.SandboxClaim) { c.OwnerReferences[0].UID = "uid-old" }),
			Unit{Name: "c1", Standing: Foreign}},
		{"another version of our group is ours", ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.OwnerReferences[0].APIVersion = "polychrome.dev/v1" }), base},
		{"another group is not", ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.OwnerReferences[0].APIVersion = "example.com/v1alpha1" }),
			Unit{Name: "c1", Standing: Foreign}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readClaim(ownerOf(conversation()), fromV1alpha1(c.claim))); diff != "" {
				t.Errorf("unit (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAUnitIs(t *testing.T) {
	ready := Unit{Standing: Own, Ready: true, Address: "10.4.2.7"}
	with := func(change func(*Unit)) Unit {
		u := ready
		change(&u)
		return u
	}
	cases := []struct {
		name                            string
		unit                            Unit
		wantPresent, wantLive, wantDial bool
	}{
		{"none", Unit{}, false, false, false},
		{"ready", ready, true, true, true},
		{"ready without an address", with(func(u *Unit) { u.Address = "" }), true, true, false},
		{"an address, not ready", with(func(u *Unit) { u.Ready = false }), true, true, false},
		{"going", with(func(u *Unit) { u.Terminating = true }), true, false, false},
		{"foreign", with(func(u *Unit) { u.Standing = Foreign }), false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.unit.Present() != c.wantPresent || c.unit.Live() != c.wantLive || c.unit.Dialable() != c.wantDial {
				t.Errorf("want present %t, live %t, dialable %t; got %t, %t, %t", c.wantPresent, c.wantLive, c.wantDial,
					c.unit.Present(), c.unit.Live(), c.unit.Dialable())
			}
		})
	}
}

func TestEveryBlockingReasonIsPassedOn(t *testing.T) {
	for _, reason := range blocking {
		claim := ownClaim(saying(agentsandboxv1alpha1.ConditionReady, metav1.ConditionFalse, string(reason)))
		if got := readClaim(ownerOf(conversation()), fromV1alpha1(claim)).BlockedBy; got != string(reason) {
			t.Errorf("want %s, got %q", reason, got)
		}
	}
	if len(blocking) != 6 {
		t.Errorf("want 6 blocking reasons, got %d", len(blocking))
	}
}
