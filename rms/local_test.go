package rms_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/rms"
)

// These tests run the program of local.xml by itself, under every shell that
// there is; how the engine calls it is tested with the rmctl command.

const patience = time.Minute

// A machine is a home directory with the program in it.
type machine struct {
	home string
	path string // value of PATH; its first folder holds the shell as sh
}

func (m machine) file(name ...string) string {
	return filepath.Join(append([]string{m.home}, name...)...)
}

func (m machine) spool(name ...string) string {
	return m.file(append([]string{".local/state/rmctl/local"}, name...)...)
}

func localProgram(t *testing.T) []byte {
	definition, shipped := rms.Source("local")
	require.True(t, shipped)
	program, shipped := rms.Beside("local.xml", definition, "local.sh")
	require.True(t, shipped)
	return program
}

// onEveryShell runs a test on machines whose sh is dash, bash and busybox; on
// the latter the other tools are busybox's, too.
func onEveryShell(t *testing.T, test func(t *testing.T, m machine)) {
	t.Parallel()
	for _, shell := range []string{"dash", "bash", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell, "is not installed")
			}
			test(t, newMachine(t, program))
		})
	}
}

func newMachine(t *testing.T, shell string) machine {
	home := t.TempDir()
	m := machine{home: home, path: filepath.Join(home, "bin") + ":" + os.Getenv("PATH")}
	require.NoError(t, os.MkdirAll(m.file("bin"), 0o700))
	if filepath.Base(shell) == "busybox" {
		for _, applet := range strings.Fields("sh awk cat chmod cp date env find getconf grep kill mkdir mv nice nohup ps rm rmdir sed setsid sleep sort uname") {
			if exec.Command(shell, applet, "--help").Run() == nil {
				require.NoError(t, os.Symlink(shell, m.file("bin", applet)))
			}
		}
	} else {
		require.NoError(t, os.Symlink(shell, m.file("bin/sh")))
	}
	require.NoError(t, os.MkdirAll(m.spool(), 0o755))
	require.NoError(t, os.WriteFile(m.spool("local.sh"), localProgram(t), 0o600))
	t.Cleanup(func() { m.endEverything(t) })
	return m
}

