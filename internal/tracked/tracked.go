// Package tracked tracks processes run by rmctl-node: it prepares submissions and records the processes.
package tracked

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// lateEnd is how long after the end of a job rmctl waits for the ends of its last processes, since shared
// file systems may be slow.
const lateEnd = time.Minute

const (
	firstLook  = time.Second // after the start of an interactive job
	laterLooks = 5 * time.Second
	// mostAtOnce bounds the jobs whose processes are read after one query of the scheduler.
	mostAtOnce = 1000
	// leastPause is the shortest time between two queries of the target, unless another job has ended.
	leastPause = time.Second
)

// Jobs are the tracked jobs of a target.
type Jobs struct {
	store     *jobstore.Store
	log       *slog.Logger
	now       func() time.Time
	directory func() (*nodes.Directory, error)

	turn  sync.Mutex
	last  time.Time       // when the target was queried
	ended map[string]bool // tags of jobs that were queried after their ends
	// position selects the next of the unfinished jobs, which are read in turn.
	position int
}

// New returns the tracked jobs of the target of a connection; directory is the target's
// setting node_directory.
func New(connection remote.Connection, directory string, store *jobstore.Store, log *slog.Logger, now func() time.Time) *Jobs {
	return &Jobs{store: store, log: log, now: now, ended: map[string]bool{}, directory: sync.OnceValues(func() (*nodes.Directory, error) {
		executable, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return nodes.NewDirectory(connection, directory, executable)
	})}
}

// Wrap returns a submission with its program wrapped if it requests tracking. Existing words before the
// program follow those of the wrapper.
func (t *Jobs) Wrap(s job.Submission, tag string) (job.Submission, error) {
	switch {
	case !s.Track && s.RankFrom != "":
		return s, errors.New("a rank variable requires tracking\nadd --track")
	case !s.Track:
		return s, nil
	case s.Script != "" || s.Executable == "":
		return s, errors.New("cannot track your own script: rmctl does not know which program in it to track\nuse --track with a program and its arguments")
	case s.RankFrom != "" && (!nodes.IsSafeWord(s.RankFrom) || strings.ContainsAny(s.RankFrom, "=,:/@%+.-")):
		return s, fmt.Errorf("%.100q cannot be the name of a rank variable", s.RankFrom)
	}
	directory, err := t.directory()
	if err != nil {
		return s, err
	}
	program, err := directory.StagedProgram()
	if err != nil {
		return s, err
	}
	words := []string{program, "track", "--job", directory.Job(tag)}
	if s.RankFrom != "" {
		words = append(words, "--rank-from", s.RankFrom)
	}
	s.Wrapper = slices.Concat(words, []string{"--"}, s.Wrapper)
	return s, nil
}

// Check returns an error if the command of a submission lacks the wrapper's words.
func (t *Jobs) Check(s job.Submission, submit *command.Invocation, files []submission.StagedFile) error {
	if len(s.Wrapper) == 0 {
		return nil
	}
	mark := s.Wrapper[0] // both wrappers are the same program
	if position := slices.IndexFunc(s.Wrapper[1:], path.IsAbs); position >= 0 {
		mark = s.Wrapper[1+position]
	}
	has := func(text string) bool { return strings.Contains(text, mark) }
	if slices.ContainsFunc(submit.Arguments, has) || has(submit.Input) ||
		slices.ContainsFunc(files, func(file submission.StagedFile) bool { return has(file.Content) }) ||
		slices.ContainsFunc(submit.Environment, func(variable job.Variable) bool { return has(variable.Value) }) {
		return nil
	}
	verb := "hold"
	if s.Track {
		verb = "track"
	}
	return fmt.Errorf("cannot %s the program: the definition does not show where its command line has the program and its arguments", verb)
}

// Prepare prepares the target for a tracked submission, which is already recorded, and records the
// directory of its processes.
func (t *Jobs) Prepare(ctx context.Context, s job.Submission, target, tag string) error {
	if !s.Track {
		return nil
	}
	directory, err := t.directory()
	if err != nil {
		return err
	}
	path, err := directory.Prepare(ctx, tag)
	if err != nil {
		return err
	}
	return t.store.Polls().RecordTracked(ctx, polls.Tracked{Tag: tag, Target: target, Directory: path})
}

