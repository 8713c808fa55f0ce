package drift_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"polychrome.dev/controller/framework/drift"
)

// gen makes random configurations; each keyed list has its key in every
// element, as apply demands.
type gen struct{ *rand.Rand }

func (g gen) object(depth int) map[string]any {
	fields := map[string]any{}
	for range 1 + g.IntN(4) {
		fields[fmt.Sprintf("f%d", g.IntN(9))] = g.value(depth)
	}
	return fields
}

func (g gen) value(depth int) any {
	kind := g.IntN(7)
	if depth == 0 {
		kind = g.IntN(3)
	}
	switch kind {
	case 0:
		return fmt.Sprintf("s%d", g.IntN(5))
	case 1:
		return int64(g.IntN(5))
	case 2:
		return g.IntN(2) == 0
	case 3:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.value(0)
		}
		return list
	case 4:
		return g.keyed(depth, "name")
	case 5:
		list := make([]any, 1+g.IntN(3))
		for i := range list {
			list[i] = g.object(depth - 1)
		}
		return list
	default:
		return g.object(depth - 1)
	}
}

func (g gen) keyed(depth int, key string) []any {
	list := make([]any, 1+g.IntN(3))
	for i := range list {
		element := g.object(depth - 1)
		element[key] = fmt.Sprintf("e%d", i)
		list[i] = element
	}
	return list
}

// apply is what a server makes of a configuration: everything in it, plus
// what others own, with keyed lists in any order.
func (g gen) apply(value any, whole bool) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{fmt.Sprintf("foreign%d", g.IntN(3)): "theirs"}
		for key, inner := range value {
			out[key] = g.apply(inner, whole)
		}
		return out
	case []any:
		keyed := !whole && isKeyed(value)
		out := make([]any, 0, len(value)+1)
		for _, inner := range value {
			out = append(out, g.apply(inner, !keyed))
		}
		if keyed {
			out = append(out, map[string]any{"name": "foreign"})
			g.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return value
}

func isKeyed(list []any) bool {
	for _, element := range list {
		if fields, ok := element.(map[string]any); !ok || fields["name"] == nil {
			return false
		}
	}
	return len(list) > 0
}

// leaves lists a setter for each scalar of a value.
func leaves(value any) []func(any) {
	var found []func(any)
	visit := func(inner any, set func(any)) {
		switch inner.(type) {
		case map[string]any, []any:
			found = append(found, leaves(inner)...)
		default:
			found = append(found, set)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			visit(value[key], func(to any) { value[key] = to })
		}
	case []any:
		for i := range value {
			visit(value[i], func(to any) { value[i] = to })
		}
	}
	return found
}

func TestPropertyWhatWasAppliedIsNotMissing(t *testing.T) {
	for seed := range uint64(300) {
		g := gen{rand.New(rand.NewPCG(seed, 1))}
		want := g.object(4)
		have := g.apply(want, false).(map[string]any)
		if got := drift.Missing(want, have); got != nil {
			t.Fatalf("seed %d: Missing = %v, want none\nwant %v\nhave %v", seed, got, want, have)
		}
	}
}

func TestPropertyEachChangedLeafIsMissing(t *testing.T) {
	for seed := range uint64(100) {
		g := gen{rand.New(rand.NewPCG(seed, 2))}
		want := g.object(3)
		for i := range leaves(want) {
			have := toMap(t, want)
			for _, to := range []any{"changed", nil} {
				leaves(have)[i](to)
				if got := drift.Missing(want, have); len(got) == 0 || !slices.IsSorted(got) {
					t.Fatalf("seed %d: leaf %d changed to %v: Missing = %v\nwant %v\nhave %v", seed, i, to, got, want, have)
				}
			}
		}
	}
}

func TestPropertyEachChangedLeafOfADeploymentIsMissing(t *testing.T) {
	want := normalise(t, config(), &appsv1.Deployment{})
	for i := range leaves(want) {
		have := toMap(t, want)
		leaves(have)[i]("changed")
		if got := drift.Missing(want, have); len(got) == 0 {
			t.Errorf("leaf %d changed: Missing finds nothing in %v", i, have)
		}
	}
}

func FuzzMissing(f *testing.F) {
	f.Add([]byte(`{"a":[{"name":1},{"name":"1"}]}`), []byte(`{"a":[{"name":"1","uid":{}}]}`))
	f.Add([]byte(`{"metadata":{"finalizers":[{}],"labels":[]}}`), []byte(`{"metadata":{"finalizers":[[]]}}`))
	f.Add([]byte(`{"p":[{"containerPort":80.0},{"containerPort":80}]}`), []byte(`{"p":[{"containerPort":[],"protocol":7}]}`))
	f.Fuzz(func(t *testing.T, rawWant, rawHave []byte) {
		var want, have map[string]any
		if json.Unmarshal(rawWant, &want) != nil || json.Unmarshal(rawHave, &have) != nil {
			t.Skip()
		}
		drift.Missing(want, have)
		if got := drift.Missing(want, want); got != nil {
			t.Errorf("Missing of itself = %v", got)
		}
		normalised, err := drift.Normalise(want, &appsv1.Deployment{})
		if err != nil {
			return
		}
		drift.Annotate(normalised, "k", drift.Hash(normalised))
		drift.Missing(normalised, have)
	})
}

func BenchmarkNormalise(b *testing.B) {
	config := config()
	for b.Loop() {
		normalise(b, config, &appsv1.Deployment{})
	}
}

func BenchmarkToMap(b *testing.B) {
	have := stored()
	for b.Loop() {
		toMap(b, have)
	}
}

func BenchmarkMissing(b *testing.B) {
	want, have := normalise(b, config(), &appsv1.Deployment{}), toMap(b, stored())
	for b.Loop() {
		if got := drift.Missing(want, have); got != nil {
			b.Fatal(got)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	want := normalise(b, config(), &appsv1.Deployment{})
	for b.Loop() {
		drift.Hash(want)
	}
}
