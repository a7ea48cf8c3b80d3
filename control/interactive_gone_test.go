package control_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// attachedTo records an interactive job that runs attached to a process.
func (s *site) attachedTo(t *testing.T, tag, id, submitter string, hosted ...bool) job.Job {
	t.Helper()
	require.NoError(t, s.store.Intend(t.Context(), job.Job{
		Tag: tag, Target: "here", Interactive: true, Created: time.Now().Add(-time.Hour), Submitter: submitter, Hosted: slices.Contains(hosted, true),
	}))
	job, err := s.store.Accept(t.Context(), tag, job.Job{ID: id, ShortID: id, Observation: job.Observation{Detail: job.Running, Observed: time.Now().Add(-time.Minute), Source: "open"}})
	require.NoError(t, err)
	return job
}

// goneHere names a dead process of this machine whose id was reused.
func goneHere(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	return fmt.Sprintf("%d 0 %s", os.Getpid(), host)
}

func TestAJobWhoseProcessIsGoneIsMissing(t *testing.T) {
	for name, hosted := range map[string]bool{"of its own": false, "of a host": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)))
			j := s.attachedTo(t, "the-tag", "7", goneHere(t), hosted)
			for range 2 {
				seen, err := s.Status(t.Context(), j, true)
				require.NoError(t, err)
				require.Equal(t, job.Running, seen.Detail, "the last that was seen")
				require.True(t, seen.Missing)
				require.Equal(t, 1, seen.MissingCount, "it is found out once")
				require.Contains(t, seen.StaleReason, fmt.Sprintf("process that it was attached to (%d on ", os.Getpid()))
			}
			require.Equal(t, control.Holder(""), s.Holder(j))
		})
	}
}

// terminating is a command that notes which job it ends.
const terminating = `<terminate-job name="end"><arg>/bin/sh -c 'echo "$1" >ended' sh ${ptp_rm:@jobId#name}</arg></terminate-job>`

func byTag(t *testing.T, s *site, tag string) job.Job {
	t.Helper()
	j, err := s.store.ByTag(t.Context(), tag)
	require.NoError(t, err)
	return j
}

func TestAJobWhoseProcessIsGoneEndsOnceItIsCanceled(t *testing.T) {
	for name, isLost := range map[string]bool{"known to be gone": true, "not looked for yet": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)+terminating))
			j := s.attachedTo(t, "the-tag", "7", goneHere(t))
			if isLost {
				seen, err := s.Status(t.Context(), j, true)
				require.NoError(t, err)
				require.True(t, seen.Missing)
			}
			require.NoError(t, s.Operate(t.Context(), control.Cancel, j))
			require.Equal(t, "7\n", s.read(t, "ended"))
			j, err := s.Wait(t.Context(), j, "", nil)
			require.NoError(t, err)
			require.Equal(t, job.Canceled, j.Detail)
			require.Equal(t, []bool{false, false}, []bool{j.Missing, j.Stale})
			require.Contains(t, j.Reason, "cancel accepted at ")
			require.Contains(t, j.Reason, "the process that it was attached to (")
		})
	}
}

func TestAJobIsCanceledDespiteALostConnection(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `echo "job 7 ready"`, keptOpen, conversation)+terminating), func(o *control.Options) {
		o.Connection = &losingOnce{Connection: o.Connection, printed: "job 7 ready\n"}
	})
	ctx, cancel := context.WithCancel(t.Context())
	j, _, _, err := s.converses(t, ctx, func(job.Job) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "7\n", s.read(t, "ended"))
	j, err = s.Status(t.Context(), j, true)
	require.NoError(t, err)
	require.Equal(t, job.Canceled, j.Detail)
	require.False(t, j.Stale)
}

func TestAWaitForAJobWhoseProcessIsGoneEnds(t *testing.T) {
	for name, listing := range map[string]string{"asked for one by one": "", "listed": running("x:list-jobs", `:`, "", "")} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", `:`, "", ""), "<monitor-data>"+listing+"</monitor-data>"))
			jobs := []job.Job{s.attachedTo(t, "one", "one", goneHere(t)), s.attachedTo(t, "two", "two", goneHere(t))}
			_, err := s.WaitAll(t.Context(), jobs, "", nil)
			var missing *control.MissingError
			require.ErrorAs(t, err, &missing)
			require.ErrorContains(t, err, "job one: the process that it was attached to")
			require.ErrorContains(t, err, "job two: the process that it was attached to")
			require.Empty(t, s.pauses, "there is nothing to wait for")
		})
	}
}

