package framework

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Class is what kind of failure an error is; it decides what follows.
type Class string

// The classes, each with what follows.
const (
	// ClassConflict parks the key until the cache has moved past the
	// version that conflicted.
	ClassConflict Class = "conflict"
	// ClassThrottled waits as long as the server asked.
	ClassThrottled Class = "throttled"
	// ClassTransient backs off.
	ClassTransient Class = "transient"
	// ClassInvalid backs off and shows in Ready as APIRefused.
	ClassInvalid Class = "invalid"
	// ClassForbidden backs off and shows in Ready as APIRefused.
	ClassForbidden Class = "forbidden"
	// ClassSkew is an apply of a field that the API server's schema lacks.
	// It is tried again every five minutes: the CRD may have been updated.
	ClassSkew Class = "skew"
	// ClassHotLoop is a key that writes in circles; it is tried again every
	// five minutes.
	ClassHotLoop Class = "hotloop"
	// ClassTerminal waits for a new generation.
	ClassTerminal Class = "terminal"
	// ClassPanic is a recovered panic; it backs off.
	ClassPanic Class = "panic"
)

// conflictError says that a write met another version than the cache showed.
type conflictError struct{ cause error }

func (e *conflictError) Error() string { return e.cause.Error() }
func (e *conflictError) Unwrap() error { return e.cause }

// terminalError is our own verdict on the input.
type terminalError struct{ reason, message string }

func (e *terminalError) Error() string { return e.reason + ": " + e.message }

// nameConflictError says that an object of somebody else has the name.
type nameConflictError struct{ what string }

func (e *nameConflictError) Error() string {
	return e.what + " exists and belongs to somebody else"
}

// errFlapping says that a key writes again and again although nobody else
// changes anything.
var errFlapping = errors.New("writing in circles: the same object is written again and again although nobody else changes anything")

// panicError is a recovered panic with its stack.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Terminal makes an error that no retry can cure: the object's Ready turns
// False with this reason and message, and nothing more is tried until its
// generation changes. Answers of an API server are never terminal.
func Terminal(reason, message string) error {
	return &terminalError{reason: reason, message: message}
}

// IsConflict reports whether err says that the cache was behind what was
// written to: the pass is planned again once the cache has caught up.
func IsConflict(err error) bool {
	var conflict *conflictError
	return errors.As(err, &conflict)
}

// IsNameConflict reports whether err says that an object of somebody else
// has the name of a child.
func IsNameConflict(err error) bool {
	var taken *nameConflictError
	return errors.As(err, &taken)
}

// Classify tells what kind of failure err is. A nil error has no class.
func Classify(err error) Class {
	var (
		terminal *terminalError
		panicked *panicError
		taken    *nameConflictError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &panicked):
		return ClassPanic
	case errors.As(err, &terminal):
		return ClassTerminal
	case errors.Is(err, errFlapping):
		return ClassHotLoop
	case IsConflict(err):
		return ClassConflict
	case errors.As(err, &taken):
		return ClassTransient
	}
	return classifyStatus(err)
}

func classifyStatus(err error) Class {
	switch {
	case skewed(err):
		return ClassSkew
	case apierrors.IsTooManyRequests(err):
		return ClassThrottled
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), failedTest(err):
		return ClassConflict
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return ClassInvalid
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return ClassForbidden
	}
	if suggested, _ := apierrors.SuggestsClientDelay(err); suggested > 0 {
		return ClassThrottled
	}
	return ClassTransient
}

// failedTest reports a write that met another object or list than the cache
// showed. The API server answers 422: without causes to a JSON patch whose
// test did not hold, with one on metadata.uid to another object's UID, with
// one on metadata.finalizers to adding a finalizer while deleting.
func failedTest(err error) bool {
	status, ok := statusOf(err)
	if !ok || status.Code != http.StatusUnprocessableEntity {
		return false
	}
	if status.Details == nil || len(status.Details.Causes) == 0 {
		return true
	}
	for _, cause := range status.Details.Causes {
		if cause.Field == "metadata.uid" || cause.Field == "metadata.finalizers" {
			return true
		}
	}
	return false
}

// skewed reports an apply of a field that the server's schema does not have.
// The server answers 500 without a reason, so only the text tells it from a
// passing fault.
func skewed(err error) bool {
	status, ok := statusOf(err)
	return ok && status.Code == http.StatusInternalServerError &&
		strings.Contains(status.Message, "failed to create typed patch object")
}

// retryAfterOf is how long the server asked to wait, zero if it did not.
func retryAfterOf(err error) time.Duration {
	seconds, ok := apierrors.SuggestsClientDelay(err)
	if !ok {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// gone reports an answer that says that the object is not there. A 404 of the
// path, which comes without a status, says nothing of the object: its API is
// not served, or not served in this version any more.
func gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err)
}

func statusOf(err error) (metav1.Status, bool) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return metav1.Status{}, false
	}
	return answer.Status(), true
}

// causeChain lists err and everything it wraps that its own text does not show,
// so that one log line holds the whole chain.
func causeChain(err error) (text string) {
	defer func() {
		if value := recover(); value != nil {
			text = fmt.Sprintf("%T, whose text panics: %v", err, value)
		}
	}()
	text = err.Error()
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		if !strings.Contains(text, cause.Error()) {
			text += "; caused by: " + cause.Error()
		}
	}
	return text
}
