package v1alpha1

// Reason is the cause of a condition's status, one word for programs.
type Reason string

// Reasons that any kind may show.
const (
	// ReasonPending is the status default: no controller has looked yet.
	ReasonPending Reason = "Pending"
	// ReasonAPIRefused says that the API server refused a write; the message is
	// the server's own. It is retried, because quotas and webhooks heal.
	ReasonAPIRefused Reason = "APIRefused"
	// ReasonNameConflict says that an object that is not ours has the name of a
	// child. It is never touched.
	ReasonNameConflict Reason = "NameConflict"
	// ReasonInvalidName says that the object's own name cannot be used for its
	// children. Another name is needed.
	ReasonInvalidName Reason = "InvalidName"
	// ReasonInvalidSpec says that the spec breaks a rule that has no reason of
	// its own; the message names the field.
	ReasonInvalidSpec Reason = "InvalidSpec"
	// ReasonChildTerminating says that a child of the wanted name is still going
	// away.
	ReasonChildTerminating Reason = "ChildTerminating"
)

// Reasons of HotLoop, SchemaSkew and Paused.
const (
	// ReasonFlapping says that fields change back and forth; the message names
	// their paths.
	ReasonFlapping Reason = "Flapping"
	// ReasonApplyNotHeld says that the API server's answer to an apply did not
	// contain what was applied.
	ReasonApplyNotHeld Reason = "ApplyNotHeld"
	// ReasonFieldPruned says that a field was sent and did not come back; the
	// installed CRD is older than the controller.
	ReasonFieldPruned Reason = "FieldPruned"
	// ReasonUndecodable says that the stored object does not decode into the
	// controller's type; the message names the field.
	ReasonUndecodable Reason = "Undecodable"
	// ReasonTypedPatchRefused says that the API server could not merge an apply
	// with its schema.
	ReasonTypedPatchRefused Reason = "TypedPatchRefused"
	// ReasonPausedByAnnotation says which annotation pauses the object.
	ReasonPausedByAnnotation Reason = "PausedByAnnotation"
)

// Reasons of a Conversation, in the order in which they win over each other.
const (
	// ReasonBackendUnavailable says that the API of the execution backend is
	// not served.
	ReasonBackendUnavailable Reason = "BackendUnavailable"
	// ReasonExecutionUnitTerminating says that the unit is going away and what
	// holds it.
	ReasonExecutionUnitTerminating Reason = "ExecutionUnitTerminating"
	// ReasonRecreateLimit says that the unit was made again too often lately.
	ReasonRecreateLimit Reason = "RecreateLimit"
	// ReasonExecutionUnitVanished says that the unit disappeared although
	// nobody asked for it.
	ReasonExecutionUnitVanished Reason = "ExecutionUnitVanished"
	// ReasonPodFailed says that the unit's pod ended in failure.
	ReasonPodFailed Reason = "PodFailed"
	// ReasonPodSucceeded says that the unit's pod ended, though it should run.
	ReasonPodSucceeded Reason = "PodSucceeded"
	// ReasonClaimExpired says that the claim's time was up.
	ReasonClaimExpired Reason = "ClaimExpired"
	// ReasonSandboxExpired says that the sandbox's time was up.
	ReasonSandboxExpired Reason = "SandboxExpired"
	// ReasonRollFailed says that the unit was not ready in time after it was
	// replaced for a new harness image generation.
	ReasonRollFailed Reason = "RollFailed"
	// ReasonTemplateNotFound passes on that the sandbox template is missing.
	ReasonTemplateNotFound Reason = "TemplateNotFound"
	// ReasonWarmPoolNotFound passes on that the warm pool is missing.
	ReasonWarmPoolNotFound Reason = "WarmPoolNotFound"
	// ReasonInvalidMetadata passes on that the operator refuses the claim's
	// labels or annotations.
	ReasonInvalidMetadata Reason = "InvalidMetadata"
	// ReasonEnvVarsInjectionRejected passes on that the operator refuses the
	// claim's environment variables.
	ReasonEnvVarsInjectionRejected Reason = "EnvVarsInjectionRejected"
	// ReasonVolumeClaimTemplatesError passes on that the operator could not use
	// the claim's volume templates.
	ReasonVolumeClaimTemplatesError Reason = "VolumeClaimTemplatesError"
	// ReasonReconcilerError passes on an error of the operator.
	ReasonReconcilerError Reason = "ReconcilerError"
	// ReasonPendingDeadlineExceeded says that the unit was not ready in time.
	ReasonPendingDeadlineExceeded Reason = "PendingDeadlineExceeded"
	// ReasonCreatingExecutionUnit says that the claim was just made.
	ReasonCreatingExecutionUnit Reason = "CreatingExecutionUnit"
	// ReasonWaitingForHarness says that the claim exists and is not ready yet.
	ReasonWaitingForHarness Reason = "WaitingForHarness"
	// ReasonRollingHarnessImage says that the unit is being replaced.
	ReasonRollingHarnessImage Reason = "RollingHarnessImage"
	// ReasonClosingIdleConversation says that the conversation is being closed
	// because it was idle.
	ReasonClosingIdleConversation Reason = "ClosingIdleConversation"
	// ReasonTearingDown says that the unit of the closed conversation is being
	// deleted.
	ReasonTearingDown Reason = "TearingDown"
	// ReasonHarnessReady says that the harness can be dialled.
	ReasonHarnessReady Reason = "HarnessReady"
	// ReasonIdleReclaimed says that an older release took the unit back.
	ReasonIdleReclaimed Reason = "IdleReclaimed"
	// ReasonClosed says that the conversation is closed and settled.
	ReasonClosed Reason = "Closed"
)

