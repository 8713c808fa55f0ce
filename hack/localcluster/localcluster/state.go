package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// prepareState takes the state folder for this process, and empties it where wanted. The lock goes with the process.
func prepareState(o *options) (unlock func(), err error) {
	if err := os.MkdirAll(o.stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the state folder: %w", err)
	}
	lock, err := os.OpenFile(o.state("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another localcluster is running in %s", o.stateDir)
		}
		return nil, fmt.Errorf("locking the state folder: %w", err)
	}
	// What a killed run left must not be taken for this one's.
	stale := []string{"kubeconfig", "kubectl-cache"}
	if o.fresh {
		stale = append(stale, "etcd", "pki")
	}
	for _, name := range stale {
		if err := os.RemoveAll(o.state(name)); err != nil {
			lock.Close()
			return nil, fmt.Errorf("clearing the state folder: %w", err)
		}
	}
	return func() { lock.Close() }, nil
}
