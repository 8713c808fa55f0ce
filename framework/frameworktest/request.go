package frameworktest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Request is one request to the API server, as it was sent.
type Request struct {
	// Verb is get, list, watch, create, update, patch, apply or delete;
	// apply is a patch by server-side apply. A request that is not for a
	// resource, such as discovery, is a get.
	Verb string
	// Resource is the plural name, for a subresource as in widgets/status.
	// Empty if the request is not for a resource.
	Resource string
	// Namespace and Name tell the object, each as far as the path does.
	Namespace, Name string
	// Path is the path, without the query.
	Path string
	// At is when it was sent.
	At time.Time
	// Code is the answer's status; zero while there is none.
	Code int
	// Injected is set when a fault took part in the answer.
	Injected bool
}

// Watches selects watches.
func Watches(r Request) bool { return r.Verb == "watch" }

// Unary selects everything but watches.
func Unary(r Request) bool { return r.Verb != "watch" }

// Writes selects what is meant to change something.
func Writes(r Request) bool {
	return r.Verb != "watch" && r.Verb != "get" && r.Verb != "list"
}

// On selects the requests of one resource, as in Request.Resource.
func On(resource string) func(Request) bool {
	return func(r Request) bool { return r.Resource == resource }
}

// By selects the requests of one verb.
func By(verb string) func(Request) bool {
	return func(r Request) bool { return r.Verb == verb }
}

// Named selects the requests for objects of one name.
func Named(name string) func(Request) bool {
	return func(r Request) bool { return r.Name == name }
}

// Answered selects the requests whose answer had a status.
func Answered(code int) func(Request) bool {
	return func(r Request) bool { return r.Code == code }
}

// describe reads a request's path, query and content type.
func describe(req *http.Request) Request {
	r := Request{Path: req.URL.Path, At: time.Now()}
	parts := resourceParts(req.URL.Path)
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 0 {
		r.Resource = parts[0]
	}
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Resource += "/" + strings.Join(parts[2:], "/")
	}
	r.Verb = verb(req, r)
	return r
}

// resourceParts is a path behind /api/VERSION or /apis/GROUP/VERSION, nothing
// for discovery and all else.
func resourceParts(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		return parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		return parts[3:]
	}
	return nil
}

func verb(req *http.Request, r Request) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		return "delete"
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), string(types.ApplyPatchType)) {
			return "apply"
		}
		return "patch"
	}
	if watch, _ := strconv.ParseBool(req.URL.Query().Get("watch")); watch {
		return "watch"
	}
	if r.Resource != "" && r.Name == "" {
		return "list"
	}
	return "get"
}
