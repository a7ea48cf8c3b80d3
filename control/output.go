package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// An OutputError is the reason why the output of a job cannot be shown.
type OutputError struct {
	ID     string
	Path   string // empty if unknown
	Detail string // the job's state
	Err    error
}

func (e *OutputError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("job %s: %v", e.ID, e.Err)
	}
	detail := job.Detail(e.Detail)
	switch isAbsent := errors.Is(e.Err, fs.ErrNotExist); {
	case isAbsent && detail.Ended():
		return fmt.Sprintf("job %s is %s and wrote no output: %q does not exist", e.ID, detail.Word(), e.Path)
	case isAbsent:
		return fmt.Sprintf("job %s: its output file %q does not exist yet (the job is %s)", e.ID, e.Path, detail.Word())
	}
	return fmt.Sprintf("job %s: reading its output file %q: %v", e.ID, e.Path, e.Err)
}

// Unwrap returns the cause; it matches fs.ErrNotExist while the file is not there.
func (e *OutputError) Unwrap() error { return e.Err }

// A Stream is a part of a job's output.
type Stream struct {
	Stderr bool
	// Task is the number of an array task; empty for the first one that has begun.
	Task string
	// Chosen is called with the task of an array that was chosen, and its file; may be nil.
	Chosen func(task, name string)
}

// OutputPath returns the path on the target of a stream of a job's output.
func (c *attendant) OutputPath(ctx context.Context, job job.Job, stream Stream) (string, error) {
	name := job.OutputPath
	if stream.Stderr {
		name = job.ErrorPath
	}
	if name != "" {
		return c.outputOfTask(ctx, job, stream, name)
	}
	reason := fmt.Errorf("definition %q does not say where it is kept (attributes %s and %s)", c.definition.Name, submission.AttributeStdoutPath, submission.AttributeStderrPath)
	switch {
	case job.Interactive:
		reason = errors.New("it ran attached to a terminal, which its output went to")
	case job.ID == "":
		reason = errors.New("it was not submitted")
	}
	return "", &OutputError{ID: job.ID, Err: reason}
}

// Output copies a job's output to w. It first queries a job that has not ended, since the
// scheduler may know the path better.
func (c *Controller) Output(ctx context.Context, job job.Job, stream Stream, w io.Writer) error {
	job, err := c.Status(ctx, job, false)
	if err != nil {
		c.log.Warn("looking for the job's output without its state", "error", err)
	}
	name, err := c.OutputPath(ctx, job, stream)
	if err != nil {
		return err
	}
	_, err = c.copyFrom(ctx, name, 0, w)
	return c.outputError(job, name, err)
}

// Follow copies a job's output to w as it grows until the job has ended. It
// waits for the file to appear, and returns the error of ctx when that is done.
func (c *Controller) Follow(ctx context.Context, job job.Job, stream Stream, w io.Writer) error {
	return c.follow(ctx, job, stream, w, func(string) (int64, error) { return 0, nil })
}

// FollowEnd is Follow for the end of an output: it copies at most so many bytes of the
// existing output. If it leaves bytes out, it first calls skipped with their number.
func (c *Controller) FollowEnd(ctx context.Context, job job.Job, stream Stream, most int64, skipped func(bytes int64), w io.Writer) error {
	return c.follow(ctx, job, stream, w, func(name string) (int64, error) {
		info, err := c.connection.Stat(ctx, name)
		if err != nil || info.Size() <= most {
			return 0, err
		}
		skipped(info.Size() - most)
		return info.Size() - most, nil
	})
}

// follow copies a job's output to w as it grows. It calls startAt once the file is there
// for the offset to begin at.
func (c *attendant) follow(ctx context.Context, job job.Job, stream Stream, w io.Writer, startAt func(name string) (int64, error)) error {
	pace := follow.Pace{Shortest: 200 * time.Millisecond, Longest: 2 * time.Second}
	var offset int64
	isStarted := false
	chosen := stream.Chosen
	stream.Chosen = func(task, name string) {
		if stream.Task == "" && chosen != nil {
			chosen(task, name)
		}
		stream.Task = task // the same one from now on
	}
	for {
		// Query the state first: the output of an ended job is complete, and the scheduler
		// may know its path better.
		var err error
		if job, err = c.Status(ctx, job, false); err != nil && ctx.Err() == nil {
			c.log.Warn("following without the job's state", "error", err)
		}
		name, err := c.OutputPath(ctx, job, stream)
		if err != nil {
			return err
		}
		if !isStarted {
			offset, err = startAt(name)
			isStarted = err == nil
		}
		var copied int64
		if err == nil {
			copied, err = c.copyFrom(ctx, name, offset, w)
			offset += copied
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case job.Detail.Ended():
			return c.outputError(job, name, err)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return c.outputError(job, name, err)
		}
		if err := c.pause(ctx, pace.Next(copied > 0)); err != nil {
			return err
		}
	}
}

func (c *attendant) outputError(job job.Job, name string, err error) error {
	if err == nil {
		return nil
	}
	return &OutputError{ID: job.ID, Path: name, Detail: string(job.Detail), Err: err}
}

// copyFrom copies the content of a file from offset on, until the context is done.
func (c *attendant) copyFrom(ctx context.Context, name string, offset int64, w io.Writer) (copied int64, err error) {
	file, err := c.connection.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if offset > 0 {
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			return 0, err
		}
	}
	// A scheduler may name a file without end, or a pipe without a writer.
	if waits, isPipe := file.(interface{ SetReadDeadline(time.Time) error }); isPipe {
		unwatch := context.AfterFunc(ctx, func() { _ = waits.SetReadDeadline(time.Unix(1, 0)) }) // which regular files do not support
		defer unwatch()
	}
	copied, err = io.Copy(w, untilDone{ctx, file})
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return copied, err
}

// untilDone reads until a context is done.
type untilDone struct {
	ctx    context.Context
	source io.Reader
}

func (u untilDone) Read(buffer []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.source.Read(buffer)
}