// Reasons of a ServiceDefinition. A Workflow's stages repeat them in messages.
const (
	// ReasonRolloutComplete says that the current spec is rolled out.
	ReasonRolloutComplete Reason = "RolloutComplete"
	// ReasonRolloutInProgress says that it is being rolled out.
	ReasonRolloutInProgress Reason = "RolloutInProgress"
	// ReasonStopped says that zero replicas are asked for.
	ReasonStopped Reason = "Stopped"
	// ReasonInvalidImage says that the image is no image reference.
	ReasonInvalidImage Reason = "InvalidImage"
	// ReasonProgressDeadlineExceeded passes on that the Deployment gave up.
	ReasonProgressDeadlineExceeded Reason = "ProgressDeadlineExceeded"
	// ReasonReplicaFailure passes on that pods could not be made, for a quota
	// or a policy.
	ReasonReplicaFailure Reason = "ReplicaFailure"
	// ReasonImagePullBackOff passes on that the image cannot be pulled.
	ReasonImagePullBackOff Reason = "ImagePullBackOff"
	// ReasonCrashLoopBackOff passes on that the container keeps ending.
	ReasonCrashLoopBackOff Reason = "CrashLoopBackOff"
	// ReasonCreateContainerConfigError passes on that the container cannot be
	// made.
	ReasonCreateContainerConfigError Reason = "CreateContainerConfigError"
	// ReasonUnschedulable passes on that no node takes the pod.
	ReasonUnschedulable Reason = "Unschedulable"
)

// Reasons of a Workflow.
const (
	// ReasonStagesReady says that every stage is ready.
	ReasonStagesReady Reason = "StagesReady"
	// ReasonStagesProgressing says that stages are starting or rolling.
	ReasonStagesProgressing Reason = "StagesProgressing"
	// ReasonStageDegraded says that a stage which was ready is not any more.
	ReasonStageDegraded Reason = "StageDegraded"
	// ReasonUpstreamNotReady says which stages wait for which.
	ReasonUpstreamNotReady Reason = "UpstreamNotReady"
	// ReasonDuplicateStage says which name two stages share.
	ReasonDuplicateStage Reason = "DuplicateStage"
	// ReasonUnknownDependency says which stage depends on one that is not there.
	ReasonUnknownDependency Reason = "UnknownDependency"
	// ReasonSelfDependency says which stage depends on itself.
	ReasonSelfDependency Reason = "SelfDependency"
	// ReasonDependencyCycle shows a cycle among the stages.
	ReasonDependencyCycle Reason = "DependencyCycle"
	// ReasonInvalidStageName says which stage's name cannot be used.
	ReasonInvalidStageName Reason = "InvalidStageName"
)

