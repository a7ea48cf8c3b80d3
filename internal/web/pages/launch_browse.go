package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/web/listing"
)

// maxLaunchListed bounds how many entries of a folder a page shows.
const maxLaunchListed = 2000

// The inputs of the page itself that paths can be chosen for. IDs of fields are
// numbers.
const (
	launchDirectory = "directory"
	launchScript    = "script"
)

// A launchFolder is a folder that a path is chosen from.
type launchFolder struct {
	Label   string // of the field
	Path    string
	Here    string // does choose the folder itself; empty where files are looked for
	Up      string // does look at the folder above; empty for the root
	Entries []launchEntry
	Left    int // entries that are not shown
}

// A launchEntry is one entry of a folder.
type launchEntry struct {
	Name   string
	Folder bool
	Do     string // looks at a folder, or chooses a file; empty for a file where folders are looked for
}

// A launchPath is what a path is chosen for.
type launchPath struct {
	label, text string
	wantsFolder bool
	isLocal     bool // on the machine that rmctl runs on, not on the target
	isURI       bool
}

// pathOf returns what the path of a field, or of an input of the page, is like.
func pathOf(l *launch.Tab, id string) (launchPath, error) {
	switch id {
	case launchDirectory:
		return launchPath{label: "Directory", text: l.State.Directory + "/.", wantsFolder: true}, nil
	case launchScript:
		return launchPath{label: "Script", text: l.State.Script, isLocal: true}, nil
	}
	field, found := l.Form.Field(id)
	if !found || field.Kind != form.Path || field.Fixed {
		return launchPath{}, fmt.Errorf("the form has no path %.100q to choose", id)
	}
	browse := field.Browse()
	return launchPath{label: field.Label, text: field.Text, wantsFolder: browse.Directory, isLocal: browse.LocalOnly, isURI: browse.URI}, nil
}

// browse lists a folder for a path: the one named, else where the path is, else
// where the job is to run.
func browse(l *launch.Tab, ctx context.Context, id string, folder []string) (*launchFolder, error) {
	wanted, err := pathOf(l, id)
	if err != nil {
		return nil, err
	}
	listed := &launchFolder{Label: wanted.label, Path: firstFolder(l, wanted)}
	if len(folder) > 0 {
		listed.Path = folder[0]
	}
	entries, err := listFolder(l, ctx, wanted, listed.Path)
	if err != nil {
		return nil, fmt.Errorf("the folder cannot be shown: %w", err)
	}
	listed.Path = path.Clean(listed.Path)
	do := func(words ...string) string { return launch.AsText(words) }
	if wanted.wantsFolder {
		listed.Here = do("choose", id, listed.Path)
	}
	if listed.Path != "/" {
		listed.Up = do("browse", id, path.Join(listed.Path, ".."))
	}
	for _, one := range entries[:min(len(entries), maxLaunchListed)] {
		entry := launchEntry{Name: listing.Fact(one.Name), Folder: one.Folder}
		switch whole := path.Join(listed.Path, one.Name); {
		case one.Folder:
			entry.Do = do("browse", id, whole)
		case !wanted.wantsFolder:
			entry.Do = do("choose", id, whole)
		}
		listed.Entries = append(listed.Entries, entry)
	}
	listed.Left = len(entries) - len(listed.Entries)
	listed.Path = listing.Fact(listed.Path)
	return listed, nil
}

// firstFolder is where a path is looked for at first, always from the root on.
func firstFolder(l *launch.Tab, wanted launchPath) string {
	text := strings.TrimPrefix(wanted.text, "file://")
	switch {
	case path.IsAbs(text) && !strings.Contains(text, "${"):
		return path.Dir(text)
	case wanted.isLocal:
		if home, err := os.UserHomeDir(); err == nil {
			return home
		}
	case path.IsAbs(l.State.Directory):
		return l.State.Directory
	}
	return cmp.Or(l.Home(), "/")
}

// listFolder returns what is in a folder, of the target unless the path wants this
// machine's.
func listFolder(l *launch.Tab, ctx context.Context, wanted launchPath, folder string) ([]directory.Entry, error) {
	if !path.IsAbs(folder) {
		return nil, fmt.Errorf("%q is not a whole path", folder)
	}
	if !wanted.isLocal {
		return l.Controller.List(ctx, folder)
	}
	return directory.ListHere(folder)
}

// choose takes a path that was chosen.
func choosePath(l *launch.Tab, ctx context.Context, id, chosen string) error {
	wanted, err := pathOf(l, id)
	if err != nil {
		return err
	}
	if wanted.isURI {
		chosen = (&url.URL{Scheme: "file", Path: chosen}).String()
	}
	switch id {
	case launchDirectory:
		l.State.Directory, l.Base.Directory = chosen, chosen
		delete(l.Problems, id)
		return nil
	case launchScript:
		if err := launch.CheckScript(chosen); err != nil {
			return err
		}
		l.State.Script, l.Base.Script = chosen, chosen
		delete(l.Problems, id)
		return nil
	}
	l.State.Apply(l.Form, launch.Edit{Input: launch.ValueInput + id, Text: chosen}, l.Stat(ctx))
	return nil
}

// launchBrowsedInput returns the id of the element of the input that a path is
// chosen for.
func launchBrowsedInput(id string) string {
	if id == launchDirectory || id == launchScript {
		return "own-" + id
	}
	return "f-" + domOf(id)
}
