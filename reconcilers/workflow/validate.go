package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// maxMessage is how long a message may get, in bytes.
const maxMessage = 1024

// fault is something in a workflow that only its user can mend.
type fault struct {
	reason  polychromev1alpha1.Reason
	message string
}

// validate finds every fault, in a fixed order of kinds; those of one kind are
// in the order of the names that they are about.
func validate(wf *polychromev1alpha1.Workflow) []fault {
	g := graphOf(wf.Spec.Stages)
	return slices.Concat(
		nameFaults(wf),
		stageNameFaults(wf.Name, g),
		duplicates(wf.Spec.Stages),
		dependencyFaults(wf.Spec.Stages, g),
		circleFaults(g),
	)
}

// invalid is what all faults together say, false if there is none.
func invalid(wf *polychromev1alpha1.Workflow) (fault, bool) {
	faults := validate(wf)
	if len(faults) == 0 {
		return fault{}, false
	}
	messages := make([]string, 0, len(faults))
	for _, f := range faults {
		messages = append(messages, f.message)
	}
	return fault{faults[0].reason, conditions.Truncate(strings.Join(messages, "; "), maxMessage)}, true
}

func nameFaults(wf *polychromev1alpha1.Workflow) []fault {
	var faults []fault
	if !isLabel(wf.Name) {
		faults = append(faults, fault{polychromev1alpha1.ReasonInvalidName,
			fmt.Sprintf("the workflow's name %q cannot begin the names of Services: make it again with %s", wf.Name, labelRule)})
	}
	if len(wf.Spec.Stages) == 0 {
		faults = append(faults, fault{polychromev1alpha1.ReasonInvalidSpec, "spec.stages is empty: name at least one stage"})
	}
	return faults
}

const labelRule = "at most 63 lower case letters, digits and '-', starting with a letter and ending with a letter or digit"

// stageNameFaults also finds two stages whose children would have one name:
// one that is cut and ends in a hash, and one that somebody made up to match.
func stageNameFaults(workflow string, g graph) []fault {
	var faults []fault
	children := make(map[string]string, len(g.stages))
	for i := range g.stages {
		name := g.stages[i].Name
		child := childName(workflow, name)
		other, taken := children[child]
		switch {
		case !isLabel(name):
			faults = append(faults, fault{polychromev1alpha1.ReasonInvalidStageName,
				fmt.Sprintf("the stage name %q cannot end the name of a Service: write %s", name, labelRule)})
		case taken:
			faults = append(faults, fault{polychromev1alpha1.ReasonInvalidStageName,
				fmt.Sprintf("the stages %s and %s would share the ServiceDefinition %s: rename one of them", other, name, child)})
		default:
			children[child] = name
		}
	}
	return faults
}

func duplicates(spec []polychromev1alpha1.WorkflowStage) []fault {
	times := make(map[string]int, len(spec))
	for i := range spec {
		times[spec[i].Name]++
	}
	var faults []fault
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if times[name] > 1 {
			faults = append(faults, fault{polychromev1alpha1.ReasonDuplicateStage,
				fmt.Sprintf("the stage %s is listed %d times: keep one of them", name, times[name])})
		}
	}
	return faults
}

// dependencyFaults are the unknown dependencies, then the stages that depend
// on themselves.
func dependencyFaults(spec []polychromev1alpha1.WorkflowStage, g graph) []fault {
	var unknown, self []string
	for i := range spec {
		for _, name := range spec[i].DependsOn {
			if _, found := g.at[name]; !found {
				unknown = append(unknown, fmt.Sprintf("the stage %s depends on %s, which is no stage", spec[i].Name, name))
			}
			if name == spec[i].Name {
				self = append(self, fmt.Sprintf("the stage %s depends on itself", name))
			}
		}
	}
	return append(faultsOf(polychromev1alpha1.ReasonUnknownDependency, unknown), faultsOf(polychromev1alpha1.ReasonSelfDependency, self)...)
}

func faultsOf(reason polychromev1alpha1.Reason, messages []string) []fault {
	slices.Sort(messages)
	faults := make([]fault, 0, len(messages))
	for _, message := range slices.Compact(messages) {
		faults = append(faults, fault{reason, message})
	}
	return faults
}

func circleFaults(g graph) []fault {
	var faults []fault
	for _, circle := range g.circles() {
		faults = append(faults, fault{polychromev1alpha1.ReasonDependencyCycle,
			"stages depend on each other in a circle: " + strings.Join(append(circle, circle[0]), " → ")})
	}
	return faults
}
