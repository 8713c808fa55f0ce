package framework

import (
	"fmt"
	"testing"
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
