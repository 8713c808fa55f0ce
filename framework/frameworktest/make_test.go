package frameworktest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/framework/owners"
)

func TestMakersSetWhatTheyAreNamedFor(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	owner := frameworktest.Make(&corev1.Pod{}, frameworktest.Name("o"), frameworktest.InNamespace("ns"))
	got := frameworktest.Make(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"was": "there"}}},
		frameworktest.Name("c"), frameworktest.InNamespace("ns"), frameworktest.Generation(7), frameworktest.UID("u"),
		frameworktest.Labels(map[string]string{"a": "b"}), frameworktest.Annotations(map[string]string{"c": "d"}),
		frameworktest.Finalizers("x/y"), frameworktest.Finalizers("x/z"), frameworktest.CreatedAt(at), frameworktest.Deleting(at),
		frameworktest.OwnedBy(owner, corev1.SchemeGroupVersion.WithKind("Pod")))
	controller, stamp, grace := true, metav1.NewTime(at), int64(0)
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "c", Namespace: "ns", Generation: 7, UID: "u",
		Labels: map[string]string{"was": "there", "a": "b"}, Annotations: map[string]string{"c": "d"},
		Finalizers: []string{"x/y", "x/z"}, CreationTimestamp: stamp, DeletionTimestamp: &stamp, DeletionGracePeriodSeconds: &grace,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: owner.UID, Controller: &controller}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if judged := owners.Judge(owners.Owner{APIVersion: "v1", Kind: "Pod", Name: "o", UID: owner.UID}, got); judged != owners.Ours {
		t.Errorf("want the object to be its owner's, got %s", judged)
	}
}

func TestAMadeObjectHasAUIDOfItsOwn(t *testing.T) {
	a := frameworktest.Make(&corev1.Pod{}, frameworktest.Name("a"))
	again := frameworktest.Make(&corev1.Pod{}, frameworktest.Name("a"))
	b := frameworktest.Make(&corev1.Pod{}, frameworktest.Name("b"))
	elsewhere := frameworktest.Make(&corev1.Pod{}, frameworktest.Name("a"), frameworktest.InNamespace("ns"))
	if a.UID != again.UID || a.UID == b.UID || a.UID == elsewhere.UID || len(a.UID) != 36 {
		t.Errorf("UIDs: %s, again %s, another %s, elsewhere %s", a.UID, again.UID, b.UID, elsewhere.UID)
	}
	if a.Generation != 1 {
		t.Errorf("want generation 1, got %d", a.Generation)
	}
}
