package conditions_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/conditions"
)

var (
	epoch   = time.Unix(0, 0).UTC()
	earlier = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	now     = earlier.Add(time.Hour + 700*time.Millisecond)
	stamp   = earlier.Add(time.Hour)
)

func ready(status metav1.ConditionStatus, reason, message string, generation int64, at time.Time) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(at)}
}

func TestSet(t *testing.T) {
	other := metav1.Condition{Type: "Other", Status: metav1.ConditionTrue, Reason: "Fine"}
	tests := map[string]struct {
		old  []metav1.Condition
		set  metav1.Condition
		want []metav1.Condition
	}{
		"the first of its type is new": {
			old:  []metav1.Condition{other},
			set:  ready("True", "Up", "m", 0, time.Time{}),
			want: []metav1.Condition{other, ready("True", "Up", "m", 7, stamp)},
		},
		"a flip moves the time and keeps the place": {
			old:  []metav1.Condition{ready("False", "Down", "m", 6, earlier), other},
			set:  ready("True", "Up", "n", 0, time.Time{}),
			want: []metav1.Condition{ready("True", "Up", "n", 7, stamp), other},
		},
		"another reason, message and generation keep the time": {
			old:  []metav1.Condition{ready("False", "Down", "m", 6, earlier)},
			set:  ready("False", "Broken", "n", 0, time.Time{}),
			want: []metav1.Condition{ready("False", "Broken", "n", 7, earlier)},
		},
		"a time that came along counts for nothing": {
			old:  []metav1.Condition{ready("False", "Down", "m", 6, earlier)},
			set:  ready("False", "Down", "m", 3, now.Add(time.Hour)),
			want: []metav1.Condition{ready("False", "Down", "m", 7, earlier)},
		},
		"the first look at a default moves the time though the status stays": {
			old:  []metav1.Condition{ready("Unknown", "Pending", "", 0, epoch)},
			set:  ready("Unknown", "Waiting", "", 0, time.Time{}),
			want: []metav1.Condition{ready("Unknown", "Waiting", "", 7, stamp)},
		},
		"a default confirmed as pending gets a real time": {
			old:  []metav1.Condition{ready("Unknown", "Pending", "", 0, epoch)},
			set:  ready("Unknown", "Pending", "", 0, time.Time{}),
			want: []metav1.Condition{ready("Unknown", "Pending", "", 7, stamp)},
		},
		"which it then keeps": {
			old:  []metav1.Condition{ready("Unknown", "Pending", "", 7, earlier)},
			set:  ready("Unknown", "Pending", "m", 0, time.Time{}),
			want: []metav1.Condition{ready("Unknown", "Pending", "m", 7, earlier)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.old)
			got := conditions.Set(test.old, now, 7, test.set)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.old); diff != "" {
				t.Errorf("Set changed its argument (-before +after):\n%s", diff)
			}
			again := conditions.Set(got, now.Add(time.Minute), 7, test.set)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("Set again (-first +second):\n%s", diff)
			}
		})
	}
}

func TestSetDoesNotWriteIntoSpareCapacity(t *testing.T) {
	spare := make([]metav1.Condition, 1, 4)
	spare[0] = ready("True", "Up", "", 1, earlier)
	conditions.Set(spare, now, 1, metav1.Condition{Type: "A", Status: metav1.ConditionTrue})
	if got := spare[:2][1].Type; got != "" {
		t.Errorf("Set wrote %q behind its argument", got)
	}
}

func TestTimesAreAsStored(t *testing.T) {
	set := conditions.Set(nil, now, 1, ready("True", "Up", "", 0, time.Time{}))
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	var stored []metav1.Condition
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set, stored); diff != "" {
		t.Errorf("stored (-set +stored):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	conds := []metav1.Condition{ready("True", "Up", "", 1, earlier), {Type: "Bad", Status: metav1.ConditionFalse}}
	if got := conditions.Remove(conds, "Ready"); len(got) != 1 || got[0].Type != "Bad" || conds[0].Type != "Ready" {
		t.Errorf("Remove = %v of %v, want Bad alone and the argument unchanged", got, conds)
	}
	if diff := cmp.Diff(conds, conditions.Remove(conds, "None")); diff != "" {
		t.Errorf("Remove of nothing (-want +got):\n%s", diff)
	}
}

func TestSame(t *testing.T) {
	base := []metav1.Condition{ready("True", "Up", "m", 1, earlier), {Type: "Bad", Status: "False", Reason: "Fine"}}
	change := func(f func(*metav1.Condition)) []metav1.Condition {
		changed := slices.Clone(base)
		f(&changed[0])
		return changed
	}
	reversed := slices.Clone(base)
	slices.Reverse(reversed)
	tests := map[string]struct {
		other []metav1.Condition
		want  bool
	}{
		"itself":             {base, true},
		"another order":      {reversed, true},
		"another message":    {change(func(c *metav1.Condition) { c.Message = "n" }), true},
		"another time":       {change(func(c *metav1.Condition) { c.LastTransitionTime = metav1.NewTime(now) }), true},
		"another generation": {change(func(c *metav1.Condition) { c.ObservedGeneration = 2 }), true},
		"another status":     {change(func(c *metav1.Condition) { c.Status = "False" }), false},
		"another reason":     {change(func(c *metav1.Condition) { c.Reason = "Fine" }), false},
		"another type":       {change(func(c *metav1.Condition) { c.Type = "Bad2" }), false},
		"a type twice":       {change(func(c *metav1.Condition) { *c = base[1] }), false},
		"one fewer":          {base[:1], false},
		"none":               {nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if conditions.Same(base, test.other) != test.want || conditions.Same(test.other, base) != test.want {
				t.Errorf("Same = %v, want %v both ways", !test.want, test.want)
			}
		})
	}
	if !conditions.Same(nil, []metav1.Condition{}) {
		t.Error("Same of nothing and nothing = false")
	}
}

func TestTruncate(t *testing.T) {
	tests := map[string]struct {
		message string
		limit   int
		want    string
	}{
		"it fits":                   {"abc", 3, "abc"},
		"one byte too long":         {"abcd", 3, "…"},
		"cut between letters":       {"abcdefgh", 6, "abc…"},
		"not cut inside a letter":   {"aäöü", 6, "aä…"},
		"nor inside a longer one":   {"世界世界", 8, "世…"},
		"a wide message that fits":  {"äöü", 6, "äöü"},
		"no room for the ellipsis":  {"abcdefgh", 2, ""},
		"no room at all":            {"abcdefgh", 0, ""},
		"less than no room":         {"a", -1, ""},
		"broken bytes are replaced": {"a\xffb", 10, "a\uFFFDb"},
		"which counts":              {"\xff\xfe\xff", 3, "\uFFFD"},
		"nothing":                   {"", 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := conditions.Truncate(test.message, test.limit); got != test.want {
				t.Errorf("Truncate = %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("aäöü世界\xff", 7)
	f.Fuzz(func(t *testing.T, message string, limit int) {
		got := conditions.Truncate(message, limit)
		if !utf8.ValidString(got) || len(got) > max(limit, 0) {
			t.Errorf("Truncate(%q, %d) = %q", message, limit, got)
		}
		if utf8.ValidString(message) && len(message) > limit && limit >= 3 && !strings.HasSuffix(got, "…") {
			t.Errorf("Truncate(%q, %d) = %q, want an ellipsis", message, limit, got)
		}
	})
}
