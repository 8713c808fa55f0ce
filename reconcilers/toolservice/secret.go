package toolservice

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// SecretsComponent is the part of the manifests that lets the controller read
// Secrets.
const SecretsComponent = "manifests/components/toolservice-secrets"

// Secrets reads Secrets by name, live: they are neither listed nor cached.
type Secrets interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Secret, error)
}

// readToken reads a bearer token. A verdict with a reason says why there is
// none to send; an error, that the API server could not tell.
func readToken(ctx context.Context, secrets Secrets, ref *polychromev1alpha1.SecretKeyReference) (string, verdict, error) {
	secret, err := secrets.Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", verdict{polychromev1alpha1.ReasonSecretNotFound, fmt.Sprintf(
			"the Secret %s does not exist; make it, with the token under the key %s", ref.Name, ref.Key)}, nil
	case apierrors.IsForbidden(err):
		return "", verdict{polychromev1alpha1.ReasonSecretForbidden, fmt.Sprintf(
			"the controller may not read the Secret %s; apply %s to let it", ref.Name, SecretsComponent)}, nil
	case err != nil:
		return "", verdict{}, fmt.Errorf("reading the Secret %s: %w", ref.Name, err)
	case secret.Type == corev1.SecretTypeServiceAccountToken:
		return "", verdict{polychromev1alpha1.ReasonReservedSecret, fmt.Sprintf(
			"the Secret %s holds the token of a service account, which is not for other servers; put the token into a Secret of its own", ref.Name)}, nil
	}
	token, there := secret.Data[ref.Key]
	text := strings.TrimSpace(string(token))
	switch {
	case !there:
		return "", verdict{polychromev1alpha1.ReasonSecretNotFound, fmt.Sprintf("the Secret %s has no key %s; put the token there", ref.Name, ref.Key)}, nil
	case text == "" || strings.ContainsFunc(text, unsendable):
		return "", verdict{polychromev1alpha1.ReasonSecretNotFound, fmt.Sprintf(
			"the key %s of the Secret %s does not hold a token: it is empty, or has spaces or other characters that no header may have", ref.Key, ref.Name)}, nil
	}
	return text, verdict{}, nil
}

// unsendable reports a character that no token has.
func unsendable(r rune) bool { return r <= ' ' || r >= 0x7f }
