package framework

// Names is every name of the program that the framework writes into objects
// or shows to people. The framework has none of its own.
type Names struct {
	// Domain prefixes annotations, for example "polychrome.dev".
	Domain string
	// FieldManager names the program in managedFields, for example
	// "polychrome.dev/controller".
	FieldManager string
	// MetricPrefix is the namespace of the metrics, for example
	// "polychrome".
	MetricPrefix string
	// Component is the source of events and the user agent's product.
	Component string
}

// appliedHash is the annotation that remembers on a child which
// configuration was applied: it is what notices a field no longer wanted.
func (n Names) appliedHash() string { return n.Domain + "/applied-hash" }

// paused is the annotation by which people stop the program from writing to
// an object: its value is then "true".
func (n Names) paused() string { return n.Domain + "/paused" }

// Words of conditions that the framework writes by itself.
const (
	// ConditionReady is the main condition of every kind.
	ConditionReady = "Ready"
	// ConditionStalled is True when only new input can help; it is what
	// makes kstatus call an object Failed.
	ConditionStalled = "Stalled"
	// ConditionSchemaSkew is True when an object, or an answer of the API
	// server, does not fit the types this program was built with.
	ConditionSchemaSkew = "SchemaSkew"
	// ConditionHotLoop is True when the program found itself writing in
	// circles, or was not let keep what it wrote; its message has the paths.
	ConditionHotLoop = "HotLoop"
	// ConditionPaused is True while an annotation stops the program from
	// writing to the object.
	ConditionPaused = "Paused"
	// ReasonNameConflict says that an object of somebody else has the name of
	// a child.
	ReasonNameConflict = "NameConflict"
	// ReasonAPIRefused says that the API server refused a write as invalid
	// or forbidden. It is retried slowly: quotas and webhooks heal.
	ReasonAPIRefused = "APIRefused"
	// ReasonUndecodable says that the stored object does not fit its type.
	ReasonUndecodable = "Undecodable"
	// ReasonTypedPatchRefused says that the API server's schema lacks a
	// field that was applied.
	ReasonTypedPatchRefused = "TypedPatchRefused"
	// ReasonFieldPruned says that a field of the status was sent and dropped:
	// the CustomResourceDefinition is older than the program.
	ReasonFieldPruned = "FieldPruned"
	// ReasonFlapping says that an object was written again and again although
	// nobody else changed anything.
	ReasonFlapping = "Flapping"
	// ReasonApplyNotHeld says that the answer to an apply lacked what was
	// applied.
	ReasonApplyNotHeld = "ApplyNotHeld"
	// ReasonPausedByAnnotation says which annotation pauses the object.
	ReasonPausedByAnnotation = "PausedByAnnotation"
)

// maxMessage is the longest message taken over from a server, in bytes.
const maxMessage = 1024
