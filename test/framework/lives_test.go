package framework_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// soon is what people call soon who have just installed a definition or
// granted a right, on a machine that is busy.
const soon = 30 * time.Second

// TestAKindComesAndGoesAndComesBack runs two controllers in one program; the
// kind of one of them has several lives.
func TestAKindComesAndGoesAndComesBack(t *testing.T) {
	t.Parallel()
	config := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	if err := widget.DefineLoose(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rigOptions{config: config})
	steady := newRig(t, rigOptions{config: config, namespace: r.namespace, widgets: widget.LooseWidgets, beside: r})
	r.run()
	steady.create("red", "steady")
	steady.ready("steady")
	r.state(framework.Absent)
	if err := r.parents.Err(); err != nil {
		t.Errorf("an absent kind is no error, got %v", err)
	}
	if got := r.faults.Count(frameworktest.Watches, frameworktest.On("widgets")); got != 0 {
		t.Errorf("want nothing watched before it is there, got %d watches", got)
	}
	for life, color := range []string{"orange", "yellow"} {
		name := fmt.Sprint("w", life)
		if err := widget.Define(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		defined := time.Now()
		r.create(color, name)
		r.ready(name)
		if took := time.Since(defined); took > soon {
			t.Errorf("life %d: it took %s until a widget was ready", life, took)
		}
		// What is left of the widget goes with its kind, finalizer and all.
		if err := widget.Undefine(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		r.state(framework.Absent)
		steady.recolor(color, "steady")
		steady.ready("steady")
		steady.idle()
		if got := r.parents.List(); len(got) != 0 {
			t.Errorf("life %d: the cache has outlived the kind: %v", life, got)
		}
	}
	if got := steady.faults.Count(frameworktest.Watches, frameworktest.On("loosewidgets")); got > 3 {
		t.Errorf("the other kind was disturbed: %d watches", got)
	}
	if got := strings.Count(r.log.String(), "level=WARN") + strings.Count(r.log.String(), "level=ERROR"); got > 15 {
		t.Errorf("want few warnings, got %d", got)
	}
}

// state waits until the widgets' state is one.
func (r *rig) state(want framework.State) {
	r.t.Helper()
	r.eventually(func() error {
		if got := r.parents.State(); got != want {
			return fmt.Errorf("want the widgets %s, got %s", want, got)
		}
		return nil
	})
}

// user makes the access of somebody with rights to some resources of the
// rig's namespace, and a way to grant more.
func limited(t *testing.T, config *rest.Config, namespace string) (*rest.Config, func(resources ...string)) {
	t.Helper()
	access := rest.CopyConfig(config)
	access.Impersonate.UserName = "user-of-" + namespace
	roles := must(kubernetes.NewForConfig(config)).RbacV1()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "some"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "some"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: access.Impersonate.UserName}},
	}
	must(roles.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}))
	role := must(roles.Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "some"}}, metav1.CreateOptions{}))
	return access, func(resources ...string) {
		t.Helper()
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			APIGroups: []string{"", widget.GroupVersion.Group}, Resources: resources,
			Verbs: []string{"get", "list", "watch", "create", "patch", "delete"},
		})
		role = must(roles.Roles(namespace).Update(t.Context(), role, metav1.UpdateOptions{}))
	}
}

func TestAMissingRightIsWaitedFor(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	define(t, config)
	namespace := cluster.Namespace(t, config)
	access, grant := limited(t, config, namespace)
	grant("configmaps")
	r := start(t, rigOptions{config: config, access: access, namespace: namespace})
	r.create("red", "w")
	r.eventually(func() error {
		if err := r.parents.Err(); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("want the state to say that a right is missing"), err)
		}
		return nil
	})
	if got := r.faults.Count(frameworktest.Watches, frameworktest.On("widgets")); got != 0 {
		t.Errorf("want nothing watched before the right is there, got %d watches", got)
	}
	grant("widgets", "widgets/status")
	granted := time.Now()
	r.ready("w")
	if took := time.Since(granted); took > soon {
		t.Errorf("it took %s until the right was found", took)
	}
	if got := r.failures(""); got != 0 {
		t.Errorf("want no failed pass, got %v", got)
	}
}

// TestAnOptionalResourceTellsItsState has one controller with two optional
// resources: one that nobody serves, and one without a right.
func TestAnOptionalResourceTellsItsState(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	define(t, config)
	namespace := cluster.Namespace(t, config)
	access, grant := limited(t, config, namespace)
	grant("widgets", "widgets/status")
	r := newRig(t, rigOptions{config: config, access: access, namespace: namespace, optional: true, script: func(r *rig) *script {
		s := standard(r)
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] { return framework.Plan[action]{} }
		s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget {
			out := w.DeepCopy()
			out.Status.Note = r.configMaps.State().String()
			return out
		}
		return s
	}})
	gizmos := framework.NewResource(r.program, framework.ResourceOptions[*widget.Widget]{
		Resource: widget.GroupVersion.WithResource("gizmos"), Kind: "Gizmo", Namespace: namespace, Optional: true,

		Informer: func(func(*widget.Widget, []byte, error)) cache.SharedIndexInformer {
			panic("an informer of what is not there")
		},
	})
	r.run()
	r.create("red", "w")
	note := func(want string) {
		t.Helper()
		r.eventually(func() error {
			if got := r.get("w").Status.Note; got != want {
				return fmt.Errorf("want the note %q, got %q", want, got)
			}
			return nil
		})
	}
	note("unknown")
	if !apierrors.IsForbidden(r.configMaps.Err()) {
		t.Errorf("want the error of a missing right, got %v", r.configMaps.Err())
	}
	if gizmos.State() != framework.Absent || gizmos.Err() != nil {
		t.Errorf("want absence without an error, got %s: %v", gizmos.State(), gizmos.Err())
	}
	grant("configmaps")
	note("served")
}
