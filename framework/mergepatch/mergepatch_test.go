package mergepatch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/mergepatch"
)

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		before, after, want string
	}{
		"equal":                                  {`{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":2}]}}`, `null`},
		"a changed field":                        {`{"a":1,"b":2}`, `{"a":1,"b":3}`, `{"b":3}`},
		"a field more":                           {`{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"a field gone":                           {`{"a":1,"b":2}`, `{"a":1}`, `{"b":null}`},
		"deep inside":                            {`{"a":{"b":{"c":1,"d":2},"e":3}}`, `{"a":{"b":{"c":4},"e":3}}`, `{"a":{"b":{"c":4,"d":null}}}`},
		"lists are replaced whole":               {`{"a":[1,2,3]}`, `{"a":[1,3]}`, `{"a":[1,3]}`},
		"an emptied list":                        {`{"a":[1]}`, `{"a":[]}`, `{"a":[]}`},
		"an emptied object":                      {`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`},
		"an empty object more":                   {`{}`, `{"a":{}}`, `{"a":{}}`},
		"an object that was a value":             {`{"a":1}`, `{"a":{"b":2}}`, `{"a":{"b":2}}`},
		"a value that was an object":             {`{"a":{"b":2}}`, `{"a":1}`, `{"a":1}`},
		"a null is nothing":                      {`{"a":null}`, `{}`, `null`},
		"nothing is a null":                      {`{}`, `{"a":null}`, `null`},
		"a null removes":                         {`{"a":1}`, `{"a":null}`, `{"a":null}`},
		"a null inside something new":            {`{}`, `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`},
		"a null member in a list is nothing":     {`{"a":[{"b":null}]}`, `{"a":[{}]}`, `null`},
		"a null element of a list is an element": {`{"a":[1]}`, `{"a":[1,null]}`, `{"a":[1,null]}`},
		"a whole number turned a fraction":       {`{"a":2}`, `{"a":3.5}`, `{"a":3.5}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			patch, err := mergepatch.Diff(json.RawMessage(test.before), json.RawMessage(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, test.want), decode(t, encode(t, patch))); diff != "" {
				t.Errorf("Diff (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEqualIsNil(t *testing.T) {
	if patch, err := mergepatch.Diff(map[string]any{"a": 1}, struct {
		A int `json:"a"`
	}{1}); patch != nil || err != nil {
		t.Errorf("Diff = %#v, %v, want nil, nil", patch, err)
	}
}

func TestDiffOfStatus(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := appsv1.DeploymentStatus{ObservedGeneration: 1, ReadyReplicas: 2, Replicas: 2,
		Conditions: []appsv1.DeploymentCondition{{Type: "Available", LastUpdateTime: metav1.NewTime(at)}}}
	after := *before.DeepCopy()
	after.Conditions[0].LastUpdateTime = metav1.NewTime(at.Add(300 * time.Millisecond).In(time.FixedZone("", 3600)))
	if patch, err := mergepatch.Diff(before, &after); patch != nil || err != nil {
		t.Errorf("Diff of the same second = %v, %v, want nil, nil", patch, err)
	}
	after.ReadyReplicas, after.ObservedGeneration = 0, 2
	patch, err := mergepatch.Diff(before, &after)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"observedGeneration": int64(2), "readyReplicas": nil}
	if diff := cmp.Diff(want, patch); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
}

func TestDiffRefusesWhatIsNoObject(t *testing.T) {
	object := map[string]any{}
	for name, other := range map[string]any{
		"a list":  []int{1},
		"null":    (*appsv1.Deployment)(nil),
		"no JSON": map[string]any{"a": func() {}},
	} {
		t.Run(name, func(t *testing.T) {
			if patch, err := mergepatch.Diff(object, other); err == nil {
				t.Errorf("Diff = %v, want an error", patch)
			}
			if patch, err := mergepatch.Diff(other, object); err == nil {
				t.Errorf("Diff the other way = %v, want an error", patch)
			}
		})
	}
}

// apply is the algorithm of RFC 7386, to the letter.
func apply(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object = maps.Clone(object)
	for key, value := range changes {
		if value == nil {
			delete(object, key)
			continue
		}
		object[key] = apply(object[key], value)
	}
	return object
}

func TestPropertyThePatchedIsTheWanted(t *testing.T) {
	for seed := range uint64(1000) {
		g := rand.New(rand.NewPCG(seed, 3))
		before, after := randomObject(g, 3), randomObject(g, 3)
		patch, err := mergepatch.Diff(before, after)
		if err != nil {
			t.Fatal(err)
		}
		var got any = decode(t, encode(t, before))
		if patch != nil {
			got = apply(got, decode(t, encode(t, patch)))
		}
		if diff := cmp.Diff(decode(t, encode(t, after)), got); diff != "" {
			t.Fatalf("seed %d: patch %v (-want +got):\n%s", seed, patch, diff)
		}
		if patch, err := mergepatch.Diff(after, got); patch != nil || err != nil {
			t.Fatalf("seed %d: a second patch %v, %v, want none", seed, patch, err)
		}
	}
}

func randomObject(g *rand.Rand, depth int) map[string]any {
	object := map[string]any{}
	for range g.IntN(4) {
		object[fmt.Sprint("f", g.IntN(4))] = randomValue(g, depth)
	}
	return object
}

func randomValue(g *rand.Rand, depth int) any {
	kind := g.IntN(5)
	switch {
	case kind == 0 && depth > 0, kind == 1 && depth > 0:
		return randomObject(g, depth-1)
	case kind == 2 && depth > 0:
		list := make([]any, g.IntN(3))
		for i := range list {
			list[i] = randomValue(g, depth-1)
		}
		return list
	case kind == 3:
		return g.IntN(3)
	}
	return fmt.Sprint("s", g.IntN(3))
}

func encode(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func decode(t *testing.T, raw string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
