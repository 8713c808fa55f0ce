package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// always answers everything in one way.
func always(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// errorPage is what no message may show: large, with NULs, and with the token.
var errorPage = strings.Repeat("hostile \x00 "+canary+"\n", 1<<20/24)

func TestStatuses(t *testing.T) {
	cases := []struct {
		status int
		want   polychromev1alpha1.Reason
	}{
		{201, polychromev1alpha1.ReasonNotMCP},
		{202, polychromev1alpha1.ReasonNotMCP},
		{204, polychromev1alpha1.ReasonNotMCP},
		{300, polychromev1alpha1.ReasonNotMCP},
		{304, polychromev1alpha1.ReasonNotMCP},
		{400, polychromev1alpha1.ReasonNotMCP},
		{401, polychromev1alpha1.ReasonAuthRequired},
		{402, polychromev1alpha1.ReasonNotMCP},
		{403, polychromev1alpha1.ReasonForbidden},
		{404, polychromev1alpha1.ReasonNotFound},
		{405, polychromev1alpha1.ReasonTransportMismatch},
		{406, polychromev1alpha1.ReasonTransportMismatch},
		{409, polychromev1alpha1.ReasonNotMCP},
		{410, polychromev1alpha1.ReasonNotFound},
		{415, polychromev1alpha1.ReasonTransportMismatch},
		{418, polychromev1alpha1.ReasonNotMCP},
		{421, polychromev1alpha1.ReasonNotMCP},
		{429, polychromev1alpha1.ReasonRateLimited},
		{451, polychromev1alpha1.ReasonNotMCP},
		{500, polychromev1alpha1.ReasonServerError},
		{501, polychromev1alpha1.ReasonServerError},
		{502, polychromev1alpha1.ReasonServerError},
		{503, polychromev1alpha1.ReasonServerError},
		{504, polychromev1alpha1.ReasonServerError},
		{599, polychromev1alpha1.ReasonServerError},
		{999, polychromev1alpha1.ReasonServerError},
	}
	for _, tc := range cases {
		body := errorPage
		if tc.status == 204 || tc.status == 304 {
			body = ""
		}
		t.Run(fmt.Sprintf("%d to everything", tc.status), func(t *testing.T) {
			if got := probeOf(t, always(tc.status, "text/html", body)); got.Reason != tc.want {
				t.Errorf("reason %s: %s, want %s", got.Reason, got.Message, tc.want)
			}
		})
		t.Run(fmt.Sprintf("%d to the list", tc.status), func(t *testing.T) {
			got := probeOf(t, hostile(func(w http.ResponseWriter, r *http.Request, m message) {
				always(tc.status, "", body)(w, r)
			}))
			if got.Reason != tc.want || got.Server.Name != "kit" {
				t.Errorf("reason %s: %s from %q, want %s from kit", got.Reason, got.Message, got.Server.Name, tc.want)
			}
		})
	}
}

func TestRetryAfterIsPassedOn(t *testing.T) {
	for _, status := range []int{429, 503} {
		got := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(status)
		})
		if got.RetryAfter != 17*time.Second {
			t.Errorf("status %d: retry after %s, want 17s", status, got.RetryAfter)
		}
	}
}

func TestRefusalsAreNotTriedTwice(t *testing.T) {
	for _, status := range []int{307, 401, 403, 405, 429} {
		requests := &requestLog{Handler: always(status, "", "")}
		probeOf(t, requests.ServeHTTP)
		if len(requests.lines) != 1 {
			t.Errorf("status %d: sent %d requests, want 1:\n%s", status, len(requests.lines), strings.Join(requests.lines, "\n"))
		}
	}
}

func TestAServerThatRefusesGETIsWell(t *testing.T) {
	got := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			http.Error(w, "hostile", http.StatusMethodNotAllowed)
		case r.Header.Get("Accept") != "application/json, text/event-stream":
			http.Error(w, "hostile", http.StatusNotAcceptable)
		default:
			hostile(func(w http.ResponseWriter, _ *http.Request, m message) {
				answer(w, m, tools("", tool("one")))
			})(w, r)
		}
	})
	if !got.OK() {
		t.Errorf("reason %s: %s", got.Reason, got.Message)
	}
}

