package servicedefinition

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/owners"
)

const (
	// containerName is the container that runs the image.
	containerName = "app"
	// portName is the name of the container's port, by which the readiness
	// probe and the Service find it whatever its number.
	portName = "http"
	// servicePort is the port of every Service.
	servicePort = 80
	// nobody is the user and group of a distroless image's nonroot.
	nobody = 65532
	// portVariable tells the container its port.
	portVariable = "PORT"
	// scratch is the volume at scratchPath.
	scratch, scratchPath = "tmp", "/tmp"
)

// What every container may use. The scratch volume is bounded as memory is:
// without a limit one service could fill the disk of a node, and every pod
// there would be evicted; with one, only the pod that wrote too much is.
var (
	requests     = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	limits       = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	scratchLimit = resource.MustParse("1Gi")
)

func ownerOf(svc *polychromev1alpha1.ServiceDefinition) owners.Owner {
	return owners.Owner{
		APIVersion: polychromev1alpha1.SchemeGroupVersion.String(), Kind: "ServiceDefinition", Name: svc.Name, UID: svc.UID,
	}
}

func labelsOf(svc *polychromev1alpha1.ServiceDefinition) map[string]string {
	return map[string]string{
		polychromev1alpha1.AppNameLabel:           svc.Name,
		polychromev1alpha1.ManagedByLabel:         polychromev1alpha1.ManagedByValue,
		polychromev1alpha1.ServiceDefinitionLabel: svc.Name,
	}
}

// portOf and asked fill in what an object that predates the schema may lack.
func portOf(svc *polychromev1alpha1.ServiceDefinition) int32 {
	return cmp.Or(svc.Spec.Port, polychromev1alpha1.DefaultPort)
}

func asked(svc *polychromev1alpha1.ServiceDefinition) int32 {
	if svc.Spec.Replicas == nil {
		return polychromev1alpha1.DefaultReplicas
	}
	return *svc.Spec.Replicas
}

// deploymentFor is the Deployment that a service should have. Only what is
// named here is the controller's; all else may be anybody's, a deadline for
// the rollout for example. The selector cannot be changed once it is stored.
func deploymentFor(svc *polychromev1alpha1.ServiceDefinition) *applyappsv1.DeploymentApplyConfiguration {
	spec := applyappsv1.DeploymentSpec().
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{polychromev1alpha1.AppNameLabel: svc.Name})).
		WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labelsOf(svc)).WithSpec(podFor(svc)))
	deployment := applyappsv1.Deployment(svc.Name, svc.Namespace).WithLabels(labelsOf(svc)).WithSpec(spec)
	if svc.Spec.Autoscaled {
		return deployment.WithAnnotations(map[string]string{polychromev1alpha1.AutoscaledAnnotation: polychromev1alpha1.AutoscaledValue})
	}
	spec.WithReplicas(asked(svc))
	return deployment
}

// replicasOf is the number of replicas of a Deployment, as it is.
func replicasOf(d *appsv1.Deployment) *applyappsv1.DeploymentApplyConfiguration {
	return applyappsv1.Deployment(d.Name, d.Namespace).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(standing(d)))
}

// podFor is the hardened pod. It passes the Pod Security Standard restricted.
// Variables for every Service of the namespace, which Kubernetes would add,
// may clash with the container's own, PORT among them.
func podFor(svc *polychromev1alpha1.ServiceDefinition) *applycorev1.PodSpecApplyConfiguration {
	return applycorev1.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(applycorev1.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(nobody).WithRunAsGroup(nobody).
			WithSeccompProfile(applycorev1.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithVolumes(applycorev1.Volume().WithName(scratch).
			WithEmptyDir(applycorev1.EmptyDirVolumeSource().WithSizeLimit(scratchLimit))).
		WithContainers(containerFor(svc))
}

// containerFor is the container. Its root is read-only, so that many images
// need the volume at /tmp.
func containerFor(svc *polychromev1alpha1.ServiceDefinition) *applycorev1.ContainerApplyConfiguration {
	return applycorev1.Container().WithName(containerName).
		WithImage(svc.Spec.Image).
		WithPorts(applycorev1.ContainerPort().WithName(portName).WithContainerPort(portOf(svc))).
		WithEnv(environment(svc)...).
		WithSecurityContext(applycorev1.SecurityContext().
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(applycorev1.Capabilities().WithDrop("ALL"))).
		WithReadinessProbe(applycorev1.Probe().
			WithTCPSocket(applycorev1.TCPSocketAction().WithPort(intstr.FromString(portName))).
			WithInitialDelaySeconds(2).WithPeriodSeconds(10)).
		WithResources(applycorev1.ResourceRequirements().WithRequests(requests).WithLimits(limits)).
		WithVolumeMounts(applycorev1.VolumeMount().WithName(scratch).WithMountPath(scratchPath))
}

// environment is sorted, since its order is part of the template. PORT comes
// last unless the spec sets it: images that read it bind where the probe and
// the Service expect.
func environment(svc *polychromev1alpha1.ServiceDefinition) []*applycorev1.EnvVarApplyConfiguration {
	var env []*applycorev1.EnvVarApplyConfiguration
	for _, name := range slices.Sorted(maps.Keys(svc.Spec.Env)) {
		env = append(env, applycorev1.EnvVar().WithName(name).WithValue(svc.Spec.Env[name]))
	}
	if _, set := svc.Spec.Env[portVariable]; !set {
		env = append(env, applycorev1.EnvVar().WithName(portVariable).WithValue(strconv.Itoa(int(portOf(svc)))))
	}
	return env
}

// serviceFor is the Service that a service should have. It selects on the
// lineage too: the name alone may be a label of other people's pods.
func serviceFor(svc *polychromev1alpha1.ServiceDefinition) *applycorev1.ServiceApplyConfiguration {
	return applycorev1.Service(svc.Name, svc.Namespace).
		WithLabels(labelsOf(svc)).
		WithSpec(applycorev1.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(map[string]string{
				polychromev1alpha1.AppNameLabel:           svc.Name,
				polychromev1alpha1.ServiceDefinitionLabel: svc.Name,
			}).
			WithPorts(applycorev1.ServicePort().WithName(portName).WithProtocol(corev1.ProtocolTCP).
				WithPort(servicePort).WithTargetPort(intstr.FromString(portName))))
}
