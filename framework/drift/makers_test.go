package drift_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"polychrome.dev/controller/framework/drift"
)

// config is a deployment as a reconciler asks for it, with the spellings
// that the server changes.
func config() *applyapps.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	return applyapps.Deployment("web", "apps").
		WithLabels(labels).
		WithOwnerReferences(
			applymeta.OwnerReference().WithAPIVersion("v1").WithKind("Thing").WithName("one").WithUID("u1").WithController(true)).
		WithSpec(applyapps.DeploymentSpec().
			WithReplicas(0).
			WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().
				WithAutomountServiceAccountToken(false).
				WithVolumes(applycore.Volume().WithName("scratch").WithEmptyDir(applycore.EmptyDirVolumeSource())).
				WithTolerations(applycore.Toleration().WithKey("gpu")).
				WithContainers(container()))))
}

func container() *applycore.ContainerApplyConfiguration {
	return applycore.Container().WithName("app").WithImage("web:1").WithArgs("serve", "--quick").
		WithEnv(
			applycore.EnvVar().WithName("MODE").WithValue(""),
			applycore.EnvVar().WithName("LEVEL").WithValue("info")).
		WithPorts(
			applycore.ContainerPort().WithName("http").WithContainerPort(80),
			applycore.ContainerPort().WithName("dns").WithContainerPort(53).WithProtocol("UDP")).
		WithVolumeMounts(
			applycore.VolumeMount().WithName("scratch").WithMountPath("/tmp"),
			applycore.VolumeMount().WithName("scratch").WithMountPath("/run").WithSubPath("run")).
		WithResources(applycore.ResourceRequirements().
			WithRequests(corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("1024Mi")}).
			WithLimits(corev1.ResourceList{"cpu": resource.MustParse("0.5"), "memory": resource.MustParse("1.5Gi")})).
		WithReadinessProbe(applycore.Probe().WithHTTPGet(applycore.HTTPGetAction().
			WithPort(intstr.FromString("http")).
			WithHTTPHeaders(applycore.HTTPHeader().WithName("X-Probe").WithValue("1"))))
}

// stored is the same deployment as a server keeps it: defaults filled in,
// quantities respelled, what is empty dropped.
func stored() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "apps", UID: "child", ResourceVersion: "7", Generation: 1, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Thing", Name: "one", UID: "u1", Controller: ptr.To(true)}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas:                ptr.To[int32](0),
			Selector:                &metav1.LabelSelector{MatchLabels: labels},
			Strategy:                appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
			ProgressDeadlineSeconds: ptr.To[int32](600),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					AutomountServiceAccountToken: ptr.To(false),
					RestartPolicy:                corev1.RestartPolicyAlways,
					Volumes: []corev1.Volume{{Name: "scratch",
						VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpEqual}},
					Containers:  []corev1.Container{storedContainer()},
				},
			},
		},
	}
}

func storedContainer() corev1.Container {
	return corev1.Container{
		Name: "app", Image: "web:1", Args: []string{"serve", "--quick"}, ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{{Name: "MODE"}, {Name: "LEVEL", Value: "info"}},
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP},
			{Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "scratch", MountPath: "/tmp"},
			{Name: "scratch", MountPath: "/run", SubPath: "run"}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1536Mi")}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/", Scheme: corev1.URISchemeHTTP, Port: intstr.FromString("http"),
			HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "1"}}}}},
	}
}

func normalise(t testing.TB, config, into any) map[string]any {
	t.Helper()
	fields, err := drift.Normalise(config, into)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func toMap(t testing.TB, obj any) map[string]any {
	t.Helper()
	fields, err := drift.ToMap(obj)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}
