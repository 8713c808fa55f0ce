package framework

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestWritingInCirclesIsToldFromWork(t *testing.T) {
	const key = "flapper"
	write := func(n int, target string) touch {
		return touch{target: target, mark: mark{uid: types.UID(target), version: strconv.Itoa(n)}, paths: []string{"data.color"}}
	}
	cases := map[string]struct {
		// round is one pass and what is heard before the next.
		round func(a *activity, n int) []touch
		gap   time.Duration
		want  []string
	}{
		"one object again and again, and only echoes": {
			round: func(a *activity, n int) []touch {
				a.hear(mark{uid: "ConfigMap one", version: strconv.Itoa(n - 1)})
				return []touch{write(n, "ConfigMap one")}
			},
			want: []string{"ConfigMap one: data.color"},
		},
		"an object deleted and made again": {
			round: func(a *activity, n int) []touch {
				if n%2 == 0 {
					return []touch{{target: "ConfigMap one", mark: mark{uid: types.UID(strconv.Itoa(n))}, paths: []string{"deleted"}}}
				}
				a.hear(mark{uid: types.UID(strconv.Itoa(n - 1)), version: "any"})
				return []touch{{target: "ConfigMap one", mark: mark{uid: types.UID(strconv.Itoa(n + 1)), version: strconv.Itoa(n)}, paths: []string{"created"}}}
			},
			want: []string{"ConfigMap one: created", "ConfigMap one: deleted"},
		},
		"somebody else changes it each time": {
			round: func(a *activity, n int) []touch {
				a.hear(mark{uid: "ConfigMap one", version: "theirs" + strconv.Itoa(n)})
				return []touch{write(n, "ConfigMap one")}
			},
		},
		"many objects": {
			round: func(_ *activity, n int) []touch { return []touch{write(n, "ConfigMap "+strconv.Itoa(n))} },
		},
		"slowly": {
			gap:   10 * time.Second,
			round: func(_ *activity, n int) []touch { return []touch{write(n, "ConfigMap one")} },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now, all := time.Unix(0, 0), newActivities()
			k := Key{Name: key}
			all.add(now, k, 1, nil)
			for n := range 3 * maxWrites {
				now = now.Add(c.gap)
				a := all.of(k)
				a.disturbed(now, 1)
				if got := a.flapping(); got != nil {
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Errorf("paths (-want +got):\n%s", diff)
					}
					if n < maxWrites {
						t.Errorf("want %d writes allowed, stopped after %d", maxWrites, n)
					}
					return
				}
				all.add(now, k, 1, c.round(a, n))
			}
			if c.want != nil {
				t.Error("want it found out")
			}
		})
	}
}

func TestANewGenerationBeginsAnew(t *testing.T) {
	now, all := time.Unix(0, 0), newActivities()
	for n := range maxWrites {
		all.add(now, thing, 1, []touch{{target: "x", mark: mark{uid: "x", version: strconv.Itoa(n)}, paths: []string{"p"}}})
	}
	a := all.of(thing)
	if a.disturbed(now, 1) || a.flapping() == nil {
		t.Fatal("want the old generation found out")
	}
	if !a.disturbed(now, 2) || a.flapping() != nil {
		t.Error("want a new generation let go on")
	}
}

func TestActivitiesAreForgotten(t *testing.T) {
	now, all := time.Unix(0, 0), newActivities()
	for n := range 1000 {
		all.add(now, Key{Name: strconv.Itoa(n)}, 1, []touch{{target: "x", mark: mark{uid: "x"}}})
	}
	for range 2 {
		now = now.Add(flapWindow + time.Second)
		all.add(now, thing, 1, []touch{{target: "x", mark: mark{uid: "x"}}})
	}
	if left := len(all.recent) + len(all.older); left > 2 {
		t.Errorf("want only the key that still writes, got %d", left)
	}
}
