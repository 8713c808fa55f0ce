package toolservice

import (
	"cmp"
	"fmt"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// verdict is a reason and a message for people.
type verdict struct {
	reason  polychromev1alpha1.Reason
	message string
}

// target finds what is to be probed. A verdict with a reason says what is
// wrong with the spec instead.
func (p rules) target(spec *polychromev1alpha1.ToolServiceSpec) (url string, wrong verdict) {
	if url, wrong = p.remote(spec.Remotes); wrong.reason != "" {
		return "", wrong
	}
	return url, secretWrong(bearerOf(spec))
}

// remote is the address of the first remote that can be probed; if none can,
// what is wrong with the first of the right transport.
func (p rules) remote(remotes []polychromev1alpha1.ToolServiceRemote) (string, verdict) {
	wrong := verdict{polychromev1alpha1.ReasonNoRemote, "spec.remotes has no remote of type " + polychromev1alpha1.DefaultRemoteType +
		", the only one that can be probed; add one"}
	for i, r := range remotes {
		if cmp.Or(r.Type, polychromev1alpha1.DefaultRemoteType) != polychromev1alpha1.DefaultRemoteType {
			continue
		}
		reason, message := probe.CheckURL(r.URL, p.allowLoopback)
		if reason == "" {
			return r.URL, verdict{}
		}
		if wrong.reason == polychromev1alpha1.ReasonNoRemote {
			wrong = verdict{reason, fmt.Sprintf("spec.remotes[%d].url: %s", i, message)}
		}
	}
	return "", wrong
}

// bearerOf is the Secret that holds the token, with its key filled in; nil if
// no token is sent.
func bearerOf(spec *polychromev1alpha1.ToolServiceSpec) *polychromev1alpha1.SecretKeyReference {
	if spec.Auth == nil || spec.Auth.BearerSecretRef == nil {
		return nil
	}
	ref := *spec.Auth.BearerSecretRef
	ref.Key = cmp.Or(ref.Key, polychromev1alpha1.DefaultBearerSecretKey)
	return &ref
}

// secretWrong judges a reference by its name alone.
func secretWrong(ref *polychromev1alpha1.SecretKeyReference) verdict {
	switch {
	case ref == nil:
	case ref.Name == "":
		return verdict{polychromev1alpha1.ReasonInvalidSpec, "spec.auth.bearerSecretRef.name is empty; write the name of the Secret that holds the token"}
	case ref.Name == polychromev1alpha1.ReservedSecretName || strings.HasPrefix(ref.Name, polychromev1alpha1.ReservedSecretPrefix):
		return verdict{polychromev1alpha1.ReasonReservedSecret, fmt.Sprintf(
			"spec.auth.bearerSecretRef.name: the Secret %s is reserved for the control plane; put the token into a Secret of its own", ref.Name)}
	}
	return verdict{}
}