// endEverything cancels what a test left and waits for the workers, so
// that nothing writes into the test's folder while that is removed.
func (m machine) endEverything(t *testing.T) {
	jobs, err := filepath.Glob(m.spool("jobs/*"))
	require.NoError(t, err)
	for _, job := range jobs {
		id := filepath.Base(job)
		if _, err := os.Stat(filepath.Join(job, "ended")); err != nil {
			m.run(nil, "cancel", id)
			m.awaitFile(t, filepath.Join(job, "ended"))
		}
	}
	for _, worker := range m.workers(t) {
		requireGone(t, worker, "a worker stays")
	}
	// What a worker that a test killed has started would stay.
	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, process := range processes {
		if folder, err := os.Readlink(filepath.Join(process, "cwd")); err == nil && strings.HasPrefix(folder, m.home+"/") {
			pid, err := strconv.Atoi(filepath.Base(process))
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

type result struct {
	stdout, stderr string
	code           int
}

// workers returns the processes of the workers that there are.
func (m machine) workers(t *testing.T) []string {
	files, err := filepath.Glob(m.spool("hosts/*/running/*"))
	require.NoError(t, err)
	var processes []string
	for _, file := range files {
		process, _, _ := strings.Cut(filepath.Base(file), " ")
		processes = append(processes, process)
	}
	return processes
}

// workerOf returns the worker that runs a job.
func (m machine) workerOf(t *testing.T, id string) string {
	files, err := filepath.Glob(m.spool("hosts/*/running/*"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.HasPrefix(string(content), id+"\t") {
			process, _, _ := strings.Cut(filepath.Base(file), " ")
			return process
		}
	}
	require.FailNow(t, "no worker has job "+id)
	return ""
}

// replaceProgram has the program's scripts find another one of that name, a shell script.
func (m machine) replaceProgram(t *testing.T, name, script string) {
	t.Helper()
	path := m.file("bin", name)
	if err := os.Remove(path); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
}

func (m machine) run(environment []string, arguments ...string) result {
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, m.file("bin/sh"), append([]string{".local/state/rmctl/local/local.sh"}, arguments...)...)
	command.WaitDelay = patience // for a process that it left with its streams
	command.Dir = m.home
	command.Env = append([]string{"PATH=" + m.path, "HOME=" + m.home, "LC_ALL=C"}, environment...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) { // else its code says it
		fmt.Fprintf(&stderr, "it, or what has its streams, did not end within %v\n", patience)
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// trySubmit submits a shell script; settings are NAME=value of RMCTL_LOCAL_NAME.
func (m machine) trySubmit(t *testing.T, script string, settings ...string) result {
	if !strings.HasPrefix(script, "#!") {
		script = "#!/bin/sh\n" + script + "\n"
	}
	file, err := os.CreateTemp(m.home, "script")
	require.NoError(t, err)
	_, err = file.WriteString(script)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	environment := []string{"RMCTL_LOCAL_SCRIPT=" + filepath.Base(file.Name()), "RMCTL_LOCAL_DIRECTORY=" + m.home}
	for _, setting := range settings {
		environment = append(environment, "RMCTL_LOCAL_"+setting)
	}
	submitted := m.run(environment, "submit")
	require.NoError(t, os.Remove(file.Name()), "the job has its own copy")
	return submitted
}

func (m machine) submit(t *testing.T, script string, settings ...string) string {
	submitted := m.trySubmit(t, script, settings...)
	require.Zero(t, submitted.code, submitted.stderr)
	require.Empty(t, submitted.stderr)
	return facts(t, submitted.stdout)["id"]
}

func facts(t *testing.T, output string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(output) {
		name, value, both := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		require.True(t, both, "line %q", line)
		found[name] = value
	}
	require.Equal(t, "yes", found["whole"])
	delete(found, "whole")
	return found
}

func (m machine) status(t *testing.T, id string) map[string]string {
	asked := m.run(nil, "show", id)
	require.Zero(t, asked.code, asked.stderr)
	require.Empty(t, asked.stderr)
	return listed(t, asked.stdout)[id]
}

// list returns what the program says last about each job that it lists.
func (m machine) list(t *testing.T) map[string]map[string]string {
	answer := m.run(nil, "list")
	require.Zero(t, answer.code, answer.stderr)
	require.Empty(t, answer.stderr)
	return listed(t, answer.stdout)
}

func listed(t *testing.T, output string) map[string]map[string]string {
	columns := strings.Fields("id array state code submitted started ended host tag reason name")
	jobs := map[string]map[string]string{}
	for line := range strings.Lines(output) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, values, len(columns), "line %q", line)
		job := map[string]string{}
		for i, column := range columns {
			job[column] = values[i]
		}
		jobs[job["id"]] = job
	}
	return jobs
}

func (m machine) awaitState(t *testing.T, id, state string) map[string]string {
	var job map[string]string
	require.Eventually(t, func() bool {
		job = m.status(t, id)
		return job["state"] == state
	}, patience, 20*time.Millisecond, "job %s", id)
	return job
}

func (m machine) awaitEnd(t *testing.T, id string) map[string]string {
	m.awaitFile(t, m.spool("jobs", id, "ended"))
	return m.status(t, id)
}

// awaitFile waits until a file has its last line.
func (m machine) awaitFile(t *testing.T, name string) {
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(name)
		return err == nil && strings.HasSuffix(string(content), "\n")
	}, patience, 2*time.Millisecond, name)
}

func (m machine) read(t *testing.T, name string) string {
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

func (m machine) do(t *testing.T, verb, id string) {
	done := m.run(nil, verb, id)
	require.Zero(t, done.code, done.stderr)
}

// submitBlocker submits a job that runs until unblock is called, and waits until its script runs: a job is RUNNING before
// its shell has opened the script.
func (m machine) submitBlocker(t *testing.T, settings ...string) (id string, unblock func()) {
	folder, err := os.MkdirTemp(m.home, "gate")
	require.NoError(t, err)
	gate, running := filepath.Join(folder, "pipe"), filepath.Join(folder, "running")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	id = m.submit(t, "echo >"+running+"; read line <"+gate, settings...)
	m.awaitState(t, id, "RUNNING")
	m.awaitFile(t, running)
	return id, func() {
		pipe, err := os.OpenFile(gate, os.O_RDWR, 0) // which does not wait for a job that never opens it
		require.NoError(t, err)
		_, err = pipe.WriteString("go\n")
		require.NoError(t, err)
		m.awaitEnd(t, id)
		require.NoError(t, pipe.Close())
	}
}

func TestJobEndsWithItsProgramsExitCode(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for script, expected := range map[string]map[string]string{
			"true":   {"state": "COMPLETED", "code": "0"},
			"exit 3": {"state": "FAILED", "code": "3"},
			// 128 and more than any signal is just a code.
			"exit 255":      {"state": "FAILED", "code": "255"},
			"kill -SEGV $$": {"state": "FAILED", "code": "139", "reason": "SIGSEGV"},
			// Background processes of a shell ignore this one; a job must not.
			"kill -INT $$; sleep 100": {"state": "FAILED", "code": "130", "reason": "SIGINT"},
		} {
			job := m.awaitEnd(t, m.submit(t, script))
			for _, when := range []string{"submitted", "started", "ended"} {
				moment, err := strconv.ParseInt(job[when], 10, 64)
				require.NoError(t, err, when)
				require.WithinDuration(t, time.Now(), time.Unix(moment, 0), patience, when)
				delete(job, when)
			}
			require.NotEmpty(t, job["host"])
			maps.Copy(expected, map[string]string{"id": job["id"], "name": "job", "host": job["host"], "array": "", "tag": "", "reason": expected["reason"]})
			require.Equal(t, expected, job, script)
		}
	})
}

