package control_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// written is a site whose jobs write to the files out and err.
func written(t *testing.T, options ...func(*control.Options)) (*site, job.Job) {
	t.Helper()
	s := newSite(t, define(t, `<attribute name="stdout_remote_path" visible="false"><default>out-@jobId</default></attribute>
		<attribute name="stderr_remote_path" visible="false"><default>err-@jobId</default></attribute>`+facts+
		submitting(`echo job 7`, "")+running("get-job-status", `. ./answer`, "", asStatus)), options...)
	s.answering(t, `echo RUNNING`)
	return s, s.submits(t, job.Submission{Executable: "x"})
}

func TestTheOutputOfAJobIsCopied(t *testing.T) {
	s, job := written(t)
	s.write(t, "out-7", "all\xff of it\x00")
	s.write(t, "err-7", "an error")
	var text bytes.Buffer
	require.NoError(t, s.Output(t.Context(), job, control.Stream{}, &text))
	require.Equal(t, "all\xff of it\x00", text.String())
	text.Reset()
	require.NoError(t, s.Output(t.Context(), job, control.Stream{Stderr: true}, &text))
	require.Equal(t, "an error", text.String())
}

func TestMissingOutputIsReported(t *testing.T) {
	s, job := written(t)
	var text bytes.Buffer
	err := s.Output(t.Context(), job, control.Stream{}, &text)
	var absent *control.OutputError
	require.ErrorAs(t, err, &absent)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "does not exist yet (the job is RUNNING)")
	require.Equal(t, s.path("out-7"), absent.Path)

	require.NoError(t, os.Mkdir(s.path("out-7"), 0o700))
	require.ErrorContains(t, s.Output(t.Context(), job, control.Stream{}, &text), "reading its output file")
}

// A job can end before the first query for the path of its output.
func TestOutputWithARelativeNameIsInTheFolderOfItsJob(t *testing.T) {
	s, _ := written(t)
	require.NoError(t, os.Mkdir(s.path("there"), 0o700))
	s.write(t, "there/out-7", "of this job")
	var text bytes.Buffer
	require.NoError(t, s.Output(t.Context(), s.submits(t, job.Submission{Executable: "x", Directory: s.path("there")}), control.Stream{}, &text))
	require.Equal(t, "of this job", text.String())
}

func TestTheOutputPathOfTheSchedulerWins(t *testing.T) {
	s, job := written(t)
	s.write(t, "out-7", "elsewhere")
	s.write(t, "elsewhere", "here it is")
	s.answering(t, `echo RUNNING; echo output "$PWD/elsewhere"`)
	var text bytes.Buffer
	require.NoError(t, s.Output(t.Context(), job, control.Stream{}, &text))
	require.Equal(t, "here it is", text.String())

	text.Reset()
	job.OutputPath = ""
	s.answering(t, `echo COMPLETED; echo output "$PWD/elsewhere"`)
	s.ahead += 1e10
	require.NoError(t, s.Follow(t.Context(), job, control.Stream{}, &text))
	require.Equal(t, "here it is", text.String())
}

func TestOutputIsReadWithoutAKnownState(t *testing.T) {
	s, job := written(t)
	s.write(t, "out-7", "text")
	s.answering(t, `exit 1`)
	var text bytes.Buffer
	require.NoError(t, s.Output(t.Context(), job, control.Stream{}, &text))
	require.Equal(t, "text", text.String())
}

func TestErrorsSayWhyThereIsNoOutput(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")))
	j := s.submits(t, job.Submission{Executable: "x"})
	for want, job := range map[string]job.Job{
		"does not say where": j,
		"attached":           {ID: "7", Interactive: true},
		"not submitted":      {},
	} {
		_, err := s.OutputPath(t.Context(), job, control.Stream{Stderr: true})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, s.Follow(t.Context(), job, control.Stream{}, nil), want)
	}
}

