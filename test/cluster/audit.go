package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Request is one request as the API server recorded it.
type Request struct {
	// User is who asked, for a service account system:serviceaccount:NAMESPACE:NAME.
	User string
	// Agent is what the client called itself.
	Agent string
	// Verb is the Kubernetes verb, such as get, watch or patch.
	Verb string
	// URI is the path and the query.
	URI string
	// Resource and Subresource, Namespace and Name say what was asked for; each may be empty.
	Resource, Subresource, Namespace, Name string
	// Code is the status code of the answer.
	Code int
	// Stage tells the start of a watch (ResponseStarted) from the end of a request (ResponseComplete).
	Stage string
}

// ReadAudit reads the requests of an audit log in the order of their answers.
func ReadAudit(t testing.TB, path string) []Request {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	// A line that has no end yet is still being written.
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	var requests []Request
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry auditEntry
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatalf("reading the audit log: %v", err)
		}
		requests = append(requests, entry.request())
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	return requests
}

// auditEntry is the part of audit.k8s.io/v1 Event that is of interest.
type auditEntry struct {
	User           struct{ Username string }
	UserAgent      string
	Verb           string
	RequestURI     string
	ObjectRef      struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus struct{ Code int }
	Stage          string
}

func (e auditEntry) request() Request {
	return Request{
		User: e.User.Username, Agent: e.UserAgent, Verb: e.Verb, URI: e.RequestURI,
		Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Stage: e.Stage,
	}
}
