package frameworktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is something to happen to the next requests of a kind: those that
// Verb, Resource, Name and Path all describe, each unless empty.
type Fault struct {
	// Verb and Resource are as in Request.
	Verb, Resource string
	// Name is the object's name.
	Name string
	// Path is a part of the request's path.
	Path string
	// Times is how many requests it happens to. Default 1; below zero it
	// happens until Injected.Stop.
	Times int

	// Hold keeps a request back until the channel is closed or something
	// is sent to it. With nothing else, the request then goes its way. A
	// channel that nobody closes is a stall, which the client's own deadline
	// ends.
	Hold <-chan struct{}
	// Status answers in the server's place, as an API server would.
	Status int
	// Message goes with Status. Default a word on the injection.
	Message string
	// Causes go with Status.
	Causes []metav1.StatusCause
	// RetryAfter goes with Status; it is sent in whole seconds.
	RetryAfter time.Duration
	// Plain sends Message as plain text, as an API server answers for a path
	// that it does not serve.
	Plain bool
	// Reset answers with a reset connection.
	Reset bool
	// Forward has the server carry the request out all the same; its answer
	// is lost and Status or Reset comes instead.
	Forward bool
	// Edit changes the server's answer, a JSON object. Status, Reset and
	// Forward are then not looked at.
	Edit func(answer map[string]any)
}

// Injected is a fault at work.
type Injected struct {
	transport *Transport
	fault     Fault
	left      int
	hits      int
}

// Inject lets a fault happen. Of several that fit a request the oldest does.
func (t *Transport) Inject(f Fault) *Injected {
	if f.Times == 0 {
		f.Times = 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	injected := &Injected{transport: t, fault: f, left: f.Times}
	t.faults = append(t.faults, injected)
	return injected
}

// Hits is how many requests it has happened to.
func (i *Injected) Hits() int {
	i.transport.mu.Lock()
	defer i.transport.mu.Unlock()
	return i.hits
}

// Stop lets it happen no more.
func (i *Injected) Stop() {
	i.transport.mu.Lock()
	defer i.transport.mu.Unlock()
	i.left = 0
}

func (f Fault) matches(r Request) bool {
	return (f.Verb == "" || f.Verb == r.Verb) &&
		(f.Resource == "" || f.Resource == r.Resource) &&
		(f.Name == "" || f.Name == r.Name) &&
		strings.Contains(r.Path, f.Path)
}

// reasons are those that an API server gives with a status.
var reasons = map[int]metav1.StatusReason{
	http.StatusUnauthorized:        metav1.StatusReasonUnauthorized,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
}

// response is the answer in the server's place.
func (f Fault) response(req *http.Request) (*http.Response, error) {
	if f.Reset {
		return nil, errReset
	}
	message := f.Message
	if message == "" {
		message = fmt.Sprintf("injected status %d", f.Status)
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(f.Status), Reason: reasons[f.Status], Message: message,
		Details: &metav1.StatusDetails{Causes: f.Causes},
	})
	if err != nil {
		return nil, fmt.Errorf("writing the injected answer: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if f.Plain {
		header, body = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte(message)
	}
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	return &http.Response{
		Status: strconv.Itoa(f.Status) + " " + http.StatusText(f.Status), StatusCode: f.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// edited changes a JSON answer on its way.
func edited(resp *http.Response, edit func(map[string]any)) (*http.Response, error) {
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("editing an answer that is not a JSON object: %w", err)
	}
	edit(answer)
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("writing the edited answer: %w", err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, nil
}
