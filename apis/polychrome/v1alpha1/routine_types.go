package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DefaultTimeZone is the zone of a schedule that names none.
const DefaultTimeZone = "UTC"

// RoutineScope says who sees what a Routine does.
//
// +kubebuilder:validation:Enum=Public;Private
type RoutineScope string

// Scopes of a Routine.
const (
	// RoutinePublic shows the routine's conversations to everybody.
	RoutinePublic RoutineScope = "Public"
	// RoutinePrivate shows them to the owner alone. It is the default.
	RoutinePrivate RoutineScope = "Private"
)

// RoutinePhase is a one-word summary of a Routine, for people. Programs read
// the conditions.
//
// +kubebuilder:validation:Enum=Pending;Scheduled;Suspended;Completed;Invalid
type RoutinePhase string

// Phases of a Routine.
const (
	// RoutinePending means that it has not been looked at yet.
	RoutinePending RoutinePhase = "Pending"
	// RoutineScheduled means that it will fire again.
	RoutineScheduled RoutinePhase = "Scheduled"
	// RoutineSuspended means that it does not fire because spec.suspend is set.
	RoutineSuspended RoutinePhase = "Suspended"
	// RoutineCompleted means that its only instant has passed.
	RoutineCompleted RoutinePhase = "Completed"
	// RoutineInvalid means that only a changed spec can help.
	RoutineInvalid RoutinePhase = "Invalid"
)

// CronSchedule fires again and again.
type CronSchedule struct {
	// expression is a cron expression of five fields: minute, hour, day of the
	// month, month and day of the week. The names of months and days and the
	// shorthands from @hourly to @yearly are understood; seconds, @every, @reboot
	// and zones within the expression are not. Where both days are restricted,
	// either one matches. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Expression string `json:"expression"`

	// timeZone is the IANA name of the zone in which the expression is read,
	// such as Europe/London. The default is UTC.
	//
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=253
	TimeZone string `json:"timeZone,omitempty"`
}

// OnceSchedule fires at one instant.
type OnceSchedule struct {
	// at is the instant, in RFC 3339 with its offset, such as
	// 2026-03-08T09:00:00Z. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$')",message="write an RFC 3339 instant with its offset, such as 2026-03-08T09:00:00Z or 2026-03-08T09:00:00+01:00"
	At string `json:"at"`

	// timeZone is the IANA name of the zone in which the instant is shown to
	// people. It does not move the instant. Unset means UTC.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TimeZone string `json:"timeZone,omitempty"`
}

// RoutineSchedule says when a Routine fires: exactly one of its fields is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.cron) != has(self.once)",message="write exactly one of cron (fires again and again) and once (fires at one instant)"
type RoutineSchedule struct {
	// cron fires again and again. It is set when once is not.
	//
	// +optional
	Cron *CronSchedule `json:"cron,omitempty"`

	// once fires at one instant. It is set when cron is not.
	//
	// +optional
	Once *OnceSchedule `json:"once,omitempty"`
}

// RoutinePrompt is what the agent is asked to do.
type RoutinePrompt struct {
	// text is the prompt, at most 32 KiB and not blank. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	// +kubebuilder:validation:XValidation:rule="self.trim() != ''",message="the prompt is blank: write what the agent should do"
	Text string `json:"text"`
}

// RoutineProvenance says where a Routine came from.
type RoutineProvenance struct {
	// createdBy says who made the routine.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	CreatedBy string `json:"createdBy,omitempty"`

	// conversationId is the conversation in which the routine was made.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ConversationID string `json:"conversationId,omitempty"`

	// createdAt is when the routine was made, in RFC 3339.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CreatedAt string `json:"createdAt,omitempty"`
}

// RoutineSpec is a prompt and the times at which it is run.
type RoutineSpec struct {
	// schedule says when the routine fires. It is required. A change takes
	// effect at once.
	//
	// +required
	Schedule RoutineSchedule `json:"schedule"`

	// prompt is what the agent is asked to do. It is required.
	//
	// +required
	Prompt RoutinePrompt `json:"prompt"`

	// scope says who sees what the routine does: Public or Private. The default
	// is Private.
	//
	// +optional
	// +kubebuilder:default=Private
	Scope RoutineScope `json:"scope,omitempty"`

	// suspend stops the routine from firing while it is true. Resuming replays
	// nothing that was missed. The default is false.
	//
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// owner is who the routine runs as, always. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Owner string `json:"owner"`

	// provenance says where the routine came from. The controller does not act
	// on it.
	//
	// +optional
	Provenance *RoutineProvenance `json:"provenance,omitempty"`
}

// RoutineStatus is what the controller found out about the schedule. The
// scheduler, which fires routines, writes the condition MissedFire beside it.
type RoutineStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ready says that the spec is valid.
	//
	// +optional
	Ready bool `json:"ready"`

	// phase is a one-word summary for people. The conditions say more.
	//
	// +optional
	Phase RoutinePhase `json:"phase,omitempty"`

	// message explains the phase in a sentence. It is unset when there is
	// nothing to explain.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`

	// cadence is the schedule as a sentence, such as "every weekday at 09:00
	// Europe/London".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Cadence string `json:"cadence,omitempty"`

	// nextFireTimes are the next instants at which the routine fires, at most
	// 3, soonest first, in RFC 3339 with the offset of the schedule's zone. The
	// list is replaced whole and is empty when nothing is due.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	NextFireTimes []string `json:"nextFireTimes,omitempty"`

	// conditions holds Ready, MissedFire, which the scheduler writes, and
	// Stalled, HotLoop, SchemaSkew or Paused where they apply, one entry per
	// type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// Routine is a prompt that runs on a schedule, as its owner. The controller
// validates it and shows when it will fire; the control plane's scheduler fires
// it.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=routine,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule['cron','once']['expression','at']`,description="Cron expression or instant"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.schedule['cron','once'].timeZone`,description="Time zone of the schedule"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`,description="Whether firing is suspended"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the spec is valid"
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextFireTimes[0]`,description="Next instant at which it fires"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type Routine struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the prompt and its schedule.
	//
	// +required
	Spec RoutineSpec `json:"spec"`

	// status is what the controller found out about the schedule. A new object
	// shows Ready=False, reason Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status RoutineStatus `json:"status,omitzero"`
}

// RoutineList is a list of Routines.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type RoutineList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the Routines.
	Items []Routine `json:"items"`
}