func TestAJobThatEndsWhileJobsAreListedIsListedAsEnded(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		running, _ := m.submitBlocker(t)
		ended := m.submit(t, "exit 3")
		m.awaitEnd(t, ended)
		// A listing that looked into the queue before sees the job's end after.
		entry := filepath.Join(m.host(t), "queue", "0", ended)
		require.NoError(t, os.WriteFile(entry, []byte(strings.Join([]string{ended, "", "QUEUED", "", "", "", "", "", "", "", ""}, "\t")+"\n"), 0o600))
		listed := m.list(t)
		require.Equal(t, "RUNNING", listed[running]["state"])
		require.Equal(t, m.status(t, ended), listed[ended])
	})
}

func TestListingHasTheJobsThatEndedRecently(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		failed := m.submit(t, "exit 3", "NAME=a\tname", "TAG=11111111-2222-3333-4444-555555555555")
		canceled := m.submit(t, "true", "HOLD=true")
		m.do(t, "cancel", canceled)
		m.awaitEnd(t, failed)
		listed := m.list(t)
		require.Equal(t, map[string]map[string]string{failed: m.status(t, failed), canceled: m.status(t, canceled)}, listed)
		require.Equal(t, []string{"FAILED", "3", "a name"}, []string{listed[failed]["state"], listed[failed]["code"], listed[failed]["name"]})
		require.Equal(t, []string{"CANCELED", "canceled"}, []string{listed[canceled]["state"], listed[canceled]["reason"]})
	})
}

func TestListingForgetsJobsThatEndedMinutesAgo(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		m.awaitEnd(t, m.submit(t, "true"))
		var recent []string
		require.Eventually(t, func() bool {
			recent, _ = filepath.Glob(filepath.Join(m.host(t), "recent", "*")) // the pattern is well-formed
			return len(recent) == 1
		}, patience, time.Millisecond)
		minute, err := strconv.Atoi(filepath.Base(recent[0]))
		require.NoError(t, err)
		past := filepath.Join(m.host(t), "recent", strconv.Itoa(minute-2))
		require.NoError(t, os.Rename(recent[0], past))
		// Its worker has it until it has looked for the next one.
		require.Eventually(t, func() bool { return len(m.list(t)) == 0 }, patience, 5*time.Millisecond)
		require.NoFileExists(t, past)
	})
}

