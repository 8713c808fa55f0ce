package frameworktest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Write is one write of a program that the API server has carried out.
type Write struct {
	Request
	// Query is what stands behind the path.
	Query url.Values
	// Body is what was sent and Answer what came back, both JSON.
	Body, Answer []byte
}

// Invariant makes the watcher of one run. It is told of each write that was
// carried out, in all lives of the program, one at a time, and returns an
// error for one that must not be.
type Invariant func() func(Write) error

// NoDeleteWithoutUID holds if every delete is of a very object: a name alone
// may meet another one that has come in its place.
func NoDeleteWithoutUID() func(Write) error {
	return func(w Write) error {
		if w.Verb != "delete" {
			return nil
		}
		var options metav1.DeleteOptions
		if len(w.Body) > 0 {
			if err := json.Unmarshal(w.Body, &options); err != nil {
				return fmt.Errorf("reading the options of deleting %s %s: %w", w.Resource, w.Name, err)
			}
		}
		if options.Preconditions == nil || options.Preconditions.UID == nil {
			return fmt.Errorf("deleting %s %s without a precondition on its UID", w.Resource, w.Name)
		}
		return nil
	}
}

// FinalizerBeforeEffect holds if nothing is written to a child before its
// controlling parent has the finalizer. parent is the plural name of the
// parents, which must not have the finalizer from their user.
func FinalizerBeforeEffect(parent, finalizer string) Invariant {
	return func() func(Write) error {
		finalized := map[types.UID]bool{}
		return func(w Write) error {
			var answer metav1.PartialObjectMetadata
			if err := json.Unmarshal(w.Answer, &answer); err != nil {
				return fmt.Errorf("reading the answer to %s %s %s: %w", w.Verb, w.Resource, w.Name, err)
			}
			if resource, _, _ := strings.Cut(w.Resource, "/"); resource == parent {
				finalized[answer.UID] = finalized[answer.UID] || slices.Contains(answer.Finalizers, finalizer)
				return nil
			}
			owner := metav1.GetControllerOfNoCopy(&answer)
			if owner != nil && !finalized[owner.UID] {
				return fmt.Errorf("%s %s %s before %s has the finalizer %s", w.Verb, w.Resource, answer.Name, owner.Name, finalizer)
			}
			return nil
		}
	}
}
