// Package guard keeps processes running when their debuggers crash. A guard is a small separate process. It
// knows which debuggers are attached where, and releases the processes when the process that runs the debuggers
// dies or is silent.
package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Status is the status of a process, as the kernel shows it.
type Status struct {
	Start       uint64 // ticks since boot; with the pid it identifies a process
	State       byte   // R, S, D, T stopped, t stopped by a debugger, Z ended
	Tracer      int    // pid of the debugger, or 0
	StopPending bool   // a thread has SIGSTOP pending
	group       int    // process group
}

// IsStopped reports whether a signal stopped the process, not a debugger.
func (s Status) IsStopped() bool { return s.State == 'T' }

// HasEnded reports whether the process waits for its parent only.
func (s Status) HasEnded() bool { return s.State == 'Z' || s.State == 'X' }

// ReadStatus reads the status of a process. It reports false if there is no such process.
func ReadStatus(pid int) (Status, bool) {
	return readStatus(filepath.Join("/proc", strconv.Itoa(pid)))
}

func readStatus(folder string) (Status, bool) {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return Status{}, false
	}
	// The name in parentheses may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return Status{}, false
	}
	status := Status{State: fields[0][0]}
	status.group, _ = strconv.Atoi(fields[2])
	status.Start, err = strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return Status{}, false
	}
	text, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return Status{}, false
	}
	const stop = 1 << (19 - 1) // SIGSTOP
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "State": // that of the same moment as the debugger
			if state := strings.TrimSpace(value); state != "" {
				status.State = state[0]
			}
		case "TracerPid":
			status.Tracer, _ = strconv.Atoi(strings.TrimSpace(value))
		case "SigPnd", "ShdPnd":
			pending, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			status.StopPending = status.StopPending || pending&stop != 0
		}
	}
	return status, true
}

// threads is the status of all threads of a process together.
type threads struct {
	Status
	isTraced   bool // a thread has a debugger, or leaves its hold
	areStopped bool // all of them
	isStopping bool // a thread is stopped or about to stop
}

func readThreads(pid int) (threads, bool) {
	status, exists := ReadStatus(pid)
	if !exists {
		return threads{}, false
	}
	all := threads{Status: status, areStopped: true}
	folders, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*"))
	for _, folder := range folders {
		thread, exists := readStatus(folder)
		if !exists || thread.HasEnded() {
			continue
		}
		all.isTraced = all.isTraced || thread.Tracer != 0 || thread.State == 't'
		all.areStopped = all.areStopped && thread.IsStopped()
		all.isStopping = all.isStopping || thread.IsStopped() || thread.StopPending
	}
	return all, true
}
