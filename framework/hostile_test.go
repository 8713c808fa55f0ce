package framework

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework/owners"
)

// hostileObjects are JSON of what no reasonable server sends.
func hostileObjects() []string {
	return []string{
		`{}`, `null`, `[]`, `7`, `"a"`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":{}}`, `{`, ``,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}}`,
		`{"metadata":{"name":"","namespace":"","uid":"","resourceVersion":"","generation":-9223372036854775808}}`,
		`{"metadata":{"name":"a/b/c","namespace":"/","uid":"u","resourceVersion":"-1"}}`,
		`{"metadata":{"name":"` + strings.Repeat("a", 1<<16) + `","uid":"u","labels":null,"annotations":{"":""}}}`,
		`{"metadata":{"name":"a","ownerReferences":[{},{"controller":true},{"controller":true,"kind":"","name":""}]}}`,
		`{"metadata":{"name":"a","ownerReferences":[{"controller":true,"apiVersion":"a/b/c","uid":"u"}]}}`,
		`{"metadata":{"name":"a","uid":"u","creationTimestamp":"yesterday"}}`,
		`{"metadata":{"name":"a","uid":"u","deletionTimestamp":null,"finalizers":[""],"managedFields":[{}]}}`,
		`{"metadata":{"name":"a","uid":"u","resourceVersion":"2"},"spec":{"ports":[{"port":1},{"port":"x"}]},"status":{"conditions":[{}]}}`,
		`{"metadata":{"name":"a","uid":"u"},"spec":"x","status":{"conditions":[{"lastTransitionTime":"never"}]}}`,
		`{"metadata":{"name":"a","uid":"u"},"status":{"conditions":null},"":{"":[[[null]]]}}`,
		`{"metadata":{"name":"a","uid":"u"},"spec":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`,
	}
}

// hostileWorld is a resource with every handler that the framework adds.
type hostileWorld struct {
	*passWorld
	itemDecoder[*corev1.Service]
	store cache.Indexer
}

func newHostileWorld(t testing.TB) *hostileWorld {
	t.Helper()
	w := newPassWorld(t, &scripted{})
	Watches(w.Resource, func(svc *corev1.Service) []Key {
		reference, _ := owners.Controller(svc)
		return []Key{{Namespace: svc.Namespace, Name: reference.Name}}
	}).attach(func(key Key, m mark) { w.loop.hear(key, m, sourceCause(0)) })
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	w.Resource.verdict.Store(&verdict{state: Served, looked: true, store: store})
	return &hostileWorld{
		passWorld: w, store: store,
		itemDecoder: itemDecoder[*corev1.Service]{decoded: w.Resource.decoded},
	}
}

// receive takes an object through all that an informer does with it.
func (w *hostileWorld) receive(t *testing.T, obj any, key string) {
	t.Helper()
	if _, err := stripManagedFields(obj); err != nil {
		t.Errorf("want every object let through, got %v", err)
	}
	svc, ok := obj.(*corev1.Service)
	if !ok {
		return
	}
	if err := w.store.Add(svc); err != nil {
		t.Errorf("storing %q: %v", svc.Name, err)
	}
	w.Resource.changed(svc, false)
	w.identify(keyOf(svc))
	w.Resource.look(keyOf(svc))
	w.Resource.deleted(cache.DeletedObject[*corev1.Service]{OptionalObj: svc})
	w.Resource.deleted(cache.DeletedObject[*corev1.Service]{OptionalObj: svc, FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: key, Obj: svc}})
}

// rest ends what was received.
func (w *hostileWorld) rest(t *testing.T) {
	t.Helper()
	if len(w.Resource.broken) != 0 {
		t.Errorf("want nothing remembered of objects that are gone, got %v", w.Resource.broken)
	}
	w.turned(true)
	w.Resource.cache()
	w.Resource.forgetLife(w.store)
	if err := w.store.Replace(nil, ""); err != nil {
		t.Fatal(err)
	}
	for w.loop.queue.Len() > 0 {
		key, _ := w.loop.queue.Get()
		w.loop.queue.Done(key)
	}
	if got := testutil.ToFloat64(w.Resource.metrics.panics.WithLabelValues("services")); got != 0 {
		t.Fatalf("want no handler panicking, got %v", got)
	}
}

func FuzzHostileObject(f *testing.F) {
	for _, raw := range hostileObjects() {
		f.Add([]byte(raw), "n/a")
	}
	f.Add([]byte(`{}{"type":"ADDED"}{"type":"MODIFIED","object":null}{"type":"BOOKMARK","object":{"metadata":7}}`), "")
	w := newHostileWorld(f)
	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		if list, err := w.list(fmt.Appendf(nil, `{"metadata":{},"items":[%s,%s]}`, raw, raw)); err == nil {
			for _, obj := range list.(*metainternal.List).Items {
				w.receive(t, obj, key)
			}
		}
		streams := [][]byte{raw}
		for _, kind := range []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", ""} {
			streams = append(streams, fmt.Appendf(nil, `{"type":%q,"object":%s}`, kind, raw))
		}
		for _, stream := range streams {
			d := &eventDecoder[*corev1.Service]{
				itemDecoder: w.itemDecoder, body: io.NopCloser(nil), events: json.NewDecoder(bytes.NewReader(stream)),
			}
			for {
				_, obj, err := d.Decode()
				if err != nil {
					break
				}
				w.receive(t, obj, key)
			}
		}
		w.rest(t)
	})
}

func FuzzHostileTombstone(f *testing.F) {
	for _, key := range []string{"", "/", "a", "n/a", "n/a/b", "//", strings.Repeat("a/", 1<<10)} {
		f.Add(key)
	}
	w := newHostileWorld(f)
	f.Fuzz(func(t *testing.T, key string) {
		byValue := cache.DeletedFinalStateUnknown{Key: key}
		w.Resource.deleted(cache.DeletedObject[*corev1.Service]{})
		w.Resource.deleted(cache.DeletedObject[*corev1.Service]{FinalStateUnknown: &byValue})
		w.Resource.deleted(cache.DeletedObject[*corev1.Service]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: key, Obj: key}})
		for _, obj := range []any{
			nil, key, byValue, &byValue, cache.DeletedFinalStateUnknown{Key: key, Obj: byValue},
			cache.DeletedObject[*corev1.Service]{FinalStateUnknown: &byValue}, cache.ExplicitKey(key),
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: key, ManagedFields: []metav1.ManagedFieldsEntry{{}}}}, &metav1.Status{}, corev1.Pod{},
		} {
			w.receive(t, obj, key)
		}
		w.rest(t)
	})
}

func FuzzHostileWatchError(f *testing.F) {
	f.Add(int32(0), "", "")
	f.Add(int32(-1), "Forbidden", "no")
	f.Add(int32(404), "NotFound", "")
	f.Add(int32(410), "Expired", strings.Repeat("old", 1<<12))
	w := newHostileWorld(f)
	f.Fuzz(func(t *testing.T, code int32, reason, message string) {
		status := &metav1.Status{Code: code, Reason: metav1.StatusReason(reason), Message: message}
		for _, err := range []error{
			apierrors.FromObject(status), &apierrors.StatusError{ErrStatus: *status},
			fmt.Errorf("%s: %w", message, &apierrors.StatusError{}), errors.Join(errors.New(message), io.EOF), apierrors.FromObject(nil),
		} {
			w.Resource.watchFailed(t.Context(), nil, err)
		}
	})
}
