package slots

import "github.com/prometheus/client_golang/prometheus"

// collector tells at each scrape how rolling stands.
type collector struct {
	standing      func() Standing
	rolls, halted *prometheus.Desc
}

// NewCollector makes the metrics of rolling, named with the prefix, from what
// Standing of some Slots tells.
func NewCollector(prefix string, standing func() Standing) prometheus.Collector {
	return &collector{
		standing: standing,
		rolls: prometheus.NewDesc(prometheus.BuildFQName(prefix, "", "conversation_rolls"),
			"Conversations by how their roll stands: rolling, waiting for a slot, or failed. A failed one that waits for another try counts twice.",
			[]string{"state"}, nil),
		halted: prometheus.NewDesc(prometheus.BuildFQName(prefix, "", "conversation_rolls_halted"),
			"1 while no roll starts because too many to the desired generation have failed.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) { out <- c.rolls; out <- c.halted }

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	now := c.standing()
	gauge := func(desc *prometheus.Desc, value int, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(c.rolls, now.Rolling, "rolling")
	gauge(c.rolls, now.Waiting, "waiting")
	gauge(c.rolls, now.Failed, "failed")
	halted := 0
	if now.Halted {
		halted = 1
	}
	gauge(c.halted, halted)
}
