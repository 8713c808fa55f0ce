package framework

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// slowLock takes a while to renew, and may fail.
type slowLock struct {
	resourcelock.Interface
	takes time.Duration
	err   error
}

func (l *slowLock) Identity() string { return "me" }

func (l *slowLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	time.Sleep(l.takes)
	return l.err
}

func TestFenceIsOpenForTheTermOfTheLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fence{}
		lock := &slowLock{takes: 2 * time.Second}
		fenced := fencedLock{Interface: lock, fence: f, term: 10 * time.Second}
		check := func(want bool, when string) {
			t.Helper()
			if _, open := f.open(time.Now()); open != want {
				t.Errorf("%s: open %t, want %t", when, open, want)
			}
		}
		renew := func(identity string) error {
			return fenced.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: identity})
		}
		check(true, "without an election")
		f.arm()
		check(false, "before the first renewal")
		if err := renew("me"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Second)
		check(true, "9 s after the renewal was sent")
		time.Sleep(2 * time.Second)
		check(false, "11 s after the renewal was sent, 9 s after its answer")
		if err := renew("me"); err != nil {
			t.Fatal(err)
		}
		lock.err = errors.New("no answer")
		if err := renew("me"); err == nil {
			t.Error("want the error of the renewal")
		}
		check(true, "after a failed renewal in time")
		time.Sleep(7 * time.Second)
		check(false, "after failed renewals")
		lock.err = nil
		_ = renew("me")
		_ = renew("")
		check(false, "after the release")
	})
}

func TestFenceLooksAtTheWallClockToo(t *testing.T) {
	f := &fence{armed: true}
	now := time.Now()
	f.extend(now.Add(10 * time.Second))
	// A suspended machine: an hour has passed, but not for the monotonic clock.
	woken := now.Round(0).Add(time.Hour)
	if _, open := f.open(woken); open {
		t.Error("want the fence closed after an hour of sleep")
	}
}

func TestFenceRefusesWritesOnly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Only a request that has been read is told that its client has gone.
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "slow") {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	f := &fence{armed: true}
	client := &http.Client{Transport: fenceTripper{http.DefaultTransport, f}}
	send := func(method, path string) error {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	const things = "/apis/example.test/v1/namespaces/ns/things/a"
	if err := send(http.MethodPatch, things); !errors.Is(err, errFenced) {
		t.Errorf("a write behind a closed fence: want it refused, got %v", err)
	}
	if err := send(http.MethodGet, things); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := send(http.MethodPut, leases+"v1/namespaces/ns/leases/leader"); err != nil {
		t.Errorf("a write of the lease: %v", err)
	}
	f.extend(time.Now().Add(time.Minute))
	if err := send(http.MethodPatch, things); err != nil {
		t.Errorf("a write while leading: %v", err)
	}
	f.extend(time.Now().Add(50 * time.Millisecond))
	if err := send(http.MethodPatch, things+"/slow"); err == nil {
		t.Error("want a write given up when the fence closes")
	}
}
