// Package directory lists directories of targets and of this host.
package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/remote"
)

// An Entry is one entry of a folder.
type Entry struct {
	Name   string
	Folder bool
}

const (
	listingTimeout  = 20 * time.Second
	maxListingBytes = 1 << 20
)

// List returns what is in a folder of a connection's place, folders first, each in the
// order of names; a relative folder is relative to the home directory there. Of a folder
// with names of more than a mebibyte in all it returns the first ones. A name with a line
// break comes apart. A folder that does not exist, or may not be read, is an error.
func List(ctx context.Context, connection remote.Connection, folder string) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, listingTimeout)
	defer cancel()
	if folder == "" {
		folder = "."
	}
	if !path.IsAbs(folder) {
		folder = "./" + folder // which a name that begins with "-" needs
	}
	names, complaint := execution.NewHead(maxListingBytes+1), execution.NewHead(1<<10)
	process, err := connection.Start(ctx, remote.Command{
		// POSIX: one name on a line, with those that begin with a dot, and a slash after folders.
		Arguments: []string{"ls", "-1Ap", folder}, Environment: map[string]string{"LC_ALL": "C"}, Stdout: names, Stderr: complaint,
	})
	if err == nil {
		var code int
		if code, err = process.Wait(); err == nil && code != 0 {
			err = errors.New(cmp.Or(strings.TrimSpace(complaint.String()), fmt.Sprintf("ls exited with code %d", code)))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, cmp.Or(ctx.Err(), err))
	}
	return listed(names.String()), nil
}

func listed(output string) []Entry {
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	if len(output) > maxListingBytes {
		lines = lines[:len(lines)-1] // the last one is cut off
	}
	var entries []Entry
	for _, line := range lines {
		if name := strings.TrimSuffix(line, "/"); name != "" {
			entries = append(entries, Entry{Name: name, Folder: name != line})
		}
	}
	sortEntries(entries)
	return entries
}

// sortEntries puts folders first, each in the order of names.
func sortEntries(entries []Entry) {
	sorting.Stable(entries, func(a, b Entry) int {
		if a.Folder != b.Folder {
			if a.Folder {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
}

// ListHere returns the content of a directory of this machine, in the order of [List].
func ListHere(folder string) ([]Entry, error) {
	found, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(found))
	for _, one := range found {
		entries = append(entries, Entry{Name: one.Name(), Folder: one.IsDir()})
	}
	sortEntries(entries)
	return entries, nil
}