// Observe records the tracked processes of jobs, with one command on the target if there are such jobs.
// It only warns of problems, since the jobs themselves are not affected.
func (t *Jobs) Observe(ctx context.Context, targets ...string) {
	if err := t.observe(ctx, targets); err != nil && ctx.Err() == nil {
		t.log.Warn("could not record the processes of tracked jobs", "error", err)
	}
}

func (t *Jobs) observe(ctx context.Context, targets []string) error {
	jobs, err := t.store.Polls().Tracked(ctx, targets...)
	if err != nil || len(jobs) == 0 || !t.isDue(jobs) {
		return err
	}
	directory, err := t.directory()
	if err != nil {
		return err
	}
	jobs = t.next(jobs)
	known := map[string]string{}
	for _, each := range jobs {
		known[each.Directory] = each.Read
		if !each.Ended.IsZero() {
			known[each.Directory] = "" // record again: parsers may have recorded less meanwhile
		}
	}
	reports, err := directory.Processes(ctx, known)
	problems := []error{err}
	read := map[string]nodes.Report{}
	for _, each := range reports {
		read[each.Directory] = each
	}
	var over []string // directories of jobs that have ended with all their processes
	for _, each := range jobs {
		if report, isNew := read[each.Directory]; isNew {
			problems = append(problems, t.record(ctx, &each, report))
		}
		if each.Ended.IsZero() || err != nil {
			continue
		}
		isOver, err := t.finish(ctx, each)
		if isOver {
			over = append(over, each.Directory)
		}
		problems = append(problems, err)
	}
	problems = append(problems, directory.RemoveJobs(ctx, over))
	return errors.Join(problems...)
}

// next returns the jobs with processes to read now: jobs that have ended first, then others in
// turn.
func (t *Jobs) next(jobs []polls.Tracked) []polls.Tracked {
	t.turn.Lock()
	defer t.turn.Unlock()
	hasEnded := func(each polls.Tracked) bool { return !each.Ended.IsZero() }
	ended := slices.DeleteFunc(slices.Clone(jobs), func(each polls.Tracked) bool { return !hasEnded(each) })
	open := slices.DeleteFunc(jobs, hasEnded)
	if len(ended) >= mostAtOnce {
		return ended[:mostAtOnce]
	}
	count := min(len(open), mostAtOnce-len(ended))
	for range count {
		t.position++
		ended = append(ended, open[t.position%len(open)])
	}
	return ended
}

// isDue reports whether the target may be queried now.
func (t *Jobs) isDue(jobs []polls.Tracked) bool {
	t.turn.Lock()
	defer t.turn.Unlock()
	hasEnded := false
	for _, each := range jobs {
		if !each.Ended.IsZero() && !t.ended[each.Tag] {
			hasEnded, t.ended[each.Tag] = true, true
		}
	}
	now := t.now()
	if !hasEnded && now.Sub(t.last) < leastPause && !now.Before(t.last) {
		return false
	}
	t.last = now
	return true
}

// record records the new state of a job's processes.
func (t *Jobs) record(ctx context.Context, tracked *polls.Tracked, report nodes.Report) error {
	for _, problem := range report.Problems {
		t.log.Warn(problem, "job", tracked.Tag)
	}
	if err := t.store.RecordProcesses(ctx, tracked.Tag, report.Processes); err != nil {
		return err
	}
	tracked.Read = report.Checksum
	return t.store.Polls().RecordTracked(ctx, *tracked)
}

// finish ends the tracking of an ended job once the ends of its processes are recorded, or some time
// after the end of the job. It reports whether it did.
func (t *Jobs) finish(ctx context.Context, tracked polls.Tracked) (isOver bool, err error) {
	processes, err := t.store.Processes(ctx, tracked.Tag)
	if err != nil {
		return false, err
	}
	isOpen := func(process job.Process) bool { return process.State == "RUNNING" }
	if (len(processes) == 0 || slices.ContainsFunc(processes, isOpen)) && t.now().Sub(tracked.Ended) < lateEnd {
		return false, nil
	}
	tracked.Final = true
	t.turn.Lock()
	delete(t.ended, tracked.Tag)
	t.turn.Unlock()
	err = t.store.Polls().RecordTracked(ctx, tracked)
	return err == nil, err
}

// Follow observes the processes of an interactive job until stop is called.
func (t *Jobs) Follow(ctx context.Context, s job.Submission, target string) (stop func()) {
	if !s.Track {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		for wait := firstLook; ; wait = laterLooks {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
				t.Observe(ctx, target)
			}
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}
