package widget

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the widget's kind.
const Kind = "Widget"

// GroupVersion is the widget's.
var GroupVersion = schema.GroupVersion{Group: "example.test", Version: "v1"}

// Widgets is the widget's resource, LooseWidgets that of a kind of the same
// type whose definition lets anything be stored.
var (
	Widgets      = GroupVersion.WithResource("widgets")
	LooseWidgets = GroupVersion.WithResource("loosewidgets")
)

// Widget is a thing of a size and a color.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// Spec is what a widget shall be.
type Spec struct {
	Size  int    `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
}

// Status is what a widget is.
type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Note               string             `json:"note,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	// Foreign is written by others only.
	Foreign string `json:"foreign,omitempty"`
}

// List is a list of widgets.
type List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopy copies a widget.
func (w *Widget) DeepCopy() *Widget {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = nil
	for _, c := range w.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *c.DeepCopy())
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *List) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return &out
}
