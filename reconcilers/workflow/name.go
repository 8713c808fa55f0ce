package workflow

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// hashLength is how many characters tell cut names apart.
const hashLength = 8

// childName is the name of a stage's ServiceDefinition: that of the workflow
// and that of the stage. Where both together are too long for a Service they
// are cut, and a hash of both keeps the name unique. Both must be labels.
//
// Short names may meet, as do a-b with c and a with b-c; cut ones do not, since
// the hash is of the two names and not of what they are joined to.
func childName(workflow, stage string) string {
	joined := workflow + "-" + stage
	if len(joined) <= polychromev1alpha1.MaxServiceNameLength {
		return joined
	}
	sum := sha256.Sum256([]byte(workflow + "/" + stage))
	// Five bits make a character.
	hash := strings.ToLower(base32.HexEncoding.EncodeToString(sum[:hashLength*5/8]))
	cut := joined[:polychromev1alpha1.MaxServiceNameLength-hashLength-1]
	return strings.TrimRight(cut, "-") + "-" + hash
}

// isLabel reports whether a name can be part of the name of a Service.
func isLabel(name string) bool { return len(validation.IsDNS1035Label(name)) == 0 }

// namesakes are the workflows that may have a child of a name that was not
// cut.
func namesakes(child string) []string {
	var workflows []string
	for i := range child {
		if child[i] == '-' && i > 0 {
			workflows = append(workflows, child[:i])
		}
	}
	return workflows
}
