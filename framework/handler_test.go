package framework

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestAPanickingMapperCostsItsEventAndNoOther(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	var log bytes.Buffer
	w.Resource.log = slog.New(slog.NewTextHandler(&log, nil))
	var mapped, after []string
	watch := Watches(w.Resource, func(svc *corev1.Service) []Key {
		return []Key{{Name: svc.Annotations["for"], Namespace: svc.OwnerReferences[0].Name}}
	})
	watch.attach(func(key Key, _ mark) { mapped = append(mapped, key.String()) })
	w.Resource.OnChange(func(svc *corev1.Service, _ bool) { after = append(after, svc.Name) })

	odd := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "odd"}}
	sound := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "sound", Annotations: map[string]string{"for": "a"}, OwnerReferences: []metav1.OwnerReference{{Name: "b"}},
	}}
	w.Resource.changed(odd, false)
	w.Resource.changed(sound, false)
	w.Resource.deleted(cache.DeletedObject[*corev1.Service]{OptionalObj: odd})
	w.Resource.forgetLife(w.Resource.verdict.Load().store)

	if diff := cmp.Diff([]string{"b/a"}, mapped); diff != "" {
		t.Errorf("keys from the mapper (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"odd", "sound", "odd", "svc"}, after); diff != "" {
		t.Errorf("events of the handler behind it (-want +got):\n%s", diff)
	}
	if got := testutil.ToFloat64(w.Resource.metrics.panics.WithLabelValues("services")); got != 3 {
		t.Errorf("panics counted: want 3, got %v", got)
	}
	if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "object=n/odd") ||
		!strings.Contains(got, "index out of range") || !strings.Contains(got, "handler_test.go") {
		t.Errorf("want the first panic logged with its object, value and place, got:\n%s", got)
	}
}
