package outages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A value is flat if its median in the last quarter of the time exceeds that of the second
// quarter by at most a tenth plus this much.
const (
	moreMemory      = 2 << 20 // bytes
	moreDescriptors = 4
	moreGoroutines  = 15
	moreChildren    = 1
	moreStore       = 4 << 20 // bytes
)

// fewestLooks is how many there are even on a machine that hardly gets to anything.
const fewestLooks = 16

// TestSoak keeps a background process busy: with jobs on this machine and over
// two connections to a real sshd, that are submitted, queried, waited for and
// canceled, with files that are staged, with interactive jobs, and with
// connections that are lost meanwhile. Its memory, descriptors, goroutines and
// children stay as they are, and so does the size of the store, from which old
// jobs are forgotten; at the end it is as it was at the beginning.
//
//	RMCTL_CLUSTERS=1 RMCTL_SOAK=1h go test ./clusters -run TestSoak -v -timeout 2h
//
// Without RMCTL_SOAK it takes ten seconds, without a pause between two commands.
func TestSoak(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	length, pace := 10*time.Second, time.Millisecond
	if text := os.Getenv("RMCTL_SOAK"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		require.NoError(t, err)
		pace = time.Second
	}
	s := newSoak(t)
	s.length = length
	beginning := s.look()
	// What the first connections load stays.
	for _, churn := range s.churns() {
		s.do(churn.name, churn.do, false)
	}
	s.settle(beginning)
	beginning = s.look()

	var looks []look
	end := time.Now().Add(length)
	next := time.NewTicker(pace)
	defer next.Stop()
	churns := s.churns()
	begun := time.Now()
	var looked time.Time
	for ; time.Now().Before(end) || len(looks) < fewestLooks; <-next.C {
		if time.Since(looked) > length/80 {
			looked = time.Now()
			seen := s.look()
			seen.at = time.Since(begun)
			looks = append(looks, seen)
			if len(looks)%8 == 0 { // also to see progress before the end
				t.Logf("%v: %d commands, %d KiB, %d descriptors, %d goroutines", seen.at.Round(time.Second), s.count(), seen.memory>>10, seen.descriptors, seen.goroutines)
			}
		}
		churn := churns[s.random.IntN(len(churns))]
		s.do(churn.name, churn.do, s.random.IntN(10) == 0)
	}
	s.report(looks)
	require.Empty(t, s.wrong)
	s.requireFlat(looks)
	s.settle(beginning)
	s.requireEachOnce()
}

// A soak is a desk with targets behind a proxy that loses connections.
type soak struct {
	*rmctltest.Desk
	t       *testing.T
	random  *rand.Rand
	proxy   *remotetest.Proxy
	client  *daemon.Client
	process int    // the id of the background process
	place   string // a folder of the user there

	length  time.Duration
	number  int               // of the last mark, and of the last interactive job
	printed map[string]string // the job of each mark
	done    map[string]int
	failed  map[string]int // while a connection was lost
	wrong   []string       // what failed without a reason
}

// far are the targets elsewhere.
var far = []string{"native", "program"}

