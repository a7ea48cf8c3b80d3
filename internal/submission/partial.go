package submission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// RemovePartial removes partial files that killed processes left in the folders of some
// files of a place.
func RemovePartial(ctx context.Context, connection remote.Connection, written []string) error {
	folders := map[string][]string{}
	for _, file := range written {
		folders[path.Dir(file)] = append(folders[path.Dir(file)], file)
	}
	var problems []error
	for folder, paths := range folders {
		if _, err := connection.Stat(ctx, folder); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		entries, err := directory.List(ctx, connection, folder)
		problems = append(problems, err)
		for _, entry := range entries {
			isPartial := func(name string) bool { return files.IsPartialOf(entry.Name, name) }
			if !entry.Folder && slices.ContainsFunc(paths, isPartial) {
				problems = append(problems, Remove(ctx, connection, path.Join(folder, entry.Name)))
			}
		}
	}
	return errors.Join(problems...)
}

// Remove removes a file of a place, which may not exist.
func Remove(ctx context.Context, connection remote.Connection, name string) error {
	if err := connection.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %q: %w", name, err)
	}
	return nil
}
