package main

import "syscall"

// boundToParent has the kernel end a process when this one is gone, however it went.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
