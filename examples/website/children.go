package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
)

// defaultImage serves /usr/share/nginx/html on port 8080, as user 101.
const defaultImage = "docker.io/nginxinc/nginx-unprivileged:1.29-alpine"

func labelsOf(site *webv1alpha1.Website) map[string]string {
	return map[string]string{webv1alpha1.WebsiteLabel: site.Name}
}

// pageFor is the ConfigMap that a Website should have.
func pageFor(site *webv1alpha1.Website) *applycorev1.ConfigMapApplyConfiguration {
	return applycorev1.ConfigMap(site.Name, site.Namespace).
		WithLabels(labelsOf(site)).
		WithData(map[string]string{"index.html": site.Spec.HTML})
}

// deploymentFor is the Deployment that a Website should have. Only what is
// named here is the controller's; all else may be anybody's.
func deploymentFor(site *webv1alpha1.Website) *applyappsv1.DeploymentApplyConfiguration {
	hash := sha256.Sum256([]byte(site.Spec.HTML))
	return applyappsv1.Deployment(site.Name, site.Namespace).
		WithLabels(labelsOf(site)).
		WithSpec(applyappsv1.DeploymentSpec().
			WithReplicas(site.Spec.Replicas).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(labelsOf(site))).
			WithTemplate(applycorev1.PodTemplateSpec().
				WithLabels(labelsOf(site)).
				WithAnnotations(map[string]string{webv1alpha1.PageHashAnnotation: hex.EncodeToString(hash[:8])}).
				WithSpec(podFor(site))))
}

// podFor passes the Pod Security Standard restricted.
func podFor(site *webv1alpha1.Website) *applycorev1.PodSpecApplyConfiguration {
	page, tmp := applycorev1.Volume().WithName("page"), applycorev1.Volume().WithName("tmp")
	page.WithConfigMap(applycorev1.ConfigMapVolumeSource().WithName(site.Name))
	tmp.WithEmptyDir(applycorev1.EmptyDirVolumeSource())
	server := applycorev1.Container().WithName("server").
		WithImage(cmp.Or(site.Spec.Image, defaultImage)).
		WithPorts(applycorev1.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithReadinessProbe(applycorev1.Probe().WithHTTPGet(applycorev1.HTTPGetAction().WithPort(intstr.FromString("http")))).
		WithSecurityContext(applycorev1.SecurityContext().WithReadOnlyRootFilesystem(true).
			WithAllowPrivilegeEscalation(false).WithCapabilities(applycorev1.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(
			applycorev1.VolumeMount().WithName("page").WithMountPath("/usr/share/nginx/html").WithReadOnly(true),
			applycorev1.VolumeMount().WithName("tmp").WithMountPath("/tmp"))
	return applycorev1.PodSpec().WithVolumes(page, tmp).WithContainers(server).WithAutomountServiceAccountToken(false).
		WithSecurityContext(applycorev1.PodSecurityContext().WithRunAsNonRoot(true).
			WithSeccompProfile(applycorev1.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault)))
}
