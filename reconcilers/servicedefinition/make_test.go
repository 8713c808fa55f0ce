package servicedefinition

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

type option func(*polychromev1alpha1.ServiceDefinition)

// service makes a definition of two replicas and the fifth generation.
func service(with ...option) *polychromev1alpha1.ServiceDefinition {
	made := &polychromev1alpha1.ServiceDefinition{
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "uid-1", Generation: 5},
		Spec: polychromev1alpha1.ServiceDefinitionSpec{
			Image: "example.com/web:2", Port: 8080, Replicas: new(int32(2)), Env: map[string]string{"LEVEL": "info"},
		},
	}
	for _, change := range with {
		change(made)
	}
	return made
}

func deleting(svc *polychromev1alpha1.ServiceDefinition) {
	svc.DeletionTimestamp = &metav1.Time{Time: now}
}
func autoscaled(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Autoscaled = true }

func named(name string) option {
	return func(svc *polychromev1alpha1.ServiceDefinition) { svc.Name = name }
}

func image(image string) option {
	return func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Image = image }
}

func port(port int32) option {
	return func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Port = port }
}

func replicas(count int32) option {
	return func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Replicas = &count }
}

func env(env map[string]string) option {
	return func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Env = env }
}

// deployment makes one that is rolled out with two replicas.
func deployment(with ...func(*appsv1.Deployment)) *appsv1.Deployment {
	made := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "uid-d", Generation: 3},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
		},
	}
	for _, change := range with {
		change(made)
	}
	return made
}

// unseen is a Deployment whose controller has not seen its newest spec, though
// all looks well.
func unseen(d *appsv1.Deployment) { d.Generation++ }

// starting is in the middle of its rollout.
func starting(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1 }

// says adds a condition to a Deployment.
func says(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions,
			appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message})
	}
}

var (
	late = says(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded",
		`ReplicaSet "web-1" has timed out progressing.`)
	refused = says(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
)

// settled makes a world in which nothing is left to do.
func settled(with ...func(*World)) World {
	w := World{
		Deployment: framework.Child[*appsv1.Deployment]{Object: deployment(), Present: true, Ownership: owners.Ours},
		Service: framework.Child[*corev1.Service]{
			Object: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "uid-s"}}, Present: true, Ownership: owners.Ours,
		},
	}
	for _, change := range with {
		change(&w)
	}
	return w
}

// deployed changes the Deployment of a world.
func deployed(with ...func(*appsv1.Deployment)) func(*World) {
	return func(w *World) { w.Deployment.Object = deployment(with...) }
}

// drifted changes what differs in the children.
func drifted(deployment, service []string) func(*World) {
	return func(w *World) { w.Deployment.Drift, w.Service.Drift = deployment, service }
}

func withoutDeployment(w *World) {
	w.Deployment = framework.Child[*appsv1.Deployment]{Drift: []string{""}}
}

func withoutService(w *World) {
	w.Service = framework.Child[*corev1.Service]{Drift: []string{""}}
}

func foreignDeployment(w *World) { w.Deployment.Ownership, w.Deployment.Drift = owners.Foreign, nil }
func foreignService(w *World)    { w.Service.Ownership, w.Service.Drift = owners.Free, nil }

func goingDeployment(w *World) { w.Deployment.Object.DeletionTimestamp = &metav1.Time{Time: now} }
func goingService(w *World)    { w.Service.Object.DeletionTimestamp = &metav1.Time{Time: now} }

func pods(pods ...*corev1.Pod) func(*World) {
	return func(w *World) { w.Pods = pods }
}

// pod makes one of the Deployment's that runs what the definition wants and is
// ready.
func pod(name string, with ...func(*corev1.Pod)) *corev1.Pod {
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "apps", Name: name,
			Labels: map[string]string{"app.kubernetes.io/name": "web", "polychrome.dev/service-definition": "web", "pod-template-hash": "abc"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-abc", UID: "uid-r", Controller: new(true)},
			},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "example.com/web:2",
			Env: []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "PORT", Value: "8080"}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "app", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}},
	}
	for _, change := range with {
		change(made)
	}
	return made
}

// app changes the status of the container.
func app(change func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].Ready = false
		change(&p.Status.ContainerStatuses[0])
	}
}

func waiting(reason, message string) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) {
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
}

// restarted has a container have ended, again and again.
func restarted(count int32, exit int32) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) {
		c.RestartCount = count
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: exit, Reason: "Error"}
	}
}

func both(changes ...func(*corev1.ContainerStatus)) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) {
		for _, change := range changes {
			change(c)
		}
	}
}
