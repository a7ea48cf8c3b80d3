package control

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// recordOf returns the record of files and of the directories created for them. It is written
// before they are staged, so that none is left behind.
func recordOf(files []submission.StagedFile) []jobstore.Staged {
	var staged []jobstore.Staged
	for _, file := range files {
		staged = append(staged, jobstore.Staged{Path: file.Path, Stays: !file.DeleteAfterSubmit})
		if file.DeleteAfterSubmit && file.OwnFolder {
			staged = append(staged, jobstore.Staged{Path: path.Dir(file.Path)})
		}
	}
	return staged
}

// unstage removes the temporary files of a submission, and records that.
func (c *submitter) unstage(ctx context.Context, tag string, staged []jobstore.Staged) error {
	if len(staged) == 0 {
		return nil
	}
	var problems []error
	for _, file := range staged {
		if !file.Stays {
			problems = append(problems, submission.Remove(ctx, c.connection, file.Path))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return c.store.Unstaged(ctx, tag)
}

// cleanUp removes files that are not needed after the submit command. If that fails, Tidy
// removes them later.
func (c *submitter) cleanUp(ctx context.Context, tag string, files []submission.StagedFile) {
	if err := c.unstage(ctx, tag, recordOf(files)); err != nil {
		c.log.Warn("cannot remove files of a submission", "error", err)
	}
}

// cleanUpPartial also removes an incompletely written file.
func (c *submitter) cleanUpPartial(ctx context.Context, tag string, files []submission.StagedFile) {
	err := c.removePartial(ctx, recordOf(files))
	if err == nil {
		err = c.unstage(ctx, tag, recordOf(files))
	}
	if err != nil {
		c.log.Warn("cannot remove files of a submission", "error", err)
	}
}

// removePartial removes incompletely written staged files.
func (c *submitter) removePartial(ctx context.Context, staged []jobstore.Staged) error {
	paths := make([]string, len(staged))
	for i, file := range staged {
		paths[i] = file.Path
	}
	return submission.RemovePartial(ctx, c.connection, paths)
}

// Tidy removes files that interrupted submissions left on this target, if their outcome is on
// record and their submit command must have ended. Submit calls it once for each controller.
func (c *submitter) Tidy(ctx context.Context) error {
	leftovers, err := c.store.Leftovers(ctx, c.target)
	if err != nil {
		return err
	}
	var problems []error
	for i, left := range leftovers {
		if !c.isOver(left.Job) || slices.ContainsFunc(leftovers, func(other jobstore.Leftover) bool { return !c.isOver(other.Job) && sharesFile(other, left) }) {
			continue // a process may be writing the file now
		}
		// Of several submissions with the same file the last one removes it.
		staged := slices.DeleteFunc(slices.Clone(left.Staged), func(file jobstore.Staged) bool {
			return slices.ContainsFunc(leftovers[i+1:], func(later jobstore.Leftover) bool { return hasFile(later, file) })
		})
		err := c.removePartial(ctx, staged)
		if err == nil && len(staged) == 0 {
			err = c.store.Unstaged(ctx, left.Job.Tag)
		} else if err == nil {
			err = c.unstage(ctx, left.Job.Tag, staged)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func sharesFile(a, b jobstore.Leftover) bool {
	return slices.ContainsFunc(a.Staged, func(file jobstore.Staged) bool { return hasFile(b, file) })
}

// hasFile reports whether a submission has staged a file of that path.
func hasFile(left jobstore.Leftover, file jobstore.Staged) bool {
	return slices.ContainsFunc(left.Staged, func(other jobstore.Staged) bool { return other.Path == file.Path })
}

// isOver reports whether no process is making a submission any more.
func (c *submitter) isOver(j job.Job) bool {
	decided := j.Phase != job.PhaseIntended && j.Phase != job.PhaseUnknown
	return decided && !presence.IsAlive(j.Submitter) && !c.now().Before(j.Created.Add(c.submitLimit()+settling))
}

// tidyOnce tidies up before the first submission of a controller.
func (c *submitter) tidyOnce(ctx context.Context) {
	c.tidy.Do(func() {
		if err := c.Tidy(ctx); err != nil {
			c.log.Info("cannot remove files of earlier submissions", "error", err)
		}
	})
}