// TestBodies answers every request with one body.
func TestBodies(t *testing.T) {
	const json, stream = "application/json", "text/event-stream"
	event := func(data string) string { return "data: " + data + "\n\n" }
	ok := `{"jsonrpc":"2.0","id":%d,"result":{}}`
	cases := []struct {
		name, contentType, body string
		want                    polychromev1alpha1.Reason
	}{
		{"a page with status 200", "text/html", "<html>hostile</html>", polychromev1alpha1.ReasonNotMCP},
		{"a page that claims to be JSON", json, "<html>hostile</html>", polychromev1alpha1.ReasonNotMCP},
		{"no content type", "", "", polychromev1alpha1.ReasonNotMCP},
		{"nothing", json, "", polychromev1alpha1.ReasonNotMCP},
		{"null", json, "null", polychromev1alpha1.ReasonNotMCP},
		{"a number", json, "1", polychromev1alpha1.ReasonNotMCP},
		{"a list", json, "[]", polychromev1alpha1.ReasonNotMCP},
		{"an empty object", json, "{}", polychromev1alpha1.ReasonNotMCP},
		{"half an object", json, `{"jsonrpc":"2.0","id":1,"resu`, polychromev1alpha1.ReasonNotMCP},
		{"version 1.0", json, `{"jsonrpc":"1.0","id":1,"result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"no version", json, `{"id":1,"result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"no id", json, `{"jsonrpc":"2.0","result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"null as id", json, `{"jsonrpc":"2.0","id":null,"result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"an object as id", json, `{"jsonrpc":"2.0","id":{},"result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"the id of another request", json, `{"jsonrpc":"2.0","id":77,"result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"the id as text", json, `{"jsonrpc":"2.0","id":"1","result":{}}`, polychromev1alpha1.ReasonNotMCP},
		{"a request and no answer, in JSON", json, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, polychromev1alpha1.ReasonTimeout},
		{"two documents", json, fmt.Sprintf(ok+ok, 1, 1), polychromev1alpha1.ReasonNotMCP},
		{"no result", json, `{"jsonrpc":"2.0","id":2}`, polychromev1alpha1.ReasonNotMCP},
		{"a result that is text", json, `{"jsonrpc":"2.0","id":2,"result":"x"}`, polychromev1alpha1.ReasonNotMCP},
		{"a result without a version", json, fmt.Sprintf(ok, 2), polychromev1alpha1.ReasonNotMCP},
		{"an unknown version", json, `{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"1999-01-01"}}`, polychromev1alpha1.ReasonRPCError},
		{"an error", json, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"hostile ` + canary + `"}}`, polychromev1alpha1.ReasonRPCError},
		{"an error that is text", json, `{"jsonrpc":"2.0","id":2,"error":"hostile"}`, polychromev1alpha1.ReasonNotMCP},
		{"a hundred thousand brackets", json, `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 1e5), polychromev1alpha1.ReasonNotMCP},
		{"a million deep", json, `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat(`{"a":`, 5e5) + "1" + strings.Repeat("}", 5e5) + "}", polychromev1alpha1.ReasonNotMCP},
		{"bytes that are no UTF-8", json, "\xff\xfe\xfd", polychromev1alpha1.ReasonNotMCP},
		{"NULs", json, strings.Repeat("\x00", 1000), polychromev1alpha1.ReasonNotMCP},
		{"an empty stream", stream, "", polychromev1alpha1.ReasonNotMCP},
		{"a stream of nothing", stream, "\n\n\n\n", polychromev1alpha1.ReasonNotMCP},
		{"a stream of comments", stream, ":hostile\n\n", polychromev1alpha1.ReasonNotMCP},
		{"a stream of no events", stream, "hostile\n\n", polychromev1alpha1.ReasonNotMCP},
		{"a stream of no JSON", stream, event("hostile"), polychromev1alpha1.ReasonNotMCP},
		{"a stream of notifications", stream, event(`{"jsonrpc":"2.0","method":"x"}`), polychromev1alpha1.ReasonNotMCP},
		{"a stream of other ids", stream, event(fmt.Sprintf(ok, 99)), polychromev1alpha1.ReasonNotMCP},
		{"a stream to be resumed", stream, "id: 1\nretry: 1\ndata:\n\n", polychromev1alpha1.ReasonNotMCP},
		{"a stream of the older transport", stream, "event: endpoint\ndata: /messages?session=" + canary + "\n\n", polychromev1alpha1.ReasonTransportMismatch},
		{"a body past the limit", json, `"` + strings.Repeat("x", MaxBody) + `"`, polychromev1alpha1.ReasonResponseTooLarge},
		{"an event past the limit", stream, "data: " + strings.Repeat("x", MaxBody), polychromev1alpha1.ReasonResponseTooLarge},
		{"events past the limit", stream, strings.Repeat(event(`{"jsonrpc":"2.0","method":"x"}`), MaxBody/30), polychromev1alpha1.ReasonNotMCP},
		{"a long event before the end of the limit", stream, strings.Repeat(event(`{"jsonrpc":"2.0","method":"`+strings.Repeat("x", 1<<20)+`"}`), 5), polychromev1alpha1.ReasonResponseTooLarge},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			timeout := 20 * time.Second
			if tc.want == polychromev1alpha1.ReasonTimeout {
				timeout = 300 * time.Millisecond
			}
			if got := probeIn(t, timeout, always(http.StatusOK, tc.contentType, tc.body)); got.Reason != tc.want {
				t.Errorf("reason %s: %s, want %s", got.Reason, got.Message, tc.want)
			}
		})
	}
}

func TestRPCErrors(t *testing.T) {
	for _, code := range []int{-32700, -32603, -32602, -32601, -32600, -32000, -1, 0, 1, 401} {
		failure := fmt.Sprintf(`{"code":%d,"message":"hostile %s","data":{"hostile":"%s"}}`, code, canary, canary)
		for _, status := range []int{http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity} {
			broken := func(w http.ResponseWriter, _ *http.Request, m message) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				fail(w, m, failure)
			}
			for where, handler := range map[string]http.HandlerFunc{
				"everything": func(w http.ResponseWriter, r *http.Request) { broken(w, r, read(r)) },
				"the list":   hostile(broken),
			} {
				got := probeOf(t, handler)
				if got.Reason != polychromev1alpha1.ReasonRPCError || !strings.Contains(got.Message, fmt.Sprint(code)) {
					t.Errorf("code %d with status %d to %s: reason %s: %s", code, status, where, got.Reason, got.Message)
				}
			}
		}
	}
}

func TestAListUnderAnotherIDIsNoAnswer(t *testing.T) {
	for _, id := range []string{"77", "1", "2", `"3"`} {
		got := probeOf(t, hostile(func(w http.ResponseWriter, _ *http.Request, m message) {
			m.ID = []byte(id)
			answer(w, m, tools("", tool("one")))
		}))
		if got.Reason != polychromev1alpha1.ReasonNotMCP {
			t.Errorf("id %s: reason %s: %s", id, got.Reason, got.Message)
		}
	}
}

func TestVersionsThatAreNotKnown(t *testing.T) {
	got := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch m := read(r); m.Method {
		case "server/discover":
			answer(w, m, `{"supportedVersions":["2031-01-01"],"capabilities":{}}`)
		default:
			answer(w, m, `{"protocolVersion":"2031-01-01","capabilities":{}}`)
		}
	})
	if got.Reason != polychromev1alpha1.ReasonRPCError || !strings.Contains(got.Message, "no version") {
		t.Errorf("reason %s: %s", got.Reason, got.Message)
	}
}

func TestRedirectsAreRefused(t *testing.T) {
	var followed []string
	other := &requestLog{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		followed = append(followed, r.URL.String())
	})}
	elsewhere := serve(t, other)
	_, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(elsewhere, "http://"), "/mcp"), ":")
	for _, location := range []string{
		elsewhere, "https://127.0.0.1:" + port + "/mcp", "http://localhost:" + port, "http://sub.localhost:" + port,
		"http://user:" + canary + "@127.0.0.1:" + port, "/mcp/", "mcp", "?again", "", "//127.0.0.1:" + port,
		"http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "gopher://hostile",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			redirect := func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Location"] = []string{location}
				w.WriteHeader(status)
			}
			for where, handler := range map[string]http.HandlerFunc{
				"everything": redirect,
				"the list":   hostile(func(w http.ResponseWriter, r *http.Request, _ message) { redirect(w, r) }),
			} {
				if got := probeOf(t, handler); got.Reason != polychromev1alpha1.ReasonRedirectRefused {
					t.Errorf("%d to %q of %s: reason %s: %s", status, location, where, got.Reason, got.Message)
				}
			}
		}
	}
	if len(followed) > 0 || len(other.lines) > 0 {
		t.Errorf("followed to %q", other.lines)
	}
}

func TestCompressedAnswersAreNotRead(t *testing.T) {
	var bomb bytes.Buffer
	pack := gzip.NewWriter(&bomb)
	io.CopyN(pack, zeros{}, 64<<20)
	pack.Close()
	for _, encoding := range []string{"gzip", "GZIP", "deflate", "br", "gzip, gzip"} {
		got := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
			if accepted := r.Header.Get("Accept-Encoding"); accepted != "identity" {
				t.Errorf("asked for the encoding %q", accepted)
			}
			w.Header().Set("Content-Encoding", encoding)
			w.Header().Set("Content-Type", "application/json")
			w.Write(bomb.Bytes())
		})
		if got.Reason != polychromev1alpha1.ReasonNotMCP || !strings.Contains(got.Message, "compressed") {
			t.Errorf("%s: reason %s: %s", encoding, got.Reason, got.Message)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
