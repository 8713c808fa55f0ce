package conversation

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"polychrome.dev/controller/framework/frameworktest"
)

// journey is something that people and clusters do to conversations.
type journey struct {
	// network is what happens to the connection of each life, if anything.
	network func(*frameworktest.Transport)
	// writes is how many writes it takes at most, refused ones included.
	writes int
	// left is what is there at the end; see player.left.
	left  []string
	steps func(p player) []frameworktest.Step
}

// lag is how late watches are that are late. It must be more than a pass takes.
const lag = 300 * time.Millisecond

func late(resource schema.GroupVersionResource) func(*frameworktest.Transport) {
	return func(faults *frameworktest.Transport) { faults.LagWatches(lag, resource.Resource) }
}

var journeys = map[string]journey{
	"booted, then the timeout taken away": {
		writes: 6,
		left:   []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 0"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.edits("one", map[string]any{"spec": map[string]any{"idleTimeoutSeconds": 0}})}
		},
	},
	"made while claims are refused at first": {
		network: func(faults *frameworktest.Transport) {
			faults.Inject(frameworktest.Fault{Verb: "apply", Resource: claims.Resource, Status: http.StatusInternalServerError})
		},
		writes: 5,
		left:   []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1")}
		},
	},
	"closed and collected": {
		writes: 9,
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.closes("one"), p.waits(2 * time.Hour)}
		},
	},
	"idle, then resumed": {
		writes: 11,
		left:   []string{"conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.boots("one", "10.0.0.1"), p.turns("one"), p.waits(time.Hour / 2), p.turns("one"), p.boots("one", "10.0.0.2"),
			}
		},
	},
	"a turn at the last moment": {
		network: late(conversations),
		writes:  5,
		left:    []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.turns("one"), p.turnsAfter(time.Hour, "one")}
		},
	},
	"deleted": {
		writes: 6,
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.deletes(conversations, "one")}
		},
	},
	"claim deleted, then the conversation": {
		writes: 13,
		left:   []string{"conversation one CreatingExecutionUnit one b", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.boots("one", "10.0.0.1"), p.deletes(claims, "one"), p.waits(2 * time.Second), p.boots("one", "10.0.0.2"),
				p.deletes(conversations, "one"), p.makes("one"),
			}
		},
	},
	"claim and status changed by somebody": {
		writes: 6,
		left:   []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.boots("one", "10.0.0.1"),
				p.patches("changed", claims, "one", "", map[string]any{
					"metadata": map[string]any{"ownerReferences": nil},
					"spec":     map[string]any{"lifecycle": map[string]any{"ttlSecondsAfterFinished": 1}},
				}),
				p.says("overwritten", "one", map[string]any{"podIp": "10.9.9.9"}),
			}
		},
	},
	"two rolled, one after the other": {
		writes: 22,
		left: []string{
			"conversation one HarnessReady one b 10.0.0.3", "conversation two HarnessReady two b 10.0.0.4",
			"claim one for one b 600", "claim two for two b 600",
		},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.does(p.makes("one"), p.makes("two")), p.does(p.boots("one", "10.0.0.1"), p.boots("two", "10.0.0.2")),
				p.ages("one"), p.ages("two"), p.boots("one", "10.0.0.3"), p.waits(20 * time.Second), p.boots("two", "10.0.0.4"),
			}
		},
	},
	"closed while it rolls": {
		network: late(claims),
		writes:  14,
		left:    []string{"conversation one Closed b"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.ages("one"), p.closes("one"), p.waits(time.Minute)}
		},
	},
	"name taken, then free": {
		writes: 5,
		left:   []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.takes("one"), p.makes("one"), p.deletes(claims, "one"), p.waits(time.Minute), p.boots("one", "10.0.0.1")}
		},
	},
	"paused, closed and resumed": {
		writes: 8,
		left:   []string{"conversation one Closed b"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.boots("one", "10.0.0.1"), p.pauses("one", "true"), p.closes("one"), p.pauses("one", nil), p.waits(time.Minute),
			}
		},
	},
	"its pod ends": {
		writes: 9,
		left:   []string{"conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.ends("one"), p.waits(time.Minute), p.boots("one", "10.0.0.2")}
		},
	},
	"its claim deleted as soon as it is made": {
		writes: 9,
		left:   []string{"conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.deletes(claims, "one"), p.deletes(claims, "one"), p.waits(time.Minute), p.boots("one", "10.0.0.1"),
			}
		},
	},
	"deleted while claims cannot be torn down": {
		network: func(faults *frameworktest.Transport) {
			faults.Inject(frameworktest.Fault{Verb: "delete", Resource: claims.Resource, Status: http.StatusInternalServerError, Times: -1})
		},
		writes: 7,
		left:   []string{"claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.does(p.deletes(conversations, "one"), p.waits(11*time.Minute))}
		},
	},
	"a roll that is not ready in time": {
		writes: 12,
		left:   []string{"conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.boots("one", "10.0.0.1"), p.ages("one"), p.waits(11 * time.Minute), p.boots("one", "10.0.0.2")}
		},
	},
}
