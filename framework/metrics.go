package framework

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the framework's own. Labels come from small fixed sets: no
// object's name is ever one.
type metrics struct {
	passes   *prometheus.CounterVec
	failures *prometheus.CounterVec
	duration *prometheus.HistogramVec
	depth    *prometheus.GaugeVec
	queueing *prometheus.HistogramVec
	retries  *prometheus.CounterVec
	skewed   *prometheus.GaugeVec
	parked   *prometheus.GaugeVec
	vain     *prometheus.CounterVec
	writes   *prometheus.CounterVec
	panics   *prometheus.CounterVec
	dormant  *prometheus.GaugeVec
	leader   prometheus.Gauge
	build    *prometheus.GaugeVec
}

func newMetrics(prefix, version string) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: prefix, Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: prefix, Name: name, Help: help}, labels)
	}
	m := &metrics{
		passes:   counter("reconcile_total", "Passes by how they ended: done, wait, retry, terminal, paused, or paced when they had to wait their turn.", "controller", "outcome"),
		failures: counter("reconcile_errors_total", "Failed passes by class of the error.", "controller", "class"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: prefix, Name: "reconcile_duration_seconds", Help: "How long passes took.",
			Buckets: []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60},
		}, []string{"controller"}),
		queueing: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: prefix, Name: "queue_wait_seconds", Help: "How long objects were due before their pass began.",
			Buckets: []float64{.001, .01, .1, .5, 1, 5, 10, 30, 60, 300},
		}, []string{"controller"}),
		retries: counter("retries_total", "Tries that were put off after a failure.", "controller"),
		skewed:  gauge("schema_missing_fields", "Fields of the program's types that the API server's schema lacks.", "resource"),
		depth:   gauge("queue_depth", "Objects due for a pass.", "controller"),
		parked:  gauge("parked_objects", "Objects that wait for a cache to show our own writes.", "controller"),
		vain:    counter("parked_in_vain_total", "Notes dropped because no event would ever have settled them.", "controller"),
		writes:  counter("writes_total", "Write requests by resource, verb and answer.", "resource", "verb", "answer"),
		panics:  counter("handler_panics_total", "Events that a handler lost by panicking.", "resource"),
		dormant: gauge("resource_dormant", "1 while an API cannot be read: absent, forbidden or out of reach.", "resource"),
		leader: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: prefix, Name: "leader", Help: "1 while this process leads."}),
	}
	info := gauge("build_info", "Always 1; the labels tell the build.", "version", "go_version")
	info.WithLabelValues(version, runtime.Version()).Set(1)
	m.build = info
	return m
}

func (m *metrics) register(r prometheus.Registerer) {
	r.MustRegister(m.passes, m.failures, m.duration, m.depth, m.queueing, m.retries, m.skewed, m.parked, m.vain, m.writes, m.panics,
		m.dormant, m.leader, m.build)
}

// queued makes what a queue tells its length and its waits.
func (m *metrics) queued(controller string) observer {
	depth, wait := m.depth.WithLabelValues(controller), m.queueing.WithLabelValues(controller)
	return func(due int, waited time.Duration) {
		depth.Set(float64(due))
		if waited > 0 {
			wait.Observe(waited.Seconds())
		}
	}
}

// passed counts one pass.
func (m *metrics) passed(controller string, out outcome, took time.Duration) {
	m.passes.WithLabelValues(controller, out.word()).Inc()
	m.duration.WithLabelValues(controller).Observe(took.Seconds())
	if class := Classify(out.err); class != "" {
		m.failures.WithLabelValues(controller, string(class)).Inc()
	}
}

// watchAges tells at each scrape how long ago each watch last had a word,
// of an event or a bookmark.
type watchAges struct {
	watches *watchTracker
	age     *prometheus.Desc
}

func newWatchAges(prefix string, watches *watchTracker) *watchAges {
	return &watchAges{watches: watches, age: prometheus.NewDesc(
		prometheus.BuildFQName(prefix, "", "watch_age_seconds"),
		"Time since the watch of a resource last sent an event or a bookmark.",
		[]string{"resource"}, nil)}
}

// Describe implements prometheus.Collector.
func (w *watchAges) Describe(out chan<- *prometheus.Desc) { out <- w.age }

// Collect implements prometheus.Collector.
func (w *watchAges) Collect(out chan<- prometheus.Metric) {
	for resource, age := range w.watches.ages(time.Now()) {
		out <- prometheus.MustNewConstMetric(w.age, prometheus.GaugeValue, age.Seconds(), resource)
	}
}
