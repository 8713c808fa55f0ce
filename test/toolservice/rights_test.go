package toolservice

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework/frameworktest"
)

// limited has the controller be somebody with the rights it needs at least.
func (s *scene) limited() {
	s.t.Helper()
	s.access = rest.CopyConfig(s.access)
	s.access.Impersonate = rest.ImpersonationConfig{UserName: "controller-" + s.Namespace, Groups: []string{"system:authenticated"}}
	s.meanwhile(s.grants("base",
		rbacv1.PolicyRule{APIGroups: []string{"polychrome.dev"}, Resources: []string{"toolservices"}, Verbs: []string{"get", "list", "watch", "patch"}},
		rbacv1.PolicyRule{APIGroups: []string{"polychrome.dev"}, Resources: []string{"toolservices/status"}, Verbs: []string{"patch"}},
	))
}

func (s *scene) grants(name string, rules ...rbacv1.PolicyRule) frameworktest.Step {
	return s.step("granted "+name, func(ctx context.Context) error {
		meta := metav1.ObjectMeta{Name: name}
		if _, err := s.kube.RbacV1().Roles(s.Namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := s.kube.RbacV1().RoleBindings(s.Namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.access.Impersonate.UserName}},
		}, metav1.CreateOptions{})
		return err
	})
}

func TestTheRightToReadSecretsIsOptional(t *testing.T) {
	s := newScene(t)
	s.limited()
	l := s.start()
	l.plays(
		s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"token": canary}),
		s.serves("weather", needs(canary)), s.serves("open", lists("forecast")),
		s.makes("open"), s.makes("weather", bearer("weather-token")),
	)
	s.finds("open Ready True CatalogListed True ServerResponds forecast", "weather Degraded False SecretForbidden Unknown SecretForbidden")
	if got := s.get("weather").Status.Message; !strings.Contains(got, "manifests/components/toolservice-secrets") {
		t.Errorf("want the message to name the component, got %q", got)
	}
	// The authorizer may take a moment to learn of the grant.
	s.meanwhile(s.grants("secrets", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}))
	s.eventually("the Secret is read", func() bool {
		l.plays(s.waits(2 * time.Minute))
		return s.get("weather").Status.Ready
	})
}
