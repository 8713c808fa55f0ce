package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/test/cluster"
)

// reach is how long a step of the journey may take.
const reach = 60 * time.Second

// manifests are the kustomizations with rights, each for the namespace of the
// same name.
var manifests = map[string]string{
	"polychrome":      "../../manifests/base",
	"polychrome-apps": "../../manifests/apps-namespace",
}

// rare are rights that this journey does not need, and what does.
var rare = map[string][]string{
	"polychrome": {
		"conversations get",      // asking about a watch that is late
		"cronjobs get",           // asking about a watch that is late
		"routines get",           // asking about a watch that is late
		"sandboxclaims get",      // asking about a watch that is late
		"sandboxwarmpools list",  // where the API is v1beta1
		"sandboxwarmpools watch", // where the API is v1beta1
		"serviceaccounts get",    // asking about a watch that is late
		"toolservices get",       // asking about a watch that is late
	},
	"polychrome-apps": {
		"deployments get",        // asking about a watch that is late
		"servicedefinitions get", // asking about a watch that is late
		"services get",           // asking about a watch that is late
		"workflows get",          // asking about a watch that is late
	},
}

// TestRights runs the controller as its ServiceAccount, with nothing but the
// manifests, from the first claim to the end of retention. Nothing may be
// forbidden to it, and no right may be left over.
func TestRights(t *testing.T) {
	c := cluster.Start(t, cluster.Options{
		CRDDirs: []string{cluster.ProjectCRDs(t), cluster.OperatorCRDs(t)},
		Audit:   true,
	})
	for _, namespace := range slices.Sorted(maps.Keys(manifests)) {
		c.Kubectl("apply", "--server-side", "-k", manifests[namespace])
	}
	o, err := parseOptions([]string{"--closed-conversation-retention-seconds=1", "--health-address=127.0.0.1:0",
		"--metrics-address=127.0.0.1:0", "--namespace=polychrome"}, surroundings())
	if err != nil {
		t.Fatal(err)
	}
	stop := runInTest(t, asServiceAccount(t, c.Config()), o)
	live(t, c.Config())
	liveApps(t, c.Config())
	liveRoutine(t, c.Config())
	liveToolService(t, c.Config())
	stop()
	expectReleased(t, c.Config())
	requests := cluster.ReadAudit(t, c.AuditLog())
	for namespace := range manifests {
		compareRights(t, namespace, requests)
	}
}

// asServiceAccount is the access that the controller's pod would have.
func asServiceAccount(t *testing.T, admin *rest.Config) *rest.Config {
	t.Helper()
	token, err := kubernetes.NewForConfigOrDie(admin).CoreV1().ServiceAccounts("polychrome").
		CreateToken(t.Context(), component, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking for a token: %v", err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token.Status.Token
	return config
}

// runInTest runs the controller until stop, which fails the test if it does
// not end in order.
func runInTest(t *testing.T, config *rest.Config, o *options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runOn(ctx, config, o, slog.New(slog.NewTextHandler(t.Output(), nil))) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the controller ended with %v", err)
			}
		case <-time.After(reach):
			t.Fatal("the controller does not end")
		}
	}
}

