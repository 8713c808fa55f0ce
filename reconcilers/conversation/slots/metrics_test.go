package slots

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func TestTheMetricsTellHowRollingStands(t *testing.T) {
	standing := Standing{Rolling: 2, Waiting: 3, Failed: 4, Halted: true}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector("polychrome", func() Standing { return standing }))
	gather := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		problems, err := promlint.NewWithMetricFamilies(families).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("lint: %v, %v", problems, err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				name := family.GetName()
				for _, label := range metric.GetLabel() {
					name += " " + label.GetName() + "=" + label.GetValue()
				}
				got[name] = metric.GetGauge().GetValue()
			}
		}
		return got
	}
	want := map[string]float64{
		"polychrome_conversation_rolls state=rolling": 2,
		"polychrome_conversation_rolls state=waiting": 3,
		"polychrome_conversation_rolls state=failed":  4,
		"polychrome_conversation_rolls_halted":        1,
	}
	if diff := cmp.Diff(want, gather()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	standing = Standing{}
	for name := range want {
		want[name] = 0
	}
	if diff := cmp.Diff(want, gather()); diff != "" {
		t.Errorf("metrics of a fleet at rest (-want +got):\n%s", diff)
	}
}
