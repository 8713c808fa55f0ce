package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// Versions of the protocol. The first era has sessions that begin with
// initialize; the second has none, and each request says what it follows.
const (
	sessionVersion   = "2025-11-25"
	statelessVersion = "2026-07-28"
	versionHeader    = "Mcp-Protocol-Version"
)

// sessionVersions are those that a server may agree to in a session. The list
// of tools is the same in all of them.
var sessionVersions = []string{sessionVersion, "2025-06-18", "2025-03-26", "2024-11-05"}

// maxAside is how many messages of a server are read until its answer comes.
const maxAside = 1000

const (
	clientName    = "polychrome-controller"
	clientVersion = "v1"
)

// Methods that a probe calls.
const (
	methodDiscover    = "server/discover"
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodListTools   = "tools/list"
)

// dialogue is the talk with one server over the SDK's transport, request by
// request.
type dialogue struct {
	url  string
	gate *gate
	// conns are the connections so far; the last one is in use.
	conns []mcp.Connection
	next  float64
	// meta goes with each request of the stateless era.
	meta mcp.Meta
	// toolless says that the server does not claim to have tools.
	toolless bool
}

func newDialogue(url string, gate *gate) *dialogue {
	return &dialogue{url: url, gate: gate}
}

// close ends the sessions, if there are any, and waits for the server's word on
// that until the probe's end. A server may have begun one also with a request
// that it refused.
func (d *dialogue) close() {
	var all sync.WaitGroup
	for _, conn := range d.conns {
		all.Go(func() { conn.Close() })
	}
	all.Wait()
}

func (d *dialogue) conn() mcp.Connection { return d.conns[len(d.conns)-1] }

// begin finds the era that the server speaks. A server that refuses to be
// discovered is asked for a session, unless it said what will not be different
// then.
func (d *dialogue) begin(ctx context.Context) (ServerInfo, *finding) {
	server, trouble := d.discover(ctx)
	if trouble == nil || !worthInitializing(trouble.reason) {
		return server, trouble
	}
	return d.initialize(ctx)
}

// worthInitializing reports whether a failed server/discover may only mean that
// the server knows the older era alone.
func worthInitializing(reason polychromev1alpha1.Reason) bool {
	switch reason {
	case polychromev1alpha1.ReasonRPCError, polychromev1alpha1.ReasonNotMCP,
		polychromev1alpha1.ReasonNotFound, polychromev1alpha1.ReasonServerError:
		return true
	}
	return false
}

