package control

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// submitter names this process in a way that no other one ever has: its host,
// its id there, and when it started.
var submitter = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "" // which counts as gone as soon as its submit command must have ended
	}
	return fmt.Sprintf("%d %s %s", os.Getpid(), startOf(os.Getpid()), host)
})

// hostedMark ends the name of a process that runs jobs for others, and so is not
// to be ended together with one.
const hostedMark = " (host)"

// submitterOf names the process that a submission is made by.
func submitterOf(s Submission) string {
	if s.Hosted {
		return submitter() + hostedMark
	}
	return submitter()
}

// isAlive reports whether a process may still be at work. One of another host
// cannot be asked for and counts as gone; what it began is given time to settle.
func isAlive(name string) bool {
	name = strings.TrimSuffix(name, hostedMark)
	number, rest, _ := strings.Cut(name, " ")
	started, host, _ := strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	if err != nil || id <= 0 {
		return false
	}
	if here, err := os.Hostname(); err != nil || here != host {
		return false
	}
	if err := unix.Kill(id, 0); err != nil && err != unix.EPERM {
		return false
	}
	return startOf(id) == started
}

// startOf returns a text that differs between two processes that have one id
// after the other; empty where the system does not tell.
func startOf(id int) string {
	// proc(5): the name of the program stands in parentheses and may hold
	// anything; the start is the 20th field behind it.
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return "-"
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return "-"
	}
	return fields[19]
}
