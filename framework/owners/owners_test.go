package owners_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"polychrome.dev/controller/framework/owners"
)

const label = "example.com/owner-uid"

var owner = owners.Owner{APIVersion: "example.com/v1alpha1", Kind: "Thing", Name: "one", UID: "u1", UIDLabel: label}

func reference(apiVersion, kind string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "one", UID: uid, Controller: ptr.To(true)}
}

func TestJudge(t *testing.T) {
	ours := reference("example.com/v1alpha1", "Thing", "u1")
	plain := ours
	plain.Controller = nil
	denied := ours
	denied.Controller = ptr.To(false)
	other := reference("apps/v1", "ReplicaSet", "u9")
	tests := map[string]struct {
		references []metav1.OwnerReference
		labels     map[string]string
		owner      owners.Owner
		want       owners.Ownership
	}{
		"our reference":                         {[]metav1.OwnerReference{ours}, nil, owner, owners.Ours},
		"our reference in another version":      {[]metav1.OwnerReference{reference("example.com/v2", "Thing", "u1")}, nil, owner, owners.Ours},
		"our reference among plain ones":        {[]metav1.OwnerReference{{UID: "u9"}, ours}, nil, owner, owners.Ours},
		"our reference and a foreign label":     {[]metav1.OwnerReference{ours}, map[string]string{label: "u9"}, owner, owners.Ours},
		"no reference":                          {nil, nil, owner, owners.Free},
		"no reference but our label":            {nil, map[string]string{label: "u1"}, owner, owners.Ours},
		"no reference and a foreign label":      {nil, map[string]string{label: "u9"}, owner, owners.Free},
		"an owner that is no controller":        {[]metav1.OwnerReference{plain}, nil, owner, owners.Free},
		"an owner that denies being one":        {[]metav1.OwnerReference{denied}, nil, owner, owners.Free},
		"no controller, our label":              {[]metav1.OwnerReference{plain}, map[string]string{label: "u1"}, owner, owners.Ours},
		"another controller":                    {[]metav1.OwnerReference{other}, nil, owner, owners.Foreign},
		"another controller in spite of label":  {[]metav1.OwnerReference{other}, map[string]string{label: "u1"}, owner, owners.Foreign},
		"an earlier owner of the name":          {[]metav1.OwnerReference{reference("example.com/v1alpha1", "Thing", "u0")}, nil, owner, owners.Foreign},
		"another kind":                          {[]metav1.OwnerReference{reference("example.com/v1alpha1", "Thong", "u1")}, nil, owner, owners.Foreign},
		"another group":                         {[]metav1.OwnerReference{reference("example.org/v1alpha1", "Thing", "u1")}, nil, owner, owners.Foreign},
		"no group":                              {[]metav1.OwnerReference{reference("v1alpha1", "Thing", "u1")}, nil, owner, owners.Foreign},
		"two controllers, one of them we":       {[]metav1.OwnerReference{ours, other}, nil, owner, owners.Foreign},
		"two controllers, both of them we":      {[]metav1.OwnerReference{ours, ours}, nil, owner, owners.Foreign},
		"two controllers in spite of the label": {[]metav1.OwnerReference{other, other}, map[string]string{label: "u1"}, owner, owners.Foreign},
		"an API version of three parts":         {[]metav1.OwnerReference{reference("example.com/v1/x", "Thing", "u1")}, nil, owner, owners.Foreign},
		"an API version of a group alone":       {[]metav1.OwnerReference{reference("example.com/", "Thing", "u1")}, nil, owner, owners.Foreign},
		"no API version":                        {[]metav1.OwnerReference{reference("", "Thing", "u1")}, nil, owner, owners.Foreign},
		"the core group": {[]metav1.OwnerReference{reference("v2", "Pod", "u1")}, nil,
			owners.Owner{APIVersion: "v1", Kind: "Pod", UID: "u1"}, owners.Ours},
		"two bad API versions are not equal": {[]metav1.OwnerReference{reference("a/b/c", "Thing", "u1")}, nil,
			owners.Owner{APIVersion: "a/b/c", Kind: "Thing", UID: "u1"}, owners.Foreign},
		"two empty API versions are not equal": {[]metav1.OwnerReference{reference("", "Thing", "u1")}, nil,
			owners.Owner{Kind: "Thing", UID: "u1"}, owners.Foreign},
		"two empty UIDs are not equal": {[]metav1.OwnerReference{reference("v1", "Pod", "")}, nil,
			owners.Owner{APIVersion: "v1", Kind: "Pod"}, owners.Foreign},
		"two empty kinds are not equal": {[]metav1.OwnerReference{reference("v1", "", "u1")}, nil,
			owners.Owner{APIVersion: "v1", UID: "u1"}, owners.Foreign},
		"an empty UID is no label":      {nil, map[string]string{label: ""}, owners.Owner{UIDLabel: label}, owners.Free},
		"an empty label key is none":    {nil, map[string]string{"": "u1"}, owners.Owner{UID: "u1"}, owners.Free},
		"an owner without label of its": {nil, map[string]string{label: "u1"}, owners.Owner{UID: "u1"}, owners.Free},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.references, Labels: test.labels}}
			if got := owners.Judge(test.owner, child); got != test.want {
				t.Errorf("Judge = %v, want %v", got, test.want)
			}
		})
	}
}

