package framework

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	s := metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}
	if causes != nil {
		s.Details = &metav1.StatusDetails{Causes: causes}
	}
	return &apierrors.StatusError{ErrStatus: s}
}

func TestClassify(t *testing.T) {
	resource := schema.GroupResource{Group: "g", Resource: "things"}
	cases := map[string]struct {
		err  error
		want Class
	}{
		"nothing failed":                     {nil, ""},
		"another version was there":          {apierrors.NewConflict(resource, "a", errors.New("x")), ClassConflict},
		"the name was taken":                 {apierrors.NewAlreadyExists(resource, "a"), ClassConflict},
		"a JSON patch test did not hold":     {status(422, metav1.StatusReasonInvalid, "rejected"), ClassConflict},
		"the uid was another object's":       {status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Field: "metadata.uid"}), ClassConflict},
		"a field was refused":                {status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Field: "spec.a"}), ClassInvalid},
		"the request was malformed":          {apierrors.NewBadRequest("x"), ClassInvalid},
		"no right":                           {apierrors.NewForbidden(resource, "a", errors.New("x")), ClassForbidden},
		"too many requests":                  {apierrors.NewTooManyRequests("x", 3), ClassThrottled},
		"unavailable, come back later":       {apierrors.NewServerTimeout(resource, "get", 2), ClassThrottled},
		"an internal error":                  {apierrors.NewInternalError(errors.New("x")), ClassTransient},
		"an apply of a field nobody knows":   {status(http.StatusInternalServerError, "", "failed to create typed patch object (a/b; g/v1, Kind=X): .spec.n: field not declared in schema"), ClassSkew},
		"a finalizer added while deleting":   {status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Field: "metadata.finalizers"}), ClassConflict},
		"not found":                          {apierrors.NewNotFound(resource, "a"), ClassTransient},
		"the network":                        {errors.New("connection reset"), ClassTransient},
		"our own verdict":                    {Terminal("Bad", "no"), ClassTerminal},
		"our own verdict, wrapped":           {fmt.Errorf("planning: %w", Terminal("Bad", "no")), ClassTerminal},
		"a panic":                            {&panicError{value: 1}, ClassPanic},
		"a conflict joined to something":     {errors.Join(errors.New("x"), &conflictError{errors.New("y")}), ClassConflict},
		"a name that somebody else has":      {&nameConflictError{what: "Thing a"}, ClassTransient},
		"a conflict behind two wrapped ones": {fmt.Errorf("a: %w", fmt.Errorf("b: %w", &conflictError{errors.New("c")})), ClassConflict},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Classify(c.err); got != c.want {
				t.Errorf("class: want %q, got %q", c.want, got)
			}
		})
	}
}

func TestCausesShowTheWholeChainOnce(t *testing.T) {
	inner := errors.New("x509: unknown authority")
	hidden := &hiding{text: "event queue error", cause: inner}
	if got, want := causeChain(fmt.Errorf("watching: %w", hidden)), "watching: event queue error; caused by: x509: unknown authority"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if got, want := causeChain(fmt.Errorf("watching: %w", inner)), "watching: x509: unknown authority"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

type hiding struct {
	text  string
	cause error
}

func (h *hiding) Error() string { return h.text }
func (h *hiding) Unwrap() error { return h.cause }