// greeting is the part of the first result that matters, in both eras.
type greeting struct {
	Meta struct {
		Server implementation `json:"io.modelcontextprotocol/serverInfo"`
	} `json:"_meta"`
	ServerInfo        implementation `json:"serverInfo"`
	ProtocolVersion   string         `json:"protocolVersion"`
	SupportedVersions []string       `json:"supportedVersions"`
	Capabilities      struct {
		Tools *struct{} `json:"tools"`
	} `json:"capabilities"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (i implementation) info(version string) ServerInfo {
	return ServerInfo{
		Name: conditions.Truncate(i.Name, maxName), Version: conditions.Truncate(i.Version, maxName),
		ProtocolVersion: version,
	}
}

func (d *dialogue) discover(ctx context.Context) (ServerInfo, *finding) {
	d.meta = mcp.Meta{
		mcp.MetaKeyProtocolVersion:    statelessVersion,
		mcp.MetaKeyClientInfo:         &mcp.Implementation{Name: clientName, Version: clientVersion},
		mcp.MetaKeyClientCapabilities: &mcp.ClientCapabilities{},
	}
	answer, trouble := d.greet(ctx, methodDiscover, &mcp.DiscoverParams{Meta: d.meta})
	if trouble != nil {
		return ServerInfo{}, trouble
	}
	if !slices.Contains(answer.SupportedVersions, statelessVersion) {
		return ServerInfo{}, found(polychromev1alpha1.ReasonRPCError, "the server speaks no version of the protocol that is known here")
	}
	return answer.Meta.Server.info(statelessVersion), nil
}

func (d *dialogue) initialize(ctx context.Context) (ServerInfo, *finding) {
	d.meta = nil
	answer, trouble := d.greet(ctx, methodInitialize, &mcp.InitializeParams{
		ProtocolVersion: sessionVersion,
		ClientInfo:      &mcp.Implementation{Name: clientName, Version: clientVersion},
		Capabilities:    &mcp.ClientCapabilities{},
	})
	if trouble != nil {
		return ServerInfo{}, trouble
	}
	if answer.ProtocolVersion == "" {
		return ServerInfo{}, notProtocol(methodInitialize)
	}
	if !slices.Contains(sessionVersions, answer.ProtocolVersion) {
		return ServerInfo{}, found(polychromev1alpha1.ReasonRPCError, "the server speaks no version of the protocol that is known here")
	}
	d.gate.version = answer.ProtocolVersion
	return answer.ServerInfo.info(answer.ProtocolVersion), d.notify(ctx, methodInitialized)
}

// greet makes the first request over a connection of its own: what went wrong
// with one may have broken it for the next.
func (d *dialogue) greet(ctx context.Context, method string, params any) (greeting, *finding) {
	client := &http.Client{
		Transport: d.gate,
		// The gate finds every redirect before this could be asked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: d.url, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: MaxBody,
	}
	conn, err := transport.Connect(ctx)
	if err != nil {
		return greeting{}, ofError(err)
	}
	d.conns = append(d.conns, conn)
	raw, trouble := d.call(ctx, method, params)
	if trouble != nil {
		return greeting{}, trouble
	}
	var answer greeting
	if err := decode(raw, &answer); err != nil {
		return greeting{}, notProtocol(method)
	}
	d.toolless = answer.Capabilities.Tools == nil
	return answer, nil
}

// list reads the pages of tools, as many as there are and are read.
func (d *dialogue) list(ctx context.Context) (*catalog, *finding) {
	var (
		list   catalog
		cursor string
		seen   = map[string]bool{}
	)
	for range MaxPages {
		raw, trouble := d.call(ctx, methodListTools, &mcp.ListToolsParams{Meta: d.meta, Cursor: cursor})
		if trouble != nil {
			if d.toolless && trouble.code == jsonrpc.CodeMethodNotFound {
				return &list, nil
			}
			return nil, trouble
		}
		got, err := decodePage(raw)
		if err != nil {
			return nil, found(polychromev1alpha1.ReasonNotMCP, "the server's list of tools is not of the protocol's form")
		}
		room := list.add(got)
		if cursor = got.NextCursor; cursor == "" || !room {
			return &list, nil
		}
		if seen[cursor] {
			return nil, found(polychromev1alpha1.ReasonPaginationLoop,
				fmt.Sprintf("the server's list of tools has no end: page %d leads back to an earlier one", len(seen)+1))
		}
		seen[cursor] = true
	}
	list.truncated = true
	return &list, nil
}

// notify sends a notification, which has no answer.
func (d *dialogue) notify(ctx context.Context, method string) *finding {
	e := &exchange{}
	ctx = context.WithValue(ctx, exchangeKey{}, e)
	if err := d.conn().Write(ctx, &jsonrpc.Request{Method: method}); err != nil {
		return e.verdict(ctx, method, err)
	}
	return nil
}

// call sends a request and returns the result as sent. What else the server
// says before its answer is not listened to.
func (d *dialogue) call(ctx context.Context, method string, params any) (json.RawMessage, *finding) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, notProtocol(method)
	}
	d.next++
	id, err := jsonrpc.MakeID(d.next)
	if err != nil {
		return nil, notProtocol(method)
	}
	// The end of the call ends the stream that its answer came in.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e := &exchange{}
	ctx = context.WithValue(ctx, exchangeKey{}, e)
	if err := d.conn().Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: encoded}); err != nil {
		return nil, e.verdict(ctx, method, err)
	}
	for range maxAside {
		message, err := d.conn().Read(ctx)
		if err != nil {
			return nil, e.verdict(ctx, method, err)
		}
		answer, ok := message.(*jsonrpc.Response)
		switch {
		case !ok:
			continue
		case answer.ID != id:
			return nil, notProtocol(method)
		case answer.Error != nil:
			return nil, e.verdict(ctx, method, answer.Error)
		}
		return answer.Result, nil
	}
	return nil, notProtocol(method)
}

// verdict is the finding of a request that failed.
func (e *exchange) verdict(ctx context.Context, method string, err error) *finding {
	var said *jsonrpc.Error
	switch noted := e.noted(); {
	case noted != nil:
		return noted
	case ctx.Err() != nil:
		return ofError(ctx.Err())
	case errors.As(err, &said):
		refusal := found(polychromev1alpha1.ReasonRPCError, fmt.Sprintf("the server answered %s with the JSON-RPC error %d", method, said.Code))
		refusal.code = said.Code
		return refusal
	case e.status >= http.StatusMultipleChoices:
		return found(polychromev1alpha1.ReasonNotMCP, fmt.Sprintf("the server answered %s with HTTP status %d and no JSON-RPC error", method, e.status))
	}
	return notProtocol(method)
}

func notProtocol(method string) *finding {
	return found(polychromev1alpha1.ReasonNotMCP, fmt.Sprintf("the server's answer to %s is not of the protocol; is this the URL of an MCP server?", method))
}
