package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// maxRetryAfter is the longest rest that a server may ask for.
const maxRetryAfter = 24 * time.Hour

// finding is what an attempt came to, in our words.
type finding struct {
	reason     polychromev1alpha1.Reason
	message    string
	retryAfter time.Duration
	// code is that of a JSON-RPC error, 0 if there was none.
	code int64
}

func found(reason polychromev1alpha1.Reason, message string) *finding {
	return &finding{reason: reason, message: message}
}

// Error makes a finding an error, so that it can pass through an HTTP client.
func (f *finding) Error() string { return f.message }

func (f *finding) result() Result {
	return Result{Reachable: f.reachable(), Reason: f.reason, Message: f.message, RetryAfter: f.retryAfter}
}

// reachable reports whether a server answered: all findings are of an answer
// but these.
func (f *finding) reachable() bool {
	switch f.reason {
	case polychromev1alpha1.ReasonInvalidURL, polychromev1alpha1.ReasonURLBlocked,
		polychromev1alpha1.ReasonSecretNotFound, polychromev1alpha1.ReasonDNSFailed,
		polychromev1alpha1.ReasonConnectionRefused, polychromev1alpha1.ReasonConnectionFailed,
		polychromev1alpha1.ReasonTimeout, polychromev1alpha1.ReasonTLSFailed:
		return false
	}
	return true
}

// ofError is the finding of a connection that failed.
func ofError(err error) *finding {
	var (
		known   *finding
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return found(polychromev1alpha1.ReasonTimeout, "the server did not answer in time")
	case errors.Is(err, context.Canceled):
		return found(polychromev1alpha1.ReasonTimeout, "the probe was cut short")
	case errors.As(err, &dns):
		return found(polychromev1alpha1.ReasonDNSFailed, "the URL's host has no address")
	case errors.Is(err, syscall.ECONNREFUSED):
		return found(polychromev1alpha1.ReasonConnectionRefused, "nothing listens at the URL's host and port")
	case errors.Is(err, http.ErrSchemeMismatch):
		return found(polychromev1alpha1.ReasonTLSFailed, "the server does not speak TLS there; write http or another port")
	}
	return found(polychromev1alpha1.ReasonConnectionFailed, "the connection broke before there was an answer")
}

// ofHandshake is the finding of a TLS handshake that failed.
func ofHandshake(err error) *finding {
	var (
		timeout   net.Error
		plain     tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	text := "the TLS handshake failed"
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.As(err, &timeout) && timeout.Timeout():
		return ofError(err)
	case errors.As(err, &plain):
		text = "the server does not speak TLS there; write http or another port"
	case errors.As(err, &authority):
		text = "the server's certificate is signed by an authority that is not trusted here"
	case errors.As(err, &hostname):
		text = "the server's certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		text = "the server's certificate has expired or is not valid yet"
	}
	return found(polychromev1alpha1.ReasonTLSFailed, text)
}

// ofStatus is the finding that an HTTP status alone makes; nil if the body
// matters.
func ofStatus(response *http.Response, now time.Time) *finding {
	status := response.StatusCode
	answered := fmt.Sprintf("the server answered with HTTP status %d", status)
	switch {
	case status == http.StatusUnauthorized:
		return found(polychromev1alpha1.ReasonAuthRequired, answered+": it wants a token, or another one; auth.bearerSecretRef names it")
	case status == http.StatusForbidden:
		return found(polychromev1alpha1.ReasonForbidden, answered+": it does not allow the list of tools to be read")
	case status == http.StatusNotFound, status == http.StatusGone:
		return found(polychromev1alpha1.ReasonNotFound, answered+": there is nothing at the URL's path")
	case status == http.StatusMethodNotAllowed, status == http.StatusNotAcceptable, status == http.StatusUnsupportedMediaType:
		return found(polychromev1alpha1.ReasonTransportMismatch, answered+" to a POST: it does not speak the streamable HTTP transport at the URL")
	case redirects(status):
		return found(polychromev1alpha1.ReasonRedirectRefused, answered+": redirects are not followed; write the URL that it redirects to")
	case status == http.StatusTooManyRequests:
		limited := found(polychromev1alpha1.ReasonRateLimited, answered+": it is asked too often")
		limited.retryAfter = retryAfter(response.Header.Get("Retry-After"), now)
		return limited
	case status >= http.StatusInternalServerError:
		broken := found(polychromev1alpha1.ReasonServerError, answered)
		broken.retryAfter = retryAfter(response.Header.Get("Retry-After"), now)
		return broken
	}
	return nil
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