func TestAJobKnownToASchedulerOutlivesItsProcess(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)+running("get-job-status", `echo SUSPENDED`, "", asStatus)))
	j, err := s.Status(t.Context(), s.attachedTo(t, "the-tag", "7", goneHere(t)), true)
	require.NoError(t, err)
	require.Equal(t, job.Suspended, j.Detail)
	require.False(t, j.Missing)
}

func TestARecordedEndStaysWhenTheProcessIsGone(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, "", "")))
	before := s.attachedTo(t, "the-tag", "7", goneHere(t))
	_, err := s.store.Observe(t.Context(), "the-tag", job.Observation{Detail: job.Completed, Observed: time.Now()})
	require.NoError(t, err)
	j, err := s.Status(t.Context(), before, true)
	require.NoError(t, err)
	require.Equal(t, job.Completed, j.Detail)
	require.False(t, j.Missing)
	require.False(t, j.Stale)
}

// Whether a process of another machine is alive is unknown here.
func TestTheStateOfAProcessOnAnotherHostIsUnknown(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)))
	job := s.attachedTo(t, "the-tag", "7", "12 345 far.example.org", true)
	seen, err := s.Status(t.Context(), job, true)
	require.NoError(t, err)
	require.False(t, seen.Missing)
	require.True(t, seen.Stale)
	require.Contains(t, seen.StaleReason, "process 12 on far.example.org")
	kept, err := s.store.ByTag(t.Context(), "the-tag")
	require.NoError(t, err)
	require.False(t, kept.Stale, "the other host can check it")
	require.Equal(t, control.HeldElsewhere, s.Holder(job))
}

// A job that waits in a queue may be unseen for long, and is not to be taken for
// one that was never made.
func TestAnInteractiveSubmissionOfAnotherHostStaysOpen(t *testing.T) {
	s := newSite(t, define(t, running("submit-interactive", `:`, keptOpen, conversation)))
	far := job.Job{Tag: "the-tag", Target: "here", Interactive: true, Created: time.Now().Add(-time.Hour), Submitter: "12 345 far.example.org"}
	require.NoError(t, s.store.Intend(t.Context(), far))
	j, err := s.Recover(t.Context(), far)
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.Contains(t, unconfirmed.Reason, "12 on far.example.org")
	require.Equal(t, job.PhaseIntended, j.Phase)
}

func TestAfterALostConnectionAJobIsMissingAndAnotherMayRun(t *testing.T) {
	cut := &remote.ConnectError{Host: "far", Reason: remote.Disconnected, Err: io.ErrUnexpectedEOF}
	for name, atStart := range map[string]error{"while it runs": nil, "before it is known to run": &remote.StartError{Program: "sh", Err: cut}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, running("submit-interactive", `echo "job 7 ready"`, `waitForId="false" keepOpen="true"`, "")), func(o *control.Options) {
				o.Connection = &losingOnce{Connection: o.Connection, atStart: atStart}
			})
			lostJob, _, err := s.interactively(t, t.Context(), "")
			require.Error(t, err)
			require.True(t, lostJob.Missing)
			require.False(t, lostJob.Detail.Ended(), "nobody has seen an end: %s", lostJob.Detail)
			require.Nil(t, lostJob.ExitCode)
			require.Contains(t, lostJob.StaleReason, "unexpected EOF")
			_, err = s.Wait(t.Context(), lostJob, "", nil)
			require.ErrorContains(t, err, "unexpected EOF")
			j, _, err := s.interactively(t, t.Context(), "")
			require.NoError(t, err)
			require.Equal(t, job.Completed, j.Detail)
		})
	}
}

// losingOnce is a connection that is lost while its first command runs, or when
// it is to start.
type losingOnce struct {
	remote.Connection
	atStart error
	printed string // before that
	wasLost bool
}

func (l *losingOnce) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	if !l.wasLost {
		l.wasLost = true
		if l.atStart != nil {
			return nil, l.atStart
		}
		if _, err := io.WriteString(c.Stdout, l.printed); err != nil {
			return nil, err
		}
		return lost{}, nil
	}
	return l.Connection.Start(ctx, c)
}
