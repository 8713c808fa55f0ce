package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
)

func TestANewPageMakesOtherPods(t *testing.T) {
	pods := func(site *webv1alpha1.Website) any { return deploymentFor(site).Spec.Template }
	same := site(func(s *webv1alpha1.Website) { s.Spec.Replicas = 7 })
	if diff := cmp.Diff(pods(site()), pods(same)); diff != "" {
		t.Errorf("the same page with more replicas (-want +got):\n%s", diff)
	}
	other := site(func(s *webv1alpha1.Website) { s.Spec.HTML = "<h1>Bye</h1>" })
	if cmp.Equal(pods(site()), pods(other)) {
		t.Error("want other pods for another page, got the same")
	}
}

func TestTheImageIsTheUsersChoice(t *testing.T) {
	image := func(site *webv1alpha1.Website) string {
		return *deploymentFor(site).Spec.Template.Spec.Containers[0].Image
	}
	if got := image(site()); got != defaultImage {
		t.Errorf("want the image %s by default, got %s", defaultImage, got)
	}
	chosen := site(func(s *webv1alpha1.Website) { s.Spec.Image = "example.com/server:1" })
	if got, want := image(chosen), chosen.Spec.Image; got != want {
		t.Errorf("want the image %s, got %s", want, got)
	}
}
