package framework

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// TestOnlyWhatTheCacheWillShowIsWaitedFor writes to objects inside and outside
// of what the cache selects: a bookmark tells of the others, a minute late.
func TestOnlyWhatTheCacheWillShowIsWaitedFor(t *testing.T) {
	tests := map[string]struct {
		answered  metav1.ObjectMeta
		uncached  bool
		wantNotes int
	}{
		"selected":                         {answered: metav1.ObjectMeta{Namespace: "n", Labels: map[string]string{"ours": "yes"}}, wantNotes: 1},
		"selected and not cached yet":      {answered: metav1.ObjectMeta{Namespace: "n", Labels: map[string]string{"ours": "yes"}}, uncached: true, wantNotes: 1},
		"not selected":                     {answered: metav1.ObjectMeta{Namespace: "n"}, uncached: true},
		"in another namespace":             {answered: metav1.ObjectMeta{Namespace: "m", Labels: map[string]string{"ours": "yes"}}, uncached: true},
		"not selected any more, but shown": {answered: metav1.ObjectMeta{Namespace: "n"}, wantNotes: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newPassWorld(t, &scripted{})
			w.Resource.Selector = labels.SelectorFromSet(labels.Set{"ours": "yes"})
			shown := w.svc.DeepCopy()
			if test.uncached {
				shown.Name = "uncached"
			}
			w.client.patch = func(name string, _ types.PatchType, _ []byte, _ ...string) (*corev1.Service, error) {
				out := &corev1.Service{ObjectMeta: test.answered}
				out.Name, out.UID, out.ResourceVersion = name, "u", "9"
				return out, nil
			}
			rec := &recorder{unchanged: func(metav1.Object) bool { return true }}
			if err := w.Resource.AddFinalizer(withRecorder(t.Context(), rec), shown, "ours"); err != nil {
				t.Fatal(err)
			}
			if len(rec.notes) != test.wantNotes {
				t.Errorf("want %d notes, got %+v", test.wantNotes, rec.notes)
			}
		})
	}
}