func newSoak(t *testing.T) *soak {
	daemons := rmctltest.SSHD(t, "soak")
	s := &soak{Desk: rmctltest.NewDesk(t, ""), t: t, random: rand.New(rand.NewPCG(1, 2)), printed: map[string]string{}, done: map[string]int{}, failed: map[string]int{}}
	s.proxy = remotetest.NewProxy(t, fmt.Sprintf("127.0.0.1:%d", daemons.Port), remotetest.Faults{})
	config := filepath.Join(s.Home, "ssh_config")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "Host rmtest-cut\n  Port %d\n  HostKeyAlias [127.0.0.1]:%d\nHost *\n  Include %s\n",
		s.proxy.Port(), daemons.Port, daemons.Configuration), 0o600))
	opened := filepath.Join(rmctltest.Project(t), "cmd", "rmctl", "testdata", "interactive", "opened.xml")
	for transport, name := range map[string]string{"ssh": far[0], "openssh": far[1]} {
		s.Reaches(name, "local", transport, "rmtest-cut", config)
		s.Reaches(name+"-terminal", opened, transport, "rmtest-cut", config)
	}
	submitter, err := user.Lookup("rmtest")
	require.NoError(t, err)
	id, err := strconv.Atoi(submitter.Uid)
	require.NoError(t, err)
	s.place, err = os.MkdirTemp("", "rmctl-place-")
	require.NoError(t, err)
	t.Cleanup(func() {
		// A job that is not over yet still writes there.
		require.Eventually(t, func() bool { return os.RemoveAll(s.place) == nil }, time.Minute, 10*time.Millisecond)
	})
	marks := filepath.Join(s.place, "marks") // of jobs here and there
	require.NoError(t, os.WriteFile(marks, nil, 0o600))
	require.NoError(t, errors.Join(os.Chmod(marks, 0o666), os.Chown(s.place, id, -1)))
	script := "#!/bin/sh\necho \"$MARK\" >>marks\n" + strings.Repeat("# a line that has to be sent\n", 1<<14)
	require.NoError(t, os.WriteFile(filepath.Join(s.Home, "large.sh"), []byte(script), 0o700))

	s.Does("run", "--detach", "-t", far[0]+"-terminal", "-d", s.place, "--", "sh", "-c", "echo waiting for job 0; echo job 0 ready; read -r input; read -r line")
	s.Does("send", "0", "end")
	folder, err := daemon.Folder(filepath.Join(s.Home, ".local", "state", "rmctl"))
	require.NoError(t, err)
	s.client = daemon.Find(folder)
	greeting, err := s.client.Greet(t.Context())
	require.NoError(t, err)
	s.process = greeting.Process
	s.closeConnections()
	return s
}

// stays is the program of a job that is to be canceled: it runs longer than a slow machine
// needs for that. If the cancellation is lost with the connection, the job ends with the test.
const stays = `left=600; while test -e marks && test $((left -= 1)) -gt 0; do sleep 1; done`

type churn struct {
	name string
	do   func(run func(arguments ...string) (string, bool))
}

// churns returns what users do.
func (s *soak) churns() []churn {
	target := func() string { return append(far, "local")[s.random.IntN(3)] }
	submit := func(run func(...string) (string, bool), target, script string) (string, bool) {
		s.number++
		mark := strconv.Itoa(s.number)
		submission := []string{"submit", "-t", target, "-s", "slots=16", "-d", s.place, "-e", "MARK=" + mark}
		if script == "" {
			submission = append(submission, "--script", filepath.Join(s.Home, "large.sh"))
		} else {
			submission = append(submission, "--", "sh", "-c", `echo "$MARK" >>marks; `+script)
		}
		id, submitted := run(submission...)
		if submitted {
			s.printed[mark] = target + "/" + id
		}
		return target + "/" + id, submitted
	}
	return []churn{
		{"submit, wait, output", func(run func(...string) (string, bool)) {
			if job, submitted := submit(run, target(), "echo done"); submitted {
				run("wait", "--timeout", "5m", job)
				run("output", job)
			}
		}},
		{"submit, status, cancel", func(run func(...string) (string, bool)) {
			if job, submitted := submit(run, target(), stays); submitted {
				delete(s.printed, strconv.Itoa(s.number)) // it may be canceled before it runs
				run("status", "--fresh", job)
				run("cancel", job)
			}
		}},
		{"stage 450 KiB", func(run func(...string) (string, bool)) {
			if job, submitted := submit(run, target(), ""); submitted {
				run("status", job)
			}
		}},
		{"interactive", func(run func(...string) (string, bool)) {
			s.number++
			id := strconv.Itoa(s.number)
			target := far[s.random.IntN(len(far))] + "-terminal"
			printed, begun := run("run", "--detach", "-t", target, "-d", s.place, "--", "sh", "-c",
				"echo waiting for job "+id+"; echo job "+id+" ready; read -r input; while read -r line; do echo \"<$line>\"; test \"$line\" = end && exit; done")
			if begun {
				if printed != id {
					s.wrong = append(s.wrong, fmt.Sprintf("job %s is called %q", id, printed))
					return
				}
				run("send", target+"/"+id, strings.Repeat("much that is typed ", 50))
				run("send", target+"/"+id, "end")
				run("wait", "--timeout", "5m", target+"/"+id)
			}
		}},
		{"look around", func(run func(...string) (string, bool)) {
			run("status")
			run("conn", "list")
			run("jobs", "--prune", min(s.length/8, 5*time.Minute).String())
		}},
		{"recover", func(run func(...string) (string, bool)) { run("recover") }},
	}
}