func TestOutputIsFollowedUntilTheJobHasEnded(t *testing.T) {
	s, job := written(t)
	steps := []func(){
		func() { s.write(t, "out-7", "") },
		func() { s.write(t, "out-7", "one\n") },
		func() {},
		func() { s.answering(t, `exit 1`); s.write(t, "out-7", "one\ntwo\n") },
		func() { s.answering(t, `echo COMPLETED`); s.write(t, "out-7", "one\ntwo\nthe rest") },
	}
	s.whilePausing = func() error {
		s.ahead += 1e10 // so that each call queries again
		steps[0]()
		steps = steps[1:]
		return nil
	}
	var text bytes.Buffer
	require.NoError(t, s.Follow(t.Context(), job, control.Stream{}, &text))
	require.Equal(t, "one\ntwo\nthe rest", text.String())
	require.Empty(t, steps)
}

func TestTheEndOfALongOutputIsFollowed(t *testing.T) {
	s, job := written(t)
	steps := []func(){
		func() { s.write(t, "out-7", "0123456789") },
		func() { s.answering(t, `echo COMPLETED`); s.write(t, "out-7", "0123456789 and more than four") },
	}
	s.whilePausing = func() error {
		s.ahead += 1e10
		steps[0]()
		steps = steps[1:]
		return nil
	}
	var text bytes.Buffer
	var left []int64
	skipped := func(bytes int64) { left = append(left, bytes) }
	require.NoError(t, s.FollowEnd(t.Context(), job, control.Stream{}, 4, skipped, &text))
	require.Equal(t, "6789 and more than four", text.String())
	require.Equal(t, []int64{6}, left)

	text.Reset()
	require.NoError(t, s.FollowEnd(t.Context(), job, control.Stream{}, 100, skipped, &text))
	require.Equal(t, "0123456789 and more than four", text.String())
	require.Len(t, left, 1, "nothing is left out of a short one")
}

func TestAJobMayEndWithoutAnyOutput(t *testing.T) {
	s, job := written(t)
	s.answering(t, `echo CANCELED`)
	err := s.Follow(t.Context(), job, control.Stream{}, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "CANCELED")
}

func TestFollowingCanBeCanceled(t *testing.T) {
	var log bytes.Buffer
	s, job := written(t, func(o *control.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	ctx, cancel := context.WithCancel(t.Context())
	s.whilePausing = func() error { cancel(); return nil }
	require.ErrorIs(t, s.Follow(ctx, job, control.Stream{}, nil), context.Canceled)

	s.ahead += 1e12
	require.ErrorIs(t, s.Follow(ctx, job, control.Stream{}, nil), context.Canceled)
	require.Empty(t, log.String(), "that its state is not known then is no news")
}

// refusing is a writer without a reader.
type refusing struct{}

var errGone = errors.New("gone")

func (refusing) Write([]byte) (int, error) { return 0, errGone }

func TestFollowingEndsWithItsReader(t *testing.T) {
	s, job := written(t)
	s.write(t, "out-7", "text")
	require.ErrorIs(t, s.Follow(t.Context(), job, control.Stream{}, refusing{}), errGone)
}

// endsAfter ends a context at the first thing that is written.
type endsAfter struct{ end context.CancelFunc }

func (e endsAfter) Write(text []byte) (int, error) {
	e.end()
	return len(text), nil
}

func TestReadingEndlessOutputCanBeCanceled(t *testing.T) {
	s, job := written(t)
	require.NoError(t, os.Symlink("/dev/zero", s.path("out-7")))
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, s.Output(ctx, job, control.Stream{}, endsAfter{cancel}), context.Canceled)

	require.NoError(t, os.Remove(s.path("out-7")))
	fifo(t, s.path("out-7"))
	writer, err := os.OpenFile(s.path("out-7"), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, writer.Close()) })
	_, err = writer.WriteString("a line")
	require.NoError(t, err)
	ctx, cancel = context.WithCancel(t.Context())
	require.ErrorIs(t, s.Follow(ctx, job, control.Stream{}, endsAfter{cancel}), context.Canceled)
}
