package main

import "syscall"

// attached gives a child a process group of its own, so that a Ctrl-C ends
// it once and in order, and has the kernel end it when the demo is gone.
func attached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