func TestAReferenceOfOursIsJudgedOurs(t *testing.T) {
	raw, err := json.Marshal(owner.Fields())
	if err != nil {
		t.Fatal(err)
	}
	var got metav1.OwnerReference
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := reference("example.com/v1alpha1", "Thing", "u1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Reference (-want +got):\n%s", diff)
	}
	child := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{got}}}
	if got := owners.Judge(owner, child); got != owners.Ours {
		t.Errorf("Judge = %v, want ours", got)
	}
	for reference, want := range map[any]bool{"u1": false, nil: false} {
		if got := owner.IsIn(reference); got != want {
			t.Errorf("IsIn(%v) = %v, want %v", reference, got, want)
		}
	}
	if !owner.IsIn(owner.Fields()) || owner.IsIn(map[string]any{"uid": "u2"}) || (owners.Owner{}).IsIn(map[string]any{"uid": ""}) {
		t.Error("want the owner's UID, and no other, to tell")
	}
}

func TestController(t *testing.T) {
	ours := reference("example.com/v1alpha1", "Thing", "u1")
	for name, test := range map[string]struct {
		references []metav1.OwnerReference
		want       bool
	}{
		"one":                    {[]metav1.OwnerReference{{UID: "u9"}, ours}, true},
		"none":                   {[]metav1.OwnerReference{{UID: "u9"}}, false},
		"several are not one":    {[]metav1.OwnerReference{ours, ours}, false},
		"no references whatever": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := owners.Controller(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.references}})
			if ok != test.want || ok && got.UID != "u1" || !ok && got.UID != "" {
				t.Errorf("Controller = %v, %v, want %v", got, ok, test.want)
			}
		})
	}
}

func TestNoChildIsForeign(t *testing.T) {
	if got := owners.Judge(owner, nil); got != owners.Foreign {
		t.Errorf("Judge of nothing = %v, want foreign", got)
	}
	if _, ok := owners.Controller(nil); ok {
		t.Error("Controller of nothing = true")
	}
	var zero owners.Ownership
	if zero != owners.Foreign {
		t.Errorf("the zero ownership is %v, want foreign, which forbids writing", zero)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("example.com/v1", "Thing", "u1", "u1", true, true)
	f.Add("a/b/c", "", "", "", true, false)
	f.Fuzz(func(t *testing.T, apiVersion, kind, uid, labelled string, first, second bool) {
		one := reference(apiVersion, kind, types.UID(uid))
		one.Controller = &first
		two := reference(kind, uid, types.UID(apiVersion))
		two.Controller = &second
		child := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: []metav1.OwnerReference{one, two}, Labels: map[string]string{label: labelled}}}
		got := owners.Judge(owner, child)
		if got == owners.Ours && first && second {
			t.Errorf("Judge of two controllers = ours")
		}
		if got == owners.Ours && uid != "u1" && apiVersion != "u1" && labelled != "u1" {
			t.Errorf("Judge = ours without our UID")
		}
		if got != owners.Foreign {
			return
		}
		if !first && !second {
			t.Errorf("Judge = foreign without a controller")
		}
	})
}
