package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lineLength is that of each line of the ledger: id, tag, tick of birth and
// ticks until the job is to be seen.
const lineLength = 8 + 1 + 36 + 1 + 8 + 1 + 1 + 1

// A ledger is what the scheduler has on its disk; one process has it at a time.
type ledger struct {
	folder string
	lock   *os.File
}

func openLedger(folder string) (*ledger, error) {
	if err := os.MkdirAll(filepath.Join(folder, "canceled"), 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &ledger{folder, lock}, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

// close lets other processes at the ledger, and may be called again.
func (l *ledger) close() {
	_ = l.lock.Close()
}

// count adds to a counter and returns it.
func (l *ledger) count(name string, more int) (int, error) {
	path := filepath.Join(l.folder, name)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	before, _ := strconv.Atoi(string(text)) // zero where there is no such file yet
	if more == 0 {
		return before, nil
	}
	return before + more, os.WriteFile(path, []byte(strconv.Itoa(before+more)), 0o600)
}

// statusesAsked counts what was asked of single jobs since the last listing.
const statusesAsked = "statuses"

// reset begins a counter anew.
func (l *ledger) reset(name string) error {
	return os.WriteFile(filepath.Join(l.folder, name), []byte("0"), 0o600)
}

// A job is a line of the ledger.
type job struct {
	id    string
	tag   string
	born  int
	late  int // ticks during which nobody sees it
	fate  uint64
	ended string // by a user; empty if by itself
}

// jobs returns all jobs, oldest first.
func (l *ledger) jobs() ([]job, error) {
	text, err := os.ReadFile(filepath.Join(l.folder, "ledger"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	canceled, err := os.ReadDir(filepath.Join(l.folder, "canceled"))
	if err != nil {
		return nil, err
	}
	var jobs []job
	byTag := map[string]int{}
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %q of the ledger", line)
		}
		born, _ := strconv.Atoi(fields[2]) // written by add
		late, _ := strconv.Atoi(fields[3])
		byTag[fields[1]] = len(jobs)
		jobs = append(jobs, job{id: fields[0], tag: fields[1], born: born, late: late, fate: drawn("fate", len(jobs))})
	}
	for _, entry := range canceled {
		if i, known := byTag[entry.Name()]; known {
			jobs[i].ended = "CANCELED"
		}
	}
	return jobs, nil
}

// add makes a job. Where reuse says so it gets the id of one that is forgotten.
func (l *ledger) add(tag string, late int, reuse bool) (string, error) {
	tick, err := l.count("tick", 0)
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(filepath.Join(l.folder, "ledger"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	id := fmt.Sprintf("%08d", info.Size()/lineLength+1)
	if reuse {
		jobs, err := l.jobs()
		if err != nil {
			return "", err
		}
		if old := forgotten(jobs, tick); old != "" {
			id = old
		}
	}
	_, err = fmt.Fprintf(file, "%s %36s %08d %d\n", id, tag, tick, late)
	return id, err
}

// forgotten returns an id that nobody has any more, empty if there is none.
func forgotten(jobs []job, tick int) string {
	for i := len(jobs) - 1; i >= 0; i-- {
		if jobs[i].at(tick) == "" && tick > jobs[i].born+jobs[i].late {
			if newest(jobs, jobs[i].id) == i {
				return jobs[i].id
			}
		}
	}
	return ""
}

// newest returns the index of the last job with an id, -1 if there is none.
func newest(jobs []job, id string) int {
	for i := len(jobs) - 1; i >= 0; i-- {
		if jobs[i].id == id {
			return i
		}
	}
	return -1
}

// drawn is a number that depends on the seed and what is said alone.
func drawn(what string, number int) uint64 {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s %s %d", os.Getenv("CHAOS_SEED"), what, number)
	value := sum.Sum64() // whose bits are mixed once more, since similar texts give similar sums
	value ^= value >> 33
	value *= 0xff51afd7ed558ccd
	return value ^ value>>33
}

// final is the state that the job really ends in.
func (j job) final() string {
	if j.ended != "" {
		return j.ended
	}
	switch chance := j.fate >> 20 % 100; {
	case chance < 70:
		return "COMPLETED"
	case chance < 90:
		return "FAILED"
	}
	return "CANCELED"
}

// at is the state of the job at a tick as the controller knows it; empty before it
// knows the job and after it has forgotten it.
func (j job) at(tick int) string {
	age := tick - j.born - j.late
	waits, runs, kept := int(j.fate%4), 1+int(j.fate>>2%6), 2+int(j.fate>>5%4)
	if os.Getenv("CHAOS_CALM") != "" {
		waits = 1 << 20 // for ever
	}
	switch {
	case age < 0:
		return ""
	case j.ended != "":
		return j.ended
	case age < waits:
		return "QUEUED_ACTIVE"
	case age < waits+runs:
		return "RUNNING"
	case age < waits+runs+kept:
		return j.final()
	}
	return ""
}

// accounted reports whether the end of the job stays in the accounting.
func (j job) accounted() bool { return isReliable() || j.fate>>40%10 < 7 }
