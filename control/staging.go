package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// stage puts files in place. With an error it returns those that may be there.
// How far each is on its way is told, unless told is nil.
func stage(ctx context.Context, connection remote.Connection, files []StagedFile, told func(StagingProgress)) ([]StagedFile, error) {
	for i, file := range files {
		err := connection.MkdirAll(ctx, path.Dir(file.Path), 0o700)
		if err == nil {
			content, done := staging(file, told)
			err = connection.WriteFile(ctx, file.Path, content, file.Mode)
			done()
		}
		if err == nil && file.source != "" {
			err = os.Remove(file.source)
		}
		if err != nil {
			return files[:i+1], fmt.Errorf("staging %q: %w", file.Path, err)
		}
	}
	return files, nil
}

// temporary returns the paths of those files, and of their folders, that are not
// needed after the submit command.
func temporary(files []StagedFile) []string {
	var paths []string
	for _, file := range files {
		if !file.deleteAfterSubmit {
			continue
		}
		paths = append(paths, file.Path)
		if file.ownFolder {
			paths = append(paths, path.Dir(file.Path))
		}
	}
	return paths
}

// unstage removes files of a submission and records that they are gone.
func (c *Controller) unstage(ctx context.Context, tag string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	var problems []error
	for _, name := range paths {
		if err := c.connection.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("removing %q: %w", name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return c.store.Unstaged(ctx, tag)
}

// cleanUp removes what a submission does not need after its submit command. What
// cannot be removed now, Tidy removes later.
func (c *Controller) cleanUp(ctx context.Context, tag string, files []StagedFile) {
	if err := c.unstage(ctx, tag, temporary(files)); err != nil {
		c.log.Warn("files of a submission were left behind", "error", err)
	}
}

// Tidy removes the files that submissions to this target have left which were
// cut off: those of which the outcome is on record, and whose submit command must
// have ended. Submit does so, too, once for each controller.
func (c *Controller) Tidy(ctx context.Context) error {
	leftovers, err := c.store.Leftovers(ctx, c.target)
	if err != nil {
		return err
	}
	var problems []error
	for i, left := range leftovers {
		if !c.isOver(left.Job) {
			continue
		}
		// A later submission may have put a file of the same name in place.
		paths := slices.DeleteFunc(slices.Clone(left.Paths), func(name string) bool {
			return slices.ContainsFunc(leftovers[i+1:], func(later jobstore.Leftover) bool { return slices.Contains(later.Paths, name) })
		})
		if len(paths) == 0 {
			problems = append(problems, c.store.Unstaged(ctx, left.Job.Tag))
			continue
		}
		problems = append(problems, c.unstage(ctx, left.Job.Tag, paths))
	}
	return errors.Join(problems...)
}

// isOver reports whether nobody is at work on a submission any more.
func (c *Controller) isOver(job jobstore.Job) bool {
	decided := job.Phase != jobstore.Intended && job.Phase != jobstore.Unknown
	return decided && !isAlive(job.Submitter) && !c.now().Before(job.Created.Add(c.submitLimit()+settling))
}

// tidyOnce tidies up before the first submission of a controller.
func (c *Controller) tidyOnce(ctx context.Context) {
	c.tidy.Do(func() {
		if err := c.Tidy(ctx); err != nil {
			c.log.Info("files of earlier submissions are still there", "error", err)
		}
	})
}