// Reasons of a ToolService.
const (
	// ReasonCatalogListed says that the server's tools were listed.
	ReasonCatalogListed Reason = "CatalogListed"
	// ReasonServerResponds says that the server answers.
	ReasonServerResponds Reason = "ServerResponds"
	// ReasonNoRemote says that the spec has no remote that can be probed.
	ReasonNoRemote Reason = "NoRemote"
	// ReasonInvalidURL says that the remote's URL cannot be used.
	ReasonInvalidURL Reason = "InvalidURL"
	// ReasonURLBlocked says that the URL, or the address behind it, may not be
	// dialled.
	ReasonURLBlocked Reason = "URLBlocked"
	// ReasonReservedSecret says that the Secret belongs to the control plane.
	ReasonReservedSecret Reason = "ReservedSecret"
	// ReasonSecretNotFound says that the Secret or its key is missing.
	ReasonSecretNotFound Reason = "SecretNotFound"
	// ReasonSecretForbidden says that the controller may not read Secrets; the
	// message names the manifest component that grants it.
	ReasonSecretForbidden Reason = "SecretForbidden"
	// ReasonDNSFailed says that the host has no address.
	ReasonDNSFailed Reason = "DNSFailed"
	// ReasonConnectionRefused says that nothing listens there.
	ReasonConnectionRefused Reason = "ConnectionRefused"
	// ReasonConnectionFailed says that the connection broke in another way.
	ReasonConnectionFailed Reason = "ConnectionFailed"
	// ReasonTimeout says that the probe's deadline passed.
	ReasonTimeout Reason = "Timeout"
	// ReasonTLSFailed says that the TLS handshake failed.
	ReasonTLSFailed Reason = "TLSFailed"
	// ReasonAuthRequired says that the server answered 401.
	ReasonAuthRequired Reason = "AuthRequired"
	// ReasonForbidden says that the server answered 403.
	ReasonForbidden Reason = "Forbidden"
	// ReasonNotFound says that the server answered 404.
	ReasonNotFound Reason = "NotFound"
	// ReasonTransportMismatch says that the server speaks another transport.
	ReasonTransportMismatch Reason = "TransportMismatch"
	// ReasonRedirectRefused says that the server redirected; redirects are not
	// followed.
	ReasonRedirectRefused Reason = "RedirectRefused"
	// ReasonRateLimited says that the server answered 429.
	ReasonRateLimited Reason = "RateLimited"
	// ReasonServerError says that the server answered 5xx.
	ReasonServerError Reason = "ServerError"
	// ReasonRPCError says that the server answered with an error of the
	// protocol.
	ReasonRPCError Reason = "RPCError"
	// ReasonNotMCP says that the answer is not of the protocol at all.
	ReasonNotMCP Reason = "NotMCP"
	// ReasonPaginationLoop says that the list of tools has no end.
	ReasonPaginationLoop Reason = "PaginationLoop"
	// ReasonResponseTooLarge says that the answer was larger than is read.
	ReasonResponseTooLarge Reason = "ResponseTooLarge"
)

// Reasons of a Routine.
const (
	// ReasonScheduled says that the routine will fire.
	ReasonScheduled Reason = "Scheduled"
	// ReasonSuspended says that spec.suspend is set.
	ReasonSuspended Reason = "Suspended"
	// ReasonCompleted says that the only instant has passed.
	ReasonCompleted Reason = "Completed"
	// ReasonOnceInPast says that the instant had already passed when the
	// routine was made.
	ReasonOnceInPast Reason = "OnceInPast"
	// ReasonNeverFires says that no instant matches the schedule.
	ReasonNeverFires Reason = "NeverFires"
	// ReasonInvalidSchedule says what is wrong with the schedule.
	ReasonInvalidSchedule Reason = "InvalidSchedule"
	// ReasonInvalidTimeZone says that the zone is not an IANA name.
	ReasonInvalidTimeZone Reason = "InvalidTimeZone"
	// ReasonInvalidPrompt says that the prompt is blank or too long.
	ReasonInvalidPrompt Reason = "InvalidPrompt"
)
