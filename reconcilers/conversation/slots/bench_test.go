package slots

import (
	"strconv"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// BenchmarkObserveAndReserve is an event and a wish in a waiting fleet, whose
// size must hardly matter.
func BenchmarkObserveAndReserve(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := New(Options{Limit: 5, Generation: newGeneration, BusyUntil: announced})
			fleet := make([]*polychromev1alpha1.Conversation, size)
			for i := range fleet {
				fleet[i] = conv("c"+strconv.Itoa(i), activeAt(int64(i*7919%size)))
				s.Observe(fleet[i], false)
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				// A prime stride meets all of them in no order.
				n++
				c := fleet[n*104729%size]
				*c.Status.LastActivityUnix = int64(n * 6151 % size)
				s.Observe(c, false)
				if s.Reserve(c, false) == Admitted {
					s.GiveBack(c)
				}
			}
		})
	}
}
