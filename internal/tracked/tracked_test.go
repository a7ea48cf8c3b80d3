package tracked_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/tracked"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A place is a target with a record of its jobs.
type place struct {
	*tracked.Jobs
	t         *testing.T
	store     *jobstore.Store
	now       time.Time
	log       bytes.Buffer
	directory string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	executable, err := os.Executable()
	require.NoError(t, err)
	rmctltest.NodeProgram(t, filepath.Dir(executable))
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	local, err := remote.NewLocal()
	require.NoError(t, err)
	p := &place{t: t, store: store, now: time.Now(), directory: filepath.Join(t.TempDir(), "node")}
	p.Jobs = tracked.New(local, p.directory, store, slog.New(slog.NewTextHandler(&p.log, nil)), func() time.Time { return p.now })
	return p
}

// submits records a job with a tracked program and returns its command line.
func (p *place) submits(tag string, words ...string) []string {
	p.t.Helper()
	s, err := p.Wrap(job.Submission{Executable: words[0], Arguments: words[1:], Track: true}, tag)
	require.NoError(p.t, err)
	require.NoError(p.t, p.store.Intend(p.t.Context(), job.Job{Tag: tag, Target: "big"}))
	require.NoError(p.t, p.Prepare(p.t.Context(), s, "big", tag))
	_, err = p.store.Accept(p.t.Context(), tag, job.Job{ID: tag, Observation: job.Observation{Observed: p.now}})
	require.NoError(p.t, err)
	return append(s.Wrapper, words...)
}

func (p *place) processes(tag string) []job.Process {
	p.t.Helper()
	p.Observe(p.t.Context(), "big")
	processes, err := p.store.Processes(p.t.Context(), tag)
	require.NoError(p.t, err)
	return processes
}

func (p *place) ends(tag string) {
	p.t.Helper()
	_, err := p.store.Observe(p.t.Context(), tag, job.Observation{Detail: job.Completed, Observed: p.now})
	require.NoError(p.t, err)
}

// isOpen reports whether the processes of a job are still tracked.
func (p *place) isOpen(tag string) bool {
	p.t.Helper()
	open, err := p.store.Polls().Tracked(p.t.Context(), "big")
	require.NoError(p.t, err)
	for _, each := range open {
		if each.Tag == tag {
			return true
		}
	}
	return false
}

func TestProcessesAreRecordedAndTheirDirectoryIsRemovedAtTheEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	words := p.submits("a", "sh", "-c", "echo hello; exit 3")
	require.Empty(t, p.processes("a"))
	require.Error(t, exec.Command(words[0], words[1:]...).Run())
	p.now = p.now.Add(time.Minute)
	processes := p.processes("a")
	require.Len(t, processes, 1)
	require.Equal(t, 3, *processes[0].ExitCode)
	require.Equal(t, "hello\n", processes[0].Output)
	require.True(t, p.isOpen("a"), "the job may start further ones")
	require.NoError(t, p.store.RecordProcesses(t.Context(), "a", []job.Process{{State: "EXITED"}})) // as what mpirun prints
	p.ends("a")
	require.Equal(t, processes, p.processes("a"))
	require.False(t, p.isOpen("a"))
	require.NoDirExists(t, filepath.Join(p.directory, "jobs", "a"))
	require.Empty(t, p.log.String())
}

// While rmctl was not running, more jobs ended than one command on the target handles.
func TestManyJobsThatEndedLongAgoLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const many = 450
	for i := range many {
		tag := fmt.Sprintf("job-%03d", i)
		require.NoError(t, p.store.Intend(t.Context(), job.Job{Tag: tag, Target: "big"}))
		_, err := p.store.Accept(t.Context(), tag, job.Job{ID: tag, Observation: job.Observation{Observed: p.now}})
		require.NoError(t, err)
		folder := filepath.Join(p.directory, "jobs", tag)
		require.NoError(t, p.store.Polls().RecordTracked(t.Context(), polls.Tracked{Tag: tag, Target: "big", Directory: folder}))
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "processes"), 0o700))
		ended := fmt.Sprintf(`[{"rank":0,"node":"n1","pid":%d,"state":"EXITED","exitCode":3}]`, i+1)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "processes", "n1.json"), []byte(ended), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte(strings.Repeat("ab", 32)), 0o600))
		p.ends(tag)
	}
	p.now = p.now.Add(time.Hour)
	p.Observe(t.Context(), "big")
	require.Empty(t, p.log.String())
	for i := range many {
		processes, err := p.store.Processes(t.Context(), fmt.Sprintf("job-%03d", i))
		require.NoError(t, err)
		require.Len(t, processes, 1, "job %d", i)
		require.Equal(t, i+1, processes[0].PID)
	}
	left, err := p.store.Polls().Tracked(t.Context(), "big")
	require.NoError(t, err)
	require.Empty(t, left)
	folders, err := os.ReadDir(filepath.Join(p.directory, "jobs"))
	require.NoError(t, err)
	require.Empty(t, folders)
}

