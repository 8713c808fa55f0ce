package framework

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// The types of events, as the API spells them.
const (
	eventNormal  = "Normal"
	eventWarning = "Warning"
)

// NewEvents makes a recorder of the events that users see with kubectl
// events, each in the namespace of its object. end is called when the manager has ended: what is still on its way
// is sent then.
func NewEvents(ctx context.Context, config *rest.Config, component string) (events record.EventRecorder, end func(), err error) {
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of events: %w", err)
	}
	// Not ended by ctx: passes in flight then still have something to say.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.Events(metav1.NamespaceAll)})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component}), broadcaster.Shutdown, nil
}

// conditionDegraded is True when Ready's reason is trouble, not progress.
const conditionDegraded = "Degraded"

// tell sends events about an object, after its status was written.
func (c *Controller[T, W, A]) tell(obj T, events []Event) {
	if c.events == nil || len(events) == 0 {
		return
	}
	about := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{
			APIVersion: c.Resource.Resource.GroupVersion().String(),
			Kind:       c.Resource.Kind,
		},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: obj.GetNamespace(), Name: obj.GetName(),
			UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
		},
	}
	for _, e := range events {
		kind := eventNormal
		if e.Warning {
			kind = eventWarning
		}
		c.events.Event(about, kind, e.Reason, e.Message)
	}
}

// readyEvent is the event of a transition: Ready's status or reason moved.
func readyEvent(old, now []metav1.Condition) []Event {
	was, is := meta.FindStatusCondition(old, ConditionReady), meta.FindStatusCondition(now, ConditionReady)
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return nil
	}
	trouble := is.Status != metav1.ConditionTrue && (is.Reason == ReasonAPIRefused ||
		meta.IsStatusConditionTrue(now, conditionDegraded) || meta.IsStatusConditionTrue(now, ConditionStalled))
	return []Event{{Warning: trouble, Reason: is.Reason, Message: is.Message}}
}