func TestJobGetsWhatItRequests(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		directory := m.file("a 'working' directory")
		require.NoError(t, os.Mkdir(directory, 0o700))
		submitted := m.trySubmit(t, `pwd; umask; nice; echo "$RMCTL_JOB_NAME"; env | grep -c -e ^RMCTL_LOCAL_ -e ^LC_ALL; echo oops >&2`,
			"DIRECTORY="+directory, "OUTPUT=out %j", "ERROR=err", "NAME=a $(name) %s", "UMASK=027", "NICE=7")
		require.Zero(t, submitted.code, submitted.stderr)
		said := facts(t, submitted.stdout)
		require.Equal(t, map[string]string{
			"id": "1", "output": filepath.Join(directory, "out 1"), "error": filepath.Join(directory, "err"),
		}, said)
		require.Equal(t, "a $(name) %s", m.awaitEnd(t, "1")["name"])
		own, err := exec.Command("nice").Output() // the job's niceness adds to the submitter's
		require.NoError(t, err)
		niceness, err := strconv.Atoi(strings.TrimSpace(string(own)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%s\n0027\n%d\na $(name) %%s\n0\n", directory, min(niceness+7, 19)), m.read(t, said["output"]))
		require.Equal(t, "oops\n", m.read(t, said["error"]))
		info, err := os.Stat(said["output"])
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	})
}

// Jobs of several submissions are run by one worker, which has the variables of none.
func TestJobHasTheVariablesOfItsSubmission(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		script := m.file("script")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$id,$name,$words,${ONLY-unset},$PWD\"\n"), 0o600))
		settings := []string{"RMCTL_LOCAL_SCRIPT=" + script, "RMCTL_LOCAL_DIRECTORY=" + m.home}
		for i, set := range [][]string{{"id=it's", "ONLY=a\n\"b\" $c", "words=*"}, {"name=x", "words=\\"}} {
			require.Zero(t, m.run(append(set, settings...), "submit").code)
			id := strconv.Itoa(i + 1)
			require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
			require.Equal(t, []string{
				"it's,,*,a\n\"b\" $c," + m.home + "\n", ",x,\\,unset," + m.home + "\n",
			}[i], m.read(t, m.spool("jobs", id, "stdout")))
			require.Empty(t, m.read(t, m.spool("jobs", id, "environment")), "what may be secret stays")
		}
	})
}

func TestSingleCommandRunsAsInItsScript(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		for script, printed := range map[string]string{
			"#!/bin/sh\nexec printf '%s,' 'a b' c\n":            "a b,c,",
			"#!/bin/sh\nexec printf '%s,' 'a  b' ''\n":          "a  b,,",
			"#!/bin/sh\nexec printf '%s,' \"$PPID\" >/dev/null": "",
			"#!/bin/sh\nexec printf '%s,' a*z\n":                "a*z,",
			"#!/bin/sh\nexec printf '%s,' ok\necho more":        "ok,",
		} {
			id := m.submit(t, script)
			require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"], script)
			require.Equal(t, printed, m.read(t, m.spool("jobs", id, "stdout")), script)
		}
		job := m.awaitEnd(t, m.submit(t, "#!/bin/sh\nexec no/such/program\n"))
		require.Equal(t, "127", job["code"])
	})
}

func TestSeveralJobsAreShownAtOnce(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		failed, held := m.submit(t, "exit 3"), m.submit(t, "true", "HOLD=true")
		m.awaitEnd(t, failed)
		answer := m.run(nil, "show", strings.Join([]string{failed, "99", "", "x", held}, ","))
		require.Zero(t, answer.code)
		require.Equal(t, map[string]map[string]string{failed: m.status(t, failed), held: m.status(t, held)}, listed(t, answer.stdout))
	})
}

