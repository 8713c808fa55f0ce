package framework

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatTheServerDropsIsToldFromWhatItChanges(t *testing.T) {
	cases := map[string]struct {
		sent, answered map[string]any
		want           []string
	}{
		"all came back":       {map[string]any{"a": "x"}, map[string]any{"a": "x", "b": "y"}, nil},
		"a field is gone":     {map[string]any{"a": "x", "b": "y"}, map[string]any{"b": "y"}, []string{"status.a"}},
		"a zero came back":    {map[string]any{"a": int64(3)}, map[string]any{"a": int64(0)}, []string{"status.a"}},
		"a zero was sent":     {map[string]any{"a": int64(0)}, map[string]any{}, nil},
		"another value":       {map[string]any{"a": "x"}, map[string]any{"a": "theirs"}, nil},
		"a removal":           {map[string]any{"a": nil}, map[string]any{}, nil},
		"within an object":    {map[string]any{"o": map[string]any{"a": "x", "b": "y"}}, map[string]any{"o": map[string]any{"b": "y"}}, []string{"status.o.a"}},
		"within all elements": {map[string]any{"l": []any{map[string]any{"a": "x"}, map[string]any{"a": "y"}}}, map[string]any{"l": []any{map[string]any{}, map[string]any{}}}, []string{"status.l[].a"}},
		"never conditions":    {map[string]any{"conditions": []any{"x"}}, map[string]any{}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, pruned("status", c.sent, c.answered)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDroppedPathsCountWithAllThatIsInThem(t *testing.T) {
	var s skew
	s.learn(general(".status.extra"))
	s.learn(general(".status.items[].unit"))
	got := s.dropped([]string{"status.extra", "status.extra.deep", "status.extras", "status.items[one].unit", "status.items[one].name", "status"})
	if diff := cmp.Diff([]string{"status.extra", "status.extra.deep", "status.items[one].unit"}, got); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}
