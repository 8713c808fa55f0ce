//go:build unix && !linux

package main

import "syscall"

// boundToParent has no counterpart outside Linux: a killed localcluster leaves its processes behind there.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{}
}
