package drift_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"polychrome.dev/controller/framework/drift"
)

func TestMissing(t *testing.T) {
	tests := map[string]struct {
		want, have string
		wantPaths  []string
	}{
		"nothing wanted":              {want: `{}`, have: `{"a":1}`},
		"nothing there":               {want: `{"b":{"c":1},"a":1}`, have: `{}`, wantPaths: []string{"a", "b"}},
		"a null says nothing":         {want: `{"a":null}`, have: `{"a":1}`},
		"whole and broken numbers":    {want: `{"a":2,"b":2.0,"c":2.5}`, have: `{"a":2.0,"b":2,"c":2.5}`},
		"other numbers":               {want: `{"a":2,"b":2.5}`, have: `{"a":2.5,"b":3}`, wantPaths: []string{"a", "b"}},
		"a number is no string":       {want: `{"a":1,"b":"1"}`, have: `{"a":"1","b":1}`, wantPaths: []string{"a", "b"}},
		"a false is not nothing":      {want: `{"a":false,"b":"","c":0}`, have: `{}`, wantPaths: []string{"a", "b", "c"}},
		"an object is no list":        {want: `{"a":{},"b":[1]}`, have: `{"a":[],"b":{}}`, wantPaths: []string{"a", "b"}},
		"an empty list is none":       {want: `{"a":[],"b":[],"c":[]}`, have: `{"a":null,"b":[]}`},
		"an empty list is not full":   {want: `{"a":[]}`, have: `{"a":[{"name":"x"}]}`, wantPaths: []string{"a"}},
		"an empty object must exist":  {want: `{"a":{}}`, have: `{"a":null}`, wantPaths: []string{"a"}},
		"a null in a list must match": {want: `{"a":[null,1]}`, have: `{"a":[null,1]}`},
		"request conditions are not compared": {
			want: `{"metadata":{"uid":"a","resourceVersion":"1","name":"x"}}`,
			have: `{"metadata":{"uid":"b","resourceVersion":"2","name":"x"}}`},
		"but elsewhere they are fields": {
			want: `{"spec":{"uid":"a"},"uid":"a"}`, have: `{"spec":{"uid":"b"},"uid":"b"}`, wantPaths: []string{"spec.uid", "uid"}},
		"no metadata": {want: `{"metadata":{"name":"x","labels":{"a.b/c":"d"}}}`, have: `{"metadata":"?"}`,
			wantPaths: []string{"metadata"}},
		"an unusual key": {want: `{"a":{"b/c.d":1}}`, have: `{"a":{}}`, wantPaths: []string{"a[b/c.d]"}},
		"service ports by number and protocol": {
			want:      `{"ports":[{"port":53,"protocol":"UDP","name":"u"},{"port":53,"name":"t"}]}`,
			have:      `{"ports":[{"port":53,"protocol":"TCP","name":"t"},{"port":99},{"port":53,"protocol":"UDP","name":"v"}]}`,
			wantPaths: []string{"ports[53/UDP].name"}},
		"conditions by type": {
			want: `{"c":[{"type":"Ready","status":"True"}]}`, have: `{"c":[{"type":"X"},{"type":"Ready","status":"False"}]}`,
			wantPaths: []string{"c[Ready].status"}},
		"spread by topology and way": {
			want: `{"s":[{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":1}]}`,
			have: `{"s":[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":1},{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":1}]}`},
		"addresses by ip": {want: `{"h":[{"ip":"1","hostnames":["a"]}]}`, have: `{"h":[{"ip":"2"},{"ip":"1","hostnames":["a"]}]}`},
		"names that repeat do not tell apart": {
			want: `{"l":[{"name":"a","v":1},{"name":"a","v":2}]}`, have: `{"l":[{"name":"a","v":2},{"name":"a","v":1}]}`,
			wantPaths: []string{"l[0].v", "l[1].v"}},
		"subjects of a binding are replaced whole": {
			want: `{"subjects":[{"name":"a"}]}`, have: `{"subjects":[{"name":"a"},{"name":"intruder"}]}`, wantPaths: []string{"subjects"}},
		"rules of a network policy are replaced whole, ports too": {
			want:      `{"spec":{"ingress":[{"ports":[{"port":80,"protocol":"TCP"}]}]}}`,
			have:      `{"spec":{"ingress":[{"ports":[{"port":80,"protocol":"TCP"},{"port":22,"protocol":"TCP"}]}]}}`,
			wantPaths: []string{"spec.ingress[0].ports"}},
		"defaults inside a list replaced whole": {
			want: `{"envFrom":[{"configMapRef":{"name":"a"}}]}`, have: `{"envFrom":[{"prefix":"","configMapRef":{"name":"a","optional":false}}]}`},
		"a list of lists": {want: `{"a":[[1,2],[3]]}`, have: `{"a":[[1,2],[4]]}`, wantPaths: []string{"a[1][0]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := drift.Missing(toMap(t, json.RawMessage(test.want)), toMap(t, json.RawMessage(test.have)))
			if diff := cmp.Diff(test.wantPaths, got); diff != "" {
				t.Errorf("Missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingChangesNothing(t *testing.T) {
	want, have := toMap(t, config()), toMap(t, stored())
	wantBefore, haveBefore := drift.Hash(want), drift.Hash(have)
	drift.Missing(want, have)
	if drift.Hash(want) != wantBefore || drift.Hash(have) != haveBefore {
		t.Error("Missing changed its arguments")
	}
}
