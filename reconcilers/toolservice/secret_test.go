package toolservice

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestReadToken(t *testing.T) {
	opaque := func(data map[string][]byte) *corev1.Secret { return secretOf(corev1.SecretTypeOpaque, data) }
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "weather-token", errors.New("no right"))
	cases := map[string]struct {
		secret   *corev1.Secret
		err      error
		want     string
		wantSays polychromev1alpha1.Reason
		wantText string
		wantErr  bool
	}{
		"a token":                   {secret: opaque(map[string][]byte{"token": []byte(canary)}), want: canary},
		"a token from a file":       {secret: opaque(map[string][]byte{"token": []byte(canary + "\n")}), want: canary},
		"no Secret":                 {wantSays: polychromev1alpha1.ReasonSecretNotFound, wantText: "does not exist"},
		"no such key":               {secret: opaque(map[string][]byte{"other": []byte(canary)}), wantSays: polychromev1alpha1.ReasonSecretNotFound, wantText: "has no key token"},
		"an empty key":              {secret: opaque(map[string][]byte{"token": []byte(" \n")}), wantSays: polychromev1alpha1.ReasonSecretNotFound, wantText: "does not hold a token"},
		"two lines":                 {secret: opaque(map[string][]byte{"token": []byte(canary + "\r\nX-Evil: 1")}), wantSays: polychromev1alpha1.ReasonSecretNotFound, wantText: "does not hold a token"},
		"letters that no token has": {secret: opaque(map[string][]byte{"token": []byte(canary + "ö")}), wantSays: polychromev1alpha1.ReasonSecretNotFound},
		"no right":                  {err: forbidden, wantSays: polychromev1alpha1.ReasonSecretForbidden, wantText: "manifests/components/toolservice-secrets"},
		"a service account's":       {secret: secretOf(corev1.SecretTypeServiceAccountToken, map[string][]byte{"token": []byte(canary)}), wantSays: polychromev1alpha1.ReasonReservedSecret},
		"an API server in trouble":  {err: apierrors.NewInternalError(errors.New("etcd")), wantErr: true},
		"no API server":             {err: errors.New("connection refused"), wantErr: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			secrets := &fakeSecrets{err: test.err, secrets: map[string]*corev1.Secret{}}
			if test.secret != nil {
				secrets.secrets["weather-token"] = test.secret
			}
			got, says, err := readToken(t.Context(), secrets, &polychromev1alpha1.SecretKeyReference{Name: "weather-token", Key: "token"})
			if got != test.want || says.reason != test.wantSays || !strings.Contains(says.message, test.wantText) || (err != nil) != test.wantErr {
				t.Errorf("want %q, %q, %q, an error %t; got %q, %+v, %v", test.want, test.wantSays, test.wantText, test.wantErr, got, says, err)
			}
			if strings.Contains(says.message, canary) {
				t.Errorf("the token is in the message: %s", says.message)
			}
			if len(secrets.reads) != 1 {
				t.Errorf("want one read, got %v", secrets.reads)
			}
		})
	}
}
