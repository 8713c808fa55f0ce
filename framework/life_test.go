package framework

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOnlyAnotherStateIsTold(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	turns := 0
	w.Resource.OnTurn(func() { turns++ })
	for port := range 3 {
		w.Resource.turn(Unknown, fmt.Errorf("dialling from port %d", port), nil)
	}
	if turns != 1 {
		t.Errorf("turns for one failure that is worded anew at each look: want 1, got %d", turns)
	}
	if err := w.Resource.Err(); err == nil || err.Error() != "dialling from port 2" {
		t.Errorf("want the newest reason, got %v", err)
	}
	w.Resource.turn(Absent, nil, nil)
	if turns != 2 {
		t.Errorf("turns after another state: want 2, got %d", turns)
	}
}

func TestADormantKindIsSaidEveryFiveMinutes(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w.Resource.log = slog.New(slog.NewTextHandler(&log, nil))
		w.Resource.Hints.Access = "apply the manifest"
		for look := range 121 {
			w.Resource.turn(Unknown, fmt.Errorf("look %d", look), nil)
			time.Sleep(lookEvery)
		}
		if got := strings.Count(log.String(), `hint="apply the manifest"`); got != 3 {
			t.Errorf("want three lines with a hint in ten minutes of looks, got %d:\n%s", got, log.String())
		}
		log.Reset()
		w.Resource.Optional = true
		w.Resource.turn(Absent, nil, nil)
		time.Sleep(time.Hour)
		w.Resource.turn(Absent, nil, nil)
		if got := strings.Count(log.String(), "\n"); got != 1 {
			t.Errorf("want one line on a kind that nobody needs, got %d:\n%s", got, log.String())
		}
	})
}

func TestWhatWasSettledByAnEarlierProgramIsRewrittenInTurns(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	if w.settled(w.svc) {
		t.Error("want an object that nobody has looked at to be new work")
	}
	w.Settled = func(svc *corev1.Service) bool { return svc.Annotations["settled"] == "true" }
	if w.settled(w.svc) {
		t.Error("want an object that was not settled to be new work")
	}
	w.svc.Annotations = map[string]string{"settled": "true"}
	if !w.settled(w.svc) {
		t.Error("want an object that was settled to wait for its turn")
	}
	w.svc.DeletionTimestamp = &metav1.Time{}
	if w.settled(w.svc) {
		t.Error("want the end of an object not to wait")
	}
}
