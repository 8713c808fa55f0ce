package servicedefinition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// trouble is why pods do not get ready, by their own words.
type trouble struct {
	reason  polychromev1alpha1.Reason
	message string
}

// waitingWords are what kubelet says of a container that cannot start.
var waitingWords = map[string]polychromev1alpha1.Reason{
	"ImagePullBackOff":           polychromev1alpha1.ReasonImagePullBackOff,
	"ErrImagePull":               polychromev1alpha1.ReasonImagePullBackOff,
	"InvalidImageName":           polychromev1alpha1.ReasonImagePullBackOff,
	"ErrImageNeverPull":          polychromev1alpha1.ReasonImagePullBackOff,
	"ImageInspectError":          polychromev1alpha1.ReasonImagePullBackOff,
	"RegistryUnavailable":        polychromev1alpha1.ReasonImagePullBackOff,
	"SignatureValidationFailed":  polychromev1alpha1.ReasonImagePullBackOff,
	"CreateContainerConfigError": polychromev1alpha1.ReasonCreateContainerConfigError,
	"CreateContainerError":       polychromev1alpha1.ReasonCreateContainerConfigError,
	"RunContainerError":          polychromev1alpha1.ReasonCreateContainerConfigError,
	crashLoop:                    polychromev1alpha1.ReasonCrashLoopBackOff,
}

const (
	crashLoop         = "CrashLoopBackOff"
	runContainerError = "RunContainerError"
	// manyRestarts are enough to call it a loop between two crashes, too.
	manyRestarts = 2
)

// madeFor reports whether a pod is one of the service's Deployment: labels
// anybody can write, but the ReplicaSet that made the pod bears the
// Deployment's name and the hash of its template. Pods that are going, or have
// ended and been replaced, say nothing of the present.
func madeFor(svc *polychromev1alpha1.ServiceDefinition, pod *corev1.Pod) bool {
	if pod.Namespace != svc.Namespace || pod.DeletionTimestamp != nil ||
		pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	maker := metav1.GetControllerOfNoCopy(pod)
	return maker != nil && maker.Kind == "ReplicaSet" && pod.Labels[polychromev1alpha1.ServiceDefinitionLabel] == svc.Name &&
		maker.Name == svc.Name+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// troubleOf is the first trouble of the pods, in their order, that there is.
// Those of another template than the wanted one are passed over while there
// are any of it: they are on their way out. Where none is of it, what is
// admitted is not what was sent, and all count.
func troubleOf(svc *polychromev1alpha1.ServiceDefinition, pods []*corev1.Pod) (trouble, bool) {
	wanted := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !runs(svc, pod) })
	if len(wanted) == 0 {
		wanted = pods
	}
	for _, pod := range wanted {
		if found, ok := podTrouble(pod); ok {
			return found, true
		}
	}
	return trouble{}, false
}

// runs reports whether a pod has the image and the variables of the spec.
// Variables that others add do not count.
func runs(svc *polychromev1alpha1.ServiceDefinition, pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name != containerName {
			continue
		}
		has := make(map[string]string, len(c.Env))
		for _, variable := range c.Env {
			has[variable.Name] = variable.Value
		}
		for _, variable := range environment(svc) {
			if value, set := has[*variable.Name]; !set || value != *variable.Value {
				return false
			}
		}
		return c.Image == svc.Spec.Image
	}
	return false
}

func podTrouble(pod *corev1.Pod) (trouble, bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return trouble{polychromev1alpha1.ReasonUnschedulable, fmt.Sprintf("pod %s: %s", pod.Name, sentence(c.Reason, c.Message))}, true
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if reason, words := containerTrouble(&statuses[i]); reason != "" {
				return trouble{reason, fmt.Sprintf("pod %s, container %s: %s", pod.Name, statuses[i].Name, words)}, true
			}
		}
	}
	return trouble{}, false
}

// containerTrouble is what a container says, if it is in trouble. One that has
// ended again and again is in a loop also while it runs or is about to start
// anew: the reason must not change with each turn of it.
func containerTrouble(c *corev1.ContainerStatus) (reason polychromev1alpha1.Reason, words string) {
	if c.Ready {
		return "", ""
	}
	word, message := "", ""
	if w := c.State.Waiting; w != nil {
		word, message = w.Reason, w.Message
	}
	reason = waitingWords[word]
	ended := cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
	loops := c.RestartCount >= manyRestarts && ended != nil
	switch {
	case word == crashLoop, loops && (reason == "" || word == runContainerError):
		return polychromev1alpha1.ReasonCrashLoopBackOff, sentence(crashLoop, ending(ended, message))
	case reason != "":
		return reason, pullError(word, message)
	}
	return "", ""
}

// ending tells how a container ended. Kubelet's own message only counts how
// long it waits, and would change with each turn.
func ending(t *corev1.ContainerStateTerminated, otherwise string) string {
	if t == nil {
		return otherwise
	}
	text := fmt.Sprintf("it ended with exit code %d", t.ExitCode)
	if t.Signal != 0 {
		text = fmt.Sprintf("it ended by signal %d", t.Signal)
	}
	if t.Reason != "" {
		text += " (" + t.Reason + ")"
	}
	return sentence(text, strings.TrimSpace(t.Message))
}

// pullError words a failing container. A pull that fails and one that is
// waited for take turns; the message of the latter ends with what the former
// says, so that both come out alike.
func pullError(word, message string) string {
	if word == "ImagePullBackOff" {
		if _, cause, found := strings.Cut(message, `": `); found {
			return cause
		}
	}
	return sentence(word, message)
}

func sentence(word, message string) string {
	if message == "" {
		return word
	}
	return word + ": " + message
}
