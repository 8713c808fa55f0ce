//go:build unix && !linux

package main

import "syscall"

// attached gives a child a process group of its own, so that a Ctrl-C ends
// it once and in order. A demo that is killed leaves it behind here.
func attached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
