package servicedefinition

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// The schema has these rules too, and refuses what breaks them; what was
// stored before it had them is judged here. They must say the same.
const maxImageLength = 1024

var (
	imageReference = regexp.MustCompile(`^(([A-Za-z0-9.-]+|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?` +
		`[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*` +
		`(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z0-9+._-]+:[0-9a-fA-F]{32,})?$`)
	environmentName = regexp.MustCompile(`^[ -<>-~]{1,253}$`)
)

// invalid says what is wrong with a ServiceDefinition that no API server can
// make children of; false if nothing is. More replicas than the schema allows
// are not wrong: the original allowed them, and they run.
func invalid(svc *polychromev1alpha1.ServiceDefinition) (verdict, bool) {
	wrong := func(reason polychromev1alpha1.Reason, message string) (verdict, bool) {
		return verdict{phase: polychromev1alpha1.ServiceDefinitionInvalid, reason: reason, message: message, stalled: true}, true
	}
	if problems := validation.IsDNS1035Label(svc.Name); len(problems) > 0 {
		return wrong(polychromev1alpha1.ReasonInvalidName,
			"the name cannot be that of a Service: make the service anew under another name; "+strings.Join(problems, "; "))
	}
	if image := svc.Spec.Image; !imageReference.MatchString(image) || utf8.RuneCountInString(image) > maxImageLength {
		return wrong(polychromev1alpha1.ReasonInvalidImage,
			fmt.Sprintf("spec.image is no image reference: %q; write [registry/]name[:tag][@digest]", image))
	}
	if port := portOf(svc); port < 1 || port > 65535 {
		return wrong(polychromev1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.port must be from 1 to 65535, not %d", port))
	}
	if replicas := asked(svc); replicas < 0 && !svc.Spec.Autoscaled {
		return wrong(polychromev1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.replicas must not be less than 0, and is %d", replicas))
	}
	for _, name := range slices.Sorted(maps.Keys(svc.Spec.Env)) {
		if !environmentName.MatchString(name) {
			return wrong(polychromev1alpha1.ReasonInvalidSpec,
				fmt.Sprintf("spec.env has a variable that cannot be named so: %q; write 1 to 253 printable ASCII characters without '='", name))
		}
	}
	return verdict{}, false
}