func TestOutputAndErrorsMayShareAFile(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "echo 1; echo 2 >&2; echo 3", "OUTPUT=both", "ERROR=both")
		m.awaitEnd(t, id)
		require.Equal(t, "1\n2\n3\n", m.read(t, m.file("both")))
		m.awaitEnd(t, m.submit(t, "echo 4; echo 5 >&2; echo 6", "OUTPUT=both", "ERROR=./both"))
		require.Equal(t, "4\n5\n6\n", m.read(t, m.file("both")), "the name is another, the file is the same")
	})
}

func TestFoldersMayHoldWhatStandsForTheNumberInFileNames(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		directory := m.file("50%jobs")
		require.NoError(t, os.Mkdir(directory, 0o700))
		id := m.submit(t, "echo here", "DIRECTORY="+directory, "OUTPUT=%j.%j")
		require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		require.Equal(t, "here\n", m.read(t, filepath.Join(directory, id+"."+id)))
	})
}

func TestScriptsFirstLineNamesItsInterpreter(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		script := "#!/bin/cat -v\nnot a shell script\n"
		id := m.submit(t, script)
		m.awaitEnd(t, id)
		require.Equal(t, script, m.read(t, m.spool("jobs", id, "stdout")))
	})
}

func TestSpoolIsPrivate(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		id := m.submit(t, "umask")
		m.awaitEnd(t, id)
		info, err := os.Stat(m.spool())
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		info, err = os.Stat(m.spool("jobs", id))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	})
}

func TestSpoolStandsBelowTheStateFolder(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		stateFolder := "XDG_STATE_HOME=" + m.file("elsewhere")
		script := m.file("script")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
		submitted := m.run([]string{stateFolder, "RMCTL_LOCAL_SCRIPT=" + script}, "submit")
		require.Zero(t, submitted.code, submitted.stderr)
		require.DirExists(t, m.file("elsewhere/rmctl/local/jobs/1"))
		require.Equal(t, 44, m.run(nil, "show", "1").code)
		require.Eventually(t, func() bool {
			return strings.Contains(m.run([]string{stateFolder}, "show", "1").stdout, "COMPLETED")
		}, patience, 5*time.Millisecond)
	})
}

func TestJobsWaitForASlotInTheOrderOfTheirNumbers(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		_, unblock := m.submitBlocker(t, "SLOTS=1")
		var last string
		for range 12 {
			last = m.submit(t, "echo $RMCTL_JOB_ID >>order", "SLOTS=1")
			require.Equal(t, "QUEUED", m.status(t, last)["state"])
		}
		unblock()
		m.awaitEnd(t, last)
		require.Equal(t, "2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n", m.read(t, m.file("order")))
	})
}

func TestManySubmissionsAtOnceKeepTheirNumbersAndSlots(t *testing.T) {
	onEveryShell(t, func(t *testing.T, m machine) {
		const slots = 3
		jobs := 50
		if filepath.Base(t.Name()) != "dash" {
			jobs = 16 // the program is the same, and these take their time
		}
		require.NoError(t, os.Mkdir(m.file("now"), 0o700))
		var submissions sync.WaitGroup
		ids := make([]string, jobs)
		for i := range jobs {
			submissions.Go(func() {
				ids[i] = m.submit(t, ": >now/$RMCTL_JOB_ID; set -- now/*; echo $# >>counts; sleep 0.05; rm now/$RMCTL_JOB_ID", fmt.Sprint("SLOTS=", slots))
			})
		}
		submissions.Wait()
		seen := map[string]bool{}
		for _, id := range ids {
			number, err := strconv.Atoi(id)
			require.NoError(t, err)
			require.LessOrEqual(t, number, jobs)
			seen[id] = true
			require.Equal(t, "COMPLETED", m.awaitEnd(t, id)["state"])
		}
		require.Len(t, seen, jobs)
		counts := strings.Fields(m.read(t, m.file("counts")))
		require.Len(t, counts, jobs)
		for _, count := range counts {
			running, err := strconv.Atoi(count)
			require.NoError(t, err)
			require.LessOrEqual(t, running, slots)
		}
	})
}
