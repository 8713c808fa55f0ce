package v1alpha1

// Condition types that the operator writes on a SandboxClaim.
const (
	// ConditionReady says that the claim's sandbox can be used.
	ConditionReady = "Ready"
	// ConditionFinished says that the claim's pod has ended.
	ConditionFinished = "Finished"
	// ConditionSuspended says that the sandbox is scaled to nothing. It may be
	// left over; Ready wins.
	ConditionSuspended = "Suspended"
)
