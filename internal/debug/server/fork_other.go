//go:build !linux

package server

import (
	"errors"
	"syscall"
)

func forkStopped(plan, func(pid int) error) (int, error) {
	return 0, errors.New("rmctl-node starts programs under a debugger on Linux only")
}

func ptraceHint(string) string { return "" }

func nameOfSignal(signal syscall.Signal) string { return signal.String() }
