package conditions

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pending is the reason an API server gives to conditions by default, before
// any pass has looked. Their time is made up.
const pending = "Pending"

// Set returns conds with c in it, in the place of its type's old condition
// or at the end. The transition time is now when the status is new, when it
// flips, and when the old condition was the API server's default; else it
// stays. Reason, message and observed generation are always those given;
// a time in c is not looked at. Times are cut to the second, as they are
// stored.
func Set(conds []metav1.Condition, now time.Time, generation int64, c metav1.Condition) []metav1.Condition {
	c.ObservedGeneration = generation
	c.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
	out := slices.Clone(conds)
	old := meta.FindStatusCondition(out, c.Type)
	if old == nil {
		return append(out, c)
	}
	if old.Status == c.Status && !isDefault(old, c.Reason) {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
	return out
}

// isDefault tells a condition that the API server made. One that a pass
// confirmed as pending has a time of its own, and keeps it for as long as the
// reason stays.
func isDefault(old *metav1.Condition, reason string) bool {
	return old.Reason == pending && (reason != pending || old.LastTransitionTime.Unix() <= 0)
}

// Status is True for what holds and False for what does not.
func Status(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// Remove returns conds without the condition of a type.
func Remove(conds []metav1.Condition, conditionType string) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conds), func(c metav1.Condition) bool { return c.Type == conditionType })
}

// Has reports whether conds has a condition of a type.
func Has(conds []metav1.Condition, conditionType string) bool {
	return meta.FindStatusCondition(conds, conditionType) != nil
}

// Same reports whether a and b say the same: equal types, status and
// reasons, in any order. Messages, times and generations may differ.
func Same(a, b []metav1.Condition) bool {
	return len(a) == len(b) && within(a, b) && within(b, a)
}

func within(a, b []metav1.Condition) bool {
	for i := range a {
		other := meta.FindStatusCondition(b, a[i].Type)
		if other == nil || other.Status != a[i].Status || other.Reason != a[i].Reason {
			return false
		}
	}
	return true
}

// ellipsis ends a message that was cut.
const ellipsis = "…"

// Truncate returns message in at most limit bytes of valid UTF-8, ending in
// an ellipsis where it was cut. A limit too small for the ellipsis leaves
// nothing.
func Truncate(message string, limit int) string {
	message = strings.ToValidUTF8(message, string(utf8.RuneError))
	if len(message) <= limit {
		return message
	}
	cut := limit - len(ellipsis)
	if cut < 0 {
		return ""
	}
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + ellipsis
}
