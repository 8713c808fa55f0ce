package routine

import (
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
)

// mayNotSee is a controller whose rights are about routines alone, and that
// gets the others later.
func mayNotSee(s *scene) {
	s.meanwhile(s.makes("one", minutely), s.leftBehind("one"))
	access := s.userWith(
		rbacv1.PolicyRule{APIGroups: []string{"polychrome.dev"}, Resources: []string{"routines"}, Verbs: []string{"get", "list", "watch"}},
		rbacv1.PolicyRule{APIGroups: []string{"polychrome.dev"}, Resources: []string{"routines/status"}, Verbs: []string{"patch"}},
	)
	l := s.enter(access)
	l.settle()
	s.finds("routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one")
	l.plays(s.suspends("one", true), s.suspends("one", false), s.waits(time.Hour))
	s.finds("routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one")
	if got := l.faults.Count(frameworktest.By("delete")); got != 0 {
		s.t.Errorf("want no delete of what cannot be seen, got %d", got)
	}
	s.grant(
		rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"cronjobs"}, Verbs: []string{"list", "watch", "delete"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"list", "watch", "delete"}},
	)
	cluster.Eventually(s.t, settle, func() error {
		s.Clock.Step(time.Second)
		return s.leaves([]string{"routine one Scheduled 3"}).Do(s.t.Context())
	})
}

// userWith is the access of a user with rights in the namespace alone.
func (s *scene) userWith(rules ...rbacv1.PolicyRule) *rest.Config {
	s.t.Helper()
	access := rest.CopyConfig(s.Config)
	access.Impersonate.UserName = "user-of-" + s.Namespace
	s.grant(rules...)
	return access
}

// grant gives the scene's user more rights.
func (s *scene) grant(rules ...rbacv1.PolicyRule) {
	s.t.Helper()
	rights := s.kube.RbacV1()
	role, err := rights.Roles(s.Namespace).Create(s.t.Context(),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "some-"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(fmt.Errorf("making a role: %w", err))
	}
	if _, err := rights.RoleBindings(s.Namespace).Create(s.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "user-of-" + s.Namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(fmt.Errorf("binding a role: %w", err))
	}
}
