package frameworktest_test

import (
	"strings"
	"testing"

	"polychrome.dev/controller/framework/frameworktest"
)

func wrote(verb, resource, body, answer string) frameworktest.Write {
	return frameworktest.Write{
		Request: frameworktest.Request{Verb: verb, Resource: resource, Name: "n", Code: 200},
		Body:    []byte(body), Answer: []byte(answer),
	}
}

func TestInvariants(t *testing.T) {
	const (
		bare      = `{"metadata":{"name":"w","uid":"u"}}`
		finalized = `{"metadata":{"name":"w","uid":"u","finalizers":["x/other","x/own"]}}`
		child     = `{"metadata":{"name":"c","ownerReferences":[{"name":"w","uid":"u","controller":true}]}}`
		free      = `{"metadata":{"name":"c"}}`
	)
	first := frameworktest.FinalizerBeforeEffect("widgets", "x/own")
	tests := map[string]struct {
		invariant frameworktest.Invariant
		writes    []frameworktest.Write
		want      string
	}{
		"a delete of a very object": {frameworktest.NoDeleteWithoutUID, []frameworktest.Write{
			wrote("delete", "pods", `{"preconditions":{"uid":"u"}}`, `{}`),
		}, ""},
		"a delete by name": {frameworktest.NoDeleteWithoutUID, []frameworktest.Write{
			wrote("delete", "pods", `{"propagationPolicy":"Background"}`, `{}`),
		}, "without a precondition"},
		"a delete of a version is not one of a very object": {frameworktest.NoDeleteWithoutUID, []frameworktest.Write{
			wrote("delete", "pods", `{"preconditions":{"resourceVersion":"7"}}`, `{}`),
		}, "without a precondition"},
		"a delete of everything": {frameworktest.NoDeleteWithoutUID, []frameworktest.Write{
			wrote("delete", "pods", ``, `{}`),
		}, "without a precondition"},
		"other verbs are not deletes": {frameworktest.NoDeleteWithoutUID, []frameworktest.Write{
			wrote("patch", "pods", `[]`, bare),
		}, ""},
		"the finalizer first": {first, []frameworktest.Write{
			wrote("patch", "widgets", ``, finalized), wrote("apply", "pods", ``, child),
		}, ""},
		"the effect first": {first, []frameworktest.Write{
			wrote("apply", "pods", ``, child), wrote("patch", "widgets", ``, finalized),
		}, "apply pods c before w has the finalizer x/own"},
		"a status is no finalizer": {first, []frameworktest.Write{
			wrote("patch", "widgets/status", ``, bare), wrote("apply", "pods", ``, child),
		}, "before w has"},
		"the finalizer may be gone again when the child is cleared away": {first, []frameworktest.Write{
			wrote("patch", "widgets", ``, finalized), wrote("patch", "widgets", ``, bare), wrote("patch", "pods", ``, child),
		}, ""},
		"nobody's child": {first, []frameworktest.Write{wrote("create", "pods", ``, free)}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			holds := test.invariant()
			var got []string
			for _, write := range test.writes {
				if err := holds(write); err != nil {
					got = append(got, err.Error())
				}
			}
			if text := strings.Join(got, "; "); (test.want == "") != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("want %q, got %q", test.want, text)
			}
		})
	}
}