// do runs the commands of a churn. With cut the connections are lost once
// meanwhile: then they may fail.
func (s *soak) do(name string, do func(run func(arguments ...string) (string, bool)), cut bool) {
	if cut {
		over := make(chan struct{})
		timer := time.AfterFunc(time.Duration(s.random.IntN(700))*time.Millisecond, func() {
			defer close(over)
			s.proxy.Cut()
		})
		defer func() {
			if !timer.Stop() {
				<-over
			}
		}()
	}
	do(func(arguments ...string) (string, bool) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Minute)
		defer cancel()
		command := s.Command(ctx, arguments...)
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		err := command.Run()
		require.NoError(s.t, ctx.Err(), "rmctl %v hangs: %s", arguments, &stderr)
		var exit *exec.ExitError
		if errors.As(err, &exit) && (cut || mayFail(arguments[0], stderr.String())) {
			s.failed[name]++
			return "", false
		}
		if err != nil {
			s.wrong = append(s.wrong, fmt.Sprintf("rmctl %.300q: %v: %.500s", arguments, err, &stderr))
			return "", false
		}
		s.done[name]++
		return strings.TrimSpace(stdout.String()), true
	})
}

// count returns how many commands were run.
func (s *soak) count() int {
	count := len(s.wrong)
	for _, part := range []map[string]int{s.done, s.failed} {
		for _, number := range part {
			count += number
		}
	}
	return count
}

// mayFail reports whether a command may fail although no connection is lost
// meanwhile: what became of a submission before is still to be found out.
func mayFail(command, said string) bool {
	return command == "recover" && strings.Contains(said, "look again after")
}

// A look is the resource usage of the background process and the store.
type look struct {
	at                               time.Duration
	memory, store                    int64 // bytes
	descriptors, goroutines, threads int
	children                         int
	processor                        time.Duration // used so far
}

func (s *soak) look() look {
	t := s.t
	greeting, err := s.client.Greet(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.process, greeting.Process, "the background process has ended")
	folder := fmt.Sprintf("/proc/%d/", s.process)
	status, err := os.ReadFile(folder + "status")
	require.NoError(t, err)
	field := func(name string) int64 {
		found := regexp.MustCompile(`(?m)^` + name + `:\s*(\d+)`).FindSubmatch(status)
		require.NotNil(t, found, "%s", status)
		value, err := strconv.ParseInt(string(found[1]), 10, 64)
		require.NoError(t, err)
		return value
	}
	descriptors, err := os.ReadDir(folder + "fd")
	require.NoError(t, err)
	l := look{memory: field("VmRSS") << 10, descriptors: len(descriptors), threads: int(field("Threads")), goroutines: greeting.Goroutines, children: s.children()}
	stat, err := os.ReadFile(folder + "stat")
	require.NoError(t, err)
	const ticks = 100 // ticks per second on every Linux, see proc(5)
	for _, text := range strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[11:13] {
		value, err := strconv.Atoi(text)
		require.NoError(t, err)
		l.processor += time.Duration(value) * time.Second / ticks
	}
	files, err := filepath.Glob(filepath.Join(s.Home, ".local", "state", "rmctl", "*"))
	require.NoError(t, err)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !info.IsDir() { // SQLite's go away
			l.store += info.Size()
		}
	}
	return l
}

// children counts the processes that the background process has started, dead
// ones that it has not waited for included.
func (s *soak) children() int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process))
	require.NoError(s.t, err)
	count := 0
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if !errors.Is(err, fs.ErrNotExist) { // the thread has ended
			require.NoError(s.t, err)
		}
		count += len(strings.Fields(string(text)))
	}
	return count
}

