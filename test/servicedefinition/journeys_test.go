package servicedefinition

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"polychrome.dev/controller/framework/frameworktest"
)

// journey is something that people and clusters do to a service.
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

// atRest is what is left of a service that is ready.
func atRest(image, port, replicas string) []string {
	return []string{
		"definition one RolloutComplete " + replicas,
		"deployment one of one " + image + " " + port + " " + replicas,
		"service one of one 80",
	}
}

var journeys = map[string]journey{
	"made": {
		writes: 4, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step { return []frameworktest.Step{p.makes("one"), p.rolls("one")} },
	},
	"made while Services are refused at first": {
		network: func(faults *frameworktest.Transport) {
			faults.Inject(frameworktest.Fault{Verb: "apply", Resource: services.Resource, Status: http.StatusInternalServerError})
		},
		writes: 6, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step { return []frameworktest.Step{p.makes("one"), p.rolls("one")} },
	},
	"another image": {
		writes: 7, left: atRest(newImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"image": newImage}), p.rolls("one")}
		},
	},
	"another image, seen late": {
		network: late(deployments), writes: 8, left: atRest(newImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"image": newImage}), p.rolls("one")}
		},
	},
	"another port, and a variable less": {
		writes: 7, left: atRest(oldImage, "9090", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"port": 9090, "env": map[string]any{"ZONE": nil}}), p.rolls("one"),
			}
		},
	},
	"Deployment deleted by somebody": {
		writes: 7, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.deletes(deployments, "one"), p.rolls("one")}
		},
	},
	"Service deleted by somebody": {
		writes: 5, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.deletes(services, "one")}
		},
	},
	"changed by somebody": {
		writes: 8, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.rolls("one"), p.scales("one", 7), p.rolls("one"),
				p.patches("changed", services, "one", "", map[string]any{"spec": map[string]any{"selector": map[string]any{"app": "theirs"}}}),
			}
		},
	},
	"name taken, then free": {
		writes: 5, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.takes("one"), p.makes("one"), p.deletes(services, "one"), p.rolls("one")}
		},
	},
	"name taken": {
		writes: 1, left: []string{"definition one NameConflict 0", "service one of somebody 4000"},
		steps: func(p player) []frameworktest.Step { return []frameworktest.Step{p.takes("one"), p.makes("one")} },
	},
	"name taken, seen late": {
		network: late(services), writes: 4,
		left:  []string{"definition one NameConflict 0", "service one of somebody 4000"},
		steps: func(p player) []frameworktest.Step { return []frameworktest.Step{p.takes("one"), p.makes("one")} },
	},
	"deleted": {
		writes: 4, left: []string{"deployment one of one that is gone " + oldImage + " 8080 2", "service one of one that is gone 80"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.deletes(definitions, "one"), p.waits(time.Hour)}
		},
	},
	"deleted, and made anew before the children are collected": {
		writes: 10, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.rolls("one"), p.deletes(definitions, "one"), p.makes("one"),
				p.deletes(deployments, "one"), p.deletes(services, "one"), p.rolls("one"),
			}
		},
	},
	"autoscaled": {
		writes: 13, left: atRest(newImage, "8080", "5"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"autoscaled": true}), p.rolls("one"), p.scales("one", 5), p.rolls("one"),
				p.edits("one", map[string]any{"image": newImage}), p.rolls("one"),
			}
		},
	},
	"autoscaled, before the autoscaler acts": {
		writes: 8, left: atRest(oldImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"autoscaled": true}), p.rolls("one")}
		},
	},
	"stopped": {
		writes: 7,
		left:   []string{"definition one Stopped 0", "deployment one of one " + oldImage + " 8080 0", "service one of one 80"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one"), p.rolls("one"), p.edits("one", map[string]any{"replicas": 0}), p.rolls("one")}
		},
	},
	"paused, edited and resumed": {
		writes: 10, left: atRest(newImage, "8080", "2"),
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one"), p.rolls("one"), p.pauses("one", "true"), p.edits("one", map[string]any{"image": newImage}),
				p.pauses("one", nil), p.rolls("one"),
			}
		},
	},
}