func TestTrackingWaitsForEndsOfProcessesAfterTheJob(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	words := p.submits("a", "cat")
	command := exec.Command(words[0], words[1:]...)
	input, err := command.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool {
		p.now = p.now.Add(2 * time.Second)
		return len(p.processes("a")) == 1
	}, 20*time.Second, 10*time.Millisecond)
	p.ends("a")
	require.Equal(t, job.ProcessState("RUNNING"), p.processes("a")[0].State)
	require.True(t, p.isOpen("a"), "file systems that nodes share show it late")
	p.now = p.now.Add(2 * time.Minute)
	require.Equal(t, job.ProcessState("RUNNING"), p.processes("a")[0].State)
	require.False(t, p.isOpen("a"))
	require.NoError(t, input.Close())
	require.NoError(t, command.Wait())
}

func TestUnknownRanksAreWarnings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	words := p.submits("a", "true")
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), "PMI_RANK=many")
	require.NoError(t, command.Run())
	require.Len(t, p.processes("a"), 1)
	require.Contains(t, p.log.String(), "PMI_RANK is not a rank")
}

func TestUntrackableSubmissionsAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for complaint, s := range map[string]job.Submission{
		"requires tracking\nadd --track":                  {Executable: "true", RankFrom: "RANK"},
		"cannot track your own script":                    {Script: "job.sh", Track: true},
		"cannot be the name of a rank variable":           {Executable: "true", Track: true, RankFrom: "A;B"},
		`"A=B" cannot be the name of a rank variable`:     {Executable: "true", Track: true, RankFrom: "A=B"},
		`"-x" cannot be the name of a rank variable`:      {Executable: "true", Track: true, RankFrom: "-x"},
		`"A B\x1b" cannot be the name of a rank variable`: {Executable: "true", Track: true, RankFrom: "A B\x1b"},
	} {
		_, err := p.Wrap(s, "tag")
		require.ErrorContains(t, err, complaint)
	}
	plain := job.Submission{Executable: "true"}
	same, err := p.Wrap(plain, "tag")
	require.NoError(t, err)
	require.Equal(t, plain, same)
}

func TestADefinitionThatDoesNotRunTheProgramIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s, err := p.Wrap(job.Submission{Executable: "true", Track: true, RankFrom: "MY_RANK"}, "tag")
	require.NoError(t, err)
	require.Equal(t, []string{"track", "--job", filepath.Join(p.directory, "jobs", "tag"), "--rank-from", "MY_RANK", "--"}, s.Wrapper[1:])
	require.NoError(t, p.Check(s, &command.Invocation{Arguments: append([]string{"mpirun"}, s.Wrapper...)}, nil))
	require.NoError(t, p.Check(s, &command.Invocation{}, []submission.StagedFile{{Content: "#!/bin/sh\n" + s.Wrapper[0] + " track --job " + s.Wrapper[3] + " -- true\n"}}))
	require.ErrorContains(t, p.Check(s, &command.Invocation{Arguments: []string{"sbatch", "job.sh"}}, nil), "cannot track the program")
	require.NoError(t, p.Check(job.Submission{Executable: "true"}, &command.Invocation{}, nil))
}

func TestExistingWordsBeforeTheProgramFollowTheWrapper(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	held := []string{"/opt/rmctl-node", "run", "--pass", "/state/part-7.json", "--"}
	s, err := p.Wrap(job.Submission{Executable: "true", Wrapper: held, Track: true}, "a")
	require.NoError(t, err)
	require.Equal(t, append([]string{"track", "--job", filepath.Join(p.directory, "jobs", "a"), "--"}, held...), s.Wrapper[1:])
	s, err = p.Wrap(job.Submission{Executable: "true", Wrapper: held}, "a")
	require.NoError(t, err)
	require.Equal(t, held, s.Wrapper)
	require.NoError(t, p.Check(s, &command.Invocation{Arguments: append(held, "true")}, nil))
	require.ErrorContains(t, p.Check(s, &command.Invocation{Arguments: []string{"sbatch", "job.sh"}}, nil), "cannot hold the program")
}