// closeConnections closes all connections, and leaves the process.
func (s *soak) closeConnections() {
	for _, name := range far {
		s.Does("conn", "close", name)
	}
}

// settle requires that without sessions and connections the process is as small as at the
// beginning.
func (s *soak) settle(beginning look) {
	s.t.Helper()
	s.closeConnections()
	var now look
	require.Eventually(s.t, func() bool {
		now = s.look()
		return now.descriptors <= beginning.descriptors && now.children == 0 && now.goroutines <= beginning.goroutines
	}, 2*time.Minute, 50*time.Millisecond, "it does not come back to %+v: %+v", &beginning, &now)
}

// quarter returns the looks of one of four parts of the time.
func quarter(looks []look, number int) []look {
	return looks[len(looks)*number/4 : len(looks)*(number+1)/4]
}

func middle(looks []look, of func(look) int64) int64 {
	values := make([]int64, len(looks))
	for i, l := range looks {
		values[i] = of(l)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// measured names the measured values, with the allowed growth until the end.
var measured = []struct {
	name string
	more int64
	of   func(look) int64
}{
	{"resident memory, KiB", moreMemory >> 10, func(l look) int64 { return l.memory >> 10 }},
	{"descriptors", moreDescriptors, func(l look) int64 { return int64(l.descriptors) }},
	{"goroutines", moreGoroutines, func(l look) int64 { return int64(l.goroutines) }},
	{"children", moreChildren, func(l look) int64 { return int64(l.children) }},
	{"store, KiB", moreStore >> 10, func(l look) int64 { return l.store >> 10 }},
	{"threads", 1 << 10, func(l look) int64 { return int64(l.threads) }}, // which the Go runtime keeps
}

func (s *soak) report(looks []look) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for _, churn := range s.churns() {
			if !yield(churn.name) {
				return
			}
		}
	}) {
		s.t.Logf("%-24s %6d commands, %d failed with the connection", name, s.done[name], s.failed[name])
	}
	for _, m := range measured {
		var medians [4]int64
		highest := int64(0)
		for number := range medians {
			medians[number] = middle(quarter(looks, number), m.of)
			for _, l := range quarter(looks, number) {
				highest = max(highest, m.of(l))
			}
		}
		s.t.Logf("| %s | %d | %d | %d | %d | %d |", m.name, medians[0], medians[1], medians[2], medians[3], highest)
	}
	first, last := looks[0], looks[len(looks)-1]
	s.t.Logf("%v, the background process used %.1f %% of a processor", last.at.Round(time.Second), 100*(last.processor-first.processor).Seconds()/(last.at-first.at).Seconds())
}

// requireFlat demands that nothing has grown in the last quarter. The quarters
// before are taken together: in a short run a connection may be lost during most
// of one of them, which shows as less of everything.
func (s *soak) requireFlat(looks []look) {
	for _, m := range measured {
		before := int64(0)
		for number := range 3 {
			before = max(before, middle(quarter(looks, number), m.of))
		}
		after := middle(quarter(looks, 3), m.of)
		require.LessOrEqual(s.t, after, before+before/10+m.more, "%s grows", m.name)
	}
}

// requireEachOnce demands that each job whose id was printed has run once, and no
// other one twice.
func (s *soak) requireEachOnce() {
	counts := map[string]int{}
	require.Eventually(s.t, func() bool {
		text, err := os.ReadFile(filepath.Join(s.place, "marks"))
		require.NoError(s.t, err)
		clear(counts)
		for _, mark := range strings.Fields(string(text)) {
			counts[mark]++
		}
		for mark := range s.printed {
			if counts[mark] == 0 {
				return false
			}
		}
		return true
	}, 5*time.Minute, 100*time.Millisecond, "of %v %v ran", s.printed, counts)
	for mark, count := range counts {
		require.Equal(s.t, 1, count, "job %s (%s) ran more than once", mark, s.printed[mark])
	}
}