// live takes a conversation from creation through Ready and Closed to its
// end. There is no operator; the test says that the unit is ready.
func live(t *testing.T, admin *rest.Config) {
	t.Helper()
	client := versioned.NewForConfigOrDie(admin)
	conversations := client.PolychromeV1alpha1().Conversations("polychrome")
	claims := client.AgentSandboxV1alpha1().SandboxClaims("polychrome")
	ctx := t.Context()
	conv := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{Name: "first"}}
	if _, err := conversations.Create(ctx, conv, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, reach, func() error {
		ready := []byte(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"DependenciesReady","message":"",` +
			`"lastTransitionTime":"2030-01-01T00:00:00Z"}],"sandbox":{"podIPs":["10.0.0.1"]}}}`)
		_, err := claims.Patch(ctx, "first", types.MergePatchType, ready, metav1.PatchOptions{}, "status")
		return err
	})
	cluster.Eventually(t, reach, func() error {
		conv, err := conversations.Get(ctx, "first", metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady)) {
			err = fmt.Errorf("the conversation is not ready: %v", conv.Status.Conditions)
		}
		return err
	})
	closed := []byte(`{"status":{"closed":true}}`)
	if _, err := conversations.Patch(ctx, "first", types.MergePatchType, closed, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, reach, func() error {
		conv, err := conversations.Get(ctx, "first", metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("the closed conversation is still there: %v", conv.Status.Conditions)
	})
	cluster.Eventually(t, reach, func() error {
		events, err := kubernetes.NewForConfigOrDie(admin).CoreV1().Events("polychrome").List(ctx, metav1.ListOptions{})
		if err == nil && len(events.Items) == 0 {
			err = errors.New("there are no events")
		}
		return err
	})
}

// liveApps has a Workflow of two stages, of which one is edited and one
// removed.
func liveApps(t *testing.T, admin *rest.Config) {
	t.Helper()
	ctx, apps := t.Context(), versioned.NewForConfigOrDie(admin).PolychromeV1alpha1()
	looked := func(name, image string) {
		t.Helper()
		cluster.Eventually(t, reach, func() error {
			stage, err := apps.ServiceDefinitions("polychrome-apps").Get(ctx, name, metav1.GetOptions{})
			if err == nil && (stage.Spec.Image != image || stage.Status.ObservedGeneration != stage.Generation) {
				err = fmt.Errorf("%s was not looked at: %+v", name, stage.Status)
			}
			return err
		})
	}
	workflow := &polychromev1alpha1.Workflow{
		ObjectMeta: metav1.ObjectMeta{Name: "wf"},
		Spec: polychromev1alpha1.WorkflowSpec{Stages: []polychromev1alpha1.WorkflowStage{
			{Name: "a", Image: "example.test/a:1"}, {Name: "b", Image: "example.test/b:1"},
		}},
	}
	if _, err := apps.Workflows("polychrome-apps").Create(ctx, workflow, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	looked("wf-a", "example.test/a:1")
	looked("wf-b", "example.test/b:1")
	edit := []byte(`{"spec":{"stages":[{"name":"a","image":"example.test/a:2"}]}}`)
	if _, err := apps.Workflows("polychrome-apps").Patch(ctx, "wf", types.MergePatchType, edit, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	looked("wf-a", "example.test/a:2")
	cluster.Eventually(t, reach, func() error {
		_, err := apps.ServiceDefinitions("polychrome-apps").Get(ctx, "wf-b", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return cmp.Or(err, errors.New("the stage that was removed is still there"))
	})
}

// liveRoutine has a Routine with the trigger that an older release made.
func liveRoutine(t *testing.T, admin *rest.Config) {
	t.Helper()
	ctx, kube := t.Context(), kubernetes.NewForConfigOrDie(admin)
	made, err := versioned.NewForConfigOrDie(admin).PolychromeV1alpha1().Routines("polychrome").Create(ctx, &polychromev1alpha1.Routine{
		ObjectMeta: metav1.ObjectMeta{Name: "daily"},
		Spec: polychromev1alpha1.RoutineSpec{
			Owner: "user:test", Prompt: polychromev1alpha1.RoutinePrompt{Text: "x"},
			Schedule: polychromev1alpha1.RoutineSchedule{Cron: &polychromev1alpha1.CronSchedule{Expression: "0 9 * * *", TimeZone: "UTC"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	left := metav1.ObjectMeta{Name: "routine-daily", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: polychromev1alpha1.SchemeGroupVersion.String(), Kind: "Routine", Name: made.Name, UID: made.UID,
	}}}
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "example.test/c:1"}}}
	job := &batchv1.CronJob{ObjectMeta: left, Spec: batchv1.CronJobSpec{
		Schedule:    "0 9 * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}}},
	}}
	if _, err := kube.BatchV1().CronJobs("polychrome").Create(ctx, job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.CoreV1().ServiceAccounts("polychrome").Create(ctx, &corev1.ServiceAccount{ObjectMeta: left}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, reach, func() error {
		_, jobErr := kube.BatchV1().CronJobs("polychrome").Get(ctx, left.Name, metav1.GetOptions{})
		_, accountErr := kube.CoreV1().ServiceAccounts("polychrome").Get(ctx, left.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(jobErr) && apierrors.IsNotFound(accountErr) {
			return nil
		}
		return errors.Join(errors.New("the old trigger is still there"), jobErr, accountErr)
	})
}

// liveToolService has the entry of a server that is not there, and deletes it.
func liveToolService(t *testing.T, admin *rest.Config) {
	t.Helper()
	ctx, tools := t.Context(), versioned.NewForConfigOrDie(admin).PolychromeV1alpha1().ToolServices("polychrome")
	ts := &polychromev1alpha1.ToolService{
		ObjectMeta: metav1.ObjectMeta{Name: "gone"},
		Spec: polychromev1alpha1.ToolServiceSpec{
			Name: "com.example/gone", Remotes: []polychromev1alpha1.ToolServiceRemote{{URL: "http://127.0.0.1:1/mcp"}},
		},
	}
	if _, err := tools.Create(ctx, ts, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, reach, func() error {
		ts, err := tools.Get(ctx, "gone", metav1.GetOptions{})
		if err == nil && ts.Status.ObservedGeneration != ts.Generation {
			err = fmt.Errorf("the tool service was not looked at: %+v", ts.Status)
		}
		return err
	})
	if err := tools.Delete(ctx, "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, reach, func() error {
		_, err := tools.Get(ctx, "gone", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return cmp.Or(err, errors.New("the tool service is still there"))
	})
}

// expectReleased fails unless the next process may lead at once.
func expectReleased(t *testing.T, admin *rest.Config) {
	t.Helper()
	lease, err := kubernetes.NewForConfigOrDie(admin).CoordinationV1().Leases("polychrome").Get(t.Context(), leaseName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.Errorf("after its end the controller still holds the lease, as %q", *holder)
	}
}

// compareRights compares what was asked in a namespace with what its Role
// grants. Discovery and the like are of no namespace, and open to everybody.
func compareRights(t *testing.T, namespace string, requests []cluster.Request) {
	t.Helper()
	// The same event once more is a patch; whether there is one is a matter of
	// time.
	used := map[string]bool{"events patch": true}
	for _, r := range requests {
		if r.User != "system:serviceaccount:polychrome:"+component || r.Namespace != namespace && r.Namespace != "" {
			continue
		}
		if r.Code == http.StatusForbidden {
			t.Errorf("forbidden: %s %s", r.Verb, r.URI)
		}
		resource := r.Resource
		if r.Subresource != "" {
			resource += "/" + r.Subresource
		}
		used[resource+" "+r.Verb] = true
		if r.Verb == "patch" && r.Code == http.StatusCreated {
			used[resource+" create"] = true
		}
	}
	unused := slices.DeleteFunc(granted(t, namespace), func(right string) bool { return used[right] })
	if diff := gocmp.Diff(rare[namespace], unused); diff != "" {
		t.Errorf("rights in %s that were granted and not used (-want +got):\n%s", namespace, diff)
	}
}

// granted are the rights of a namespace's Role, as "resource verb", sorted.
func granted(t *testing.T, namespace string) []string {
	t.Helper()
	content, err := os.ReadFile(manifests[namespace] + "/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(content, &role); err != nil {
		t.Fatalf("reading the Role: %v", err)
	}
	var rights []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, resource+" "+verb)
			}
		}
	}
	slices.Sort(rights)
	return rights
}
