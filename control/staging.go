package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// stage writes files and reports their progress, unless onProgress is nil. With an error
// it returns those that may be there.
func stage(ctx context.Context, connection remote.Connection, files []submission.StagedFile, onProgress func(remote.Transfer)) ([]submission.StagedFile, error) {
	for i, file := range files {
		err := connection.MkdirAll(ctx, path.Dir(file.Path), 0o700)
		if err == nil {
			content, done := staging(file, onProgress)
			err = connection.WriteFile(ctx, file.Path, content, file.Mode)
			done()
		}
		if err == nil && file.Source != "" {
			err = os.Remove(file.Source)
		}
		if err != nil {
			return files[:i+1], fmt.Errorf("staging %q: %w", file.Path, err)
		}
	}
	return files, nil
}

// recordOf returns what is recorded of files, and of the folders made for them, before they
// are staged, so that none is left behind.
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
			problems = append(problems, c.removeFile(ctx, file.Path))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return c.store.Unstaged(ctx, tag)
}

func (c *submitter) removeFile(ctx context.Context, name string) error {
	if err := c.connection.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %q: %w", name, err)
	}
	return nil
}

// cleanUp removes what a submission does not need after its submit command. If that fails,
// Tidy removes it later.
func (c *submitter) cleanUp(ctx context.Context, tag string, files []submission.StagedFile) {
	if err := c.unstage(ctx, tag, recordOf(files)); err != nil {
		c.log.Warn("files of a submission were left behind", "error", err)
	}
}

// cleanUpPartial also removes what is left of a file that could not be written completely.
func (c *submitter) cleanUpPartial(ctx context.Context, tag string, files []submission.StagedFile) {
	err := c.removePartial(ctx, recordOf(files))
	if err == nil {
		err = c.unstage(ctx, tag, recordOf(files))
	}
	if err != nil {
		c.log.Warn("files of a submission were left behind", "error", err)
	}
}

// removePartial removes what processes that were killed while writing some files have left
// in the folders of these.
func (c *submitter) removePartial(ctx context.Context, staged []jobstore.Staged) error {
	folders := map[string][]string{}
	for _, file := range staged {
		folders[path.Dir(file.Path)] = append(folders[path.Dir(file.Path)], file.Path)
	}
	var problems []error
	for folder, paths := range folders {
		if _, err := c.connection.Stat(ctx, folder); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		entries, err := directory.List(ctx, c.connection, folder)
		problems = append(problems, err)
		for _, entry := range entries {
			isPartial := func(name string) bool { return files.IsPartialOf(entry.Name, name) }
			if !entry.Folder && slices.ContainsFunc(paths, isPartial) {
				problems = append(problems, c.removeFile(ctx, path.Join(folder, entry.Name)))
			}
		}
	}
	return errors.Join(problems...)
}

// Tidy removes the files that were left on this target by submissions that were cut
// off: those whose outcome is on record, and whose submit command must have ended.
// Submit calls it once for each controller.
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
			c.log.Info("files of earlier submissions are still there", "error", err)
		}
	})
}

// staging returns what WriteFile is to read of a file, and a function to call
// when that has ended.
func staging(file submission.StagedFile, onProgress func(remote.Transfer)) (content io.Reader, done func()) {
	content = strings.NewReader(file.Content)
	if onProgress == nil {
		return content, func() {}
	}
	counted := &countedContent{content: content, onProgress: onProgress, progress: remote.Transfer{Path: file.Path, Size: int64(len(file.Content))}}
	return counted, func() {
		counted.progress.Done = true
		onProgress(counted.progress)
	}
}

// A countedContent reports how much of a content was read. WriteFile reads it on one
// goroutine at a time, and not any more once it has returned.
type countedContent struct {
	content    io.Reader
	onProgress func(remote.Transfer)
	progress   remote.Transfer
}

// Read reads a part of the content.
func (c *countedContent) Read(p []byte) (int, error) {
	n, err := c.content.Read(p)
	if n > 0 {
		c.progress.Sent += int64(n)
		c.onProgress(c.progress)
	}
	return n, err
}
