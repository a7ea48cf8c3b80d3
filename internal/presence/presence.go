// Package presence identifies processes by host, id and start time, so that others can find out
// whether they still run.
package presence

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ThisProcess returns a unique name of this process: its host, process id and start time.
var ThisProcess = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "" // counts as ended
	}
	return fmt.Sprintf("%d %s %s", os.Getpid(), startOf(os.Getpid()), host)
})

// A presence says whether a process that made a submission still runs.
type presence int

const (
	IsGone    presence = iota // it has ended, or was never named
	isThere                   // it may be running
	Elsewhere                 // it is on another host, and may be running
)

// PresenceOf looks for a process by its name from ThisProcess.
func PresenceOf(name string) presence {
	id, started, host := partsOf(name)
	if id <= 0 || host == "" {
		return IsGone
	}
	if here, err := os.Hostname(); err != nil || here != host {
		return Elsewhere
	}
	if err := unix.Kill(id, 0); err != nil && err != unix.EPERM {
		return IsGone
	}
	if startOf(id) != started {
		return IsGone // another process has its id
	}
	return isThere
}

// IsAlive reports whether a process may still be running on this host.
func IsAlive(name string) bool { return PresenceOf(name) == isThere }

// IsHolderGone reports whether the process that was to make a shared query has certainly ended.
func IsHolderGone(holder string) bool {
	_, process, _ := strings.Cut(holder, " ")
	id, _, _ := partsOf(process)
	return id > 0 && PresenceOf(process) == IsGone
}

// partsOf splits the name of a process. A damaged name has no id.
func partsOf(name string) (id int, started, host string) {
	number, rest, _ := strings.Cut(name, " ")
	started, host, _ = strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	if err != nil {
		return 0, "", ""
	}
	return id, started, host
}

// ProcessName describes a process for users.
func ProcessName(name string) string {
	id, _, host := partsOf(name)
	if id <= 0 {
		return "of an unknown id"
	}
	return fmt.Sprintf("%d on %s", id, host)
}

// startOf returns a text that distinguishes successive processes with the same id.
func startOf(id int) string {
	// proc(5): the name of the program is in parentheses and may contain anything; the
	// start is the 20th field after it.
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return "-"
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return "-"
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return "ended" // a zombie
	}
	return fields[19]
}
