package launch

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
	"github.com/rmctl/rmctl/internal/web/listing"
)

// maxListed bounds how many entries of a folder a page shows.
const maxListed = 2000

// The inputs of the page itself that paths can be chosen for. IDs of fields are
// numbers.
const (
	PathDirectory = "directory"
	PathScript    = "script"
)

// A Folder is a folder that a path is chosen from.
type Folder struct {
	Label   string // of the field
	Path    string
	Here    string // does choose the folder itself; empty where files are looked for
	Up      string // does look at the folder above; empty for the root
	Entries []FolderEntry
	Left    int // entries that are not shown
}

// A FolderEntry is one entry of a folder.
type FolderEntry struct {
	Name   string
	Folder bool
	Do     string // looks at a folder, or chooses a file; empty for a file where folders are looked for
}

// A chosenPath is what a path is chosen for.
type chosenPath struct {
	label, text string
	wantsFolder bool
	isLocal     bool // on the machine that rmctl runs on, not on the target
	isURI       bool
}

// pathOf returns what the path of a field, or of an input of the page, is like.
func (l *Tab) pathOf(id string) (chosenPath, error) {
	switch id {
	case PathDirectory:
		return chosenPath{label: "Directory", text: l.State.Directory + "/.", wantsFolder: true}, nil
	case PathScript:
		return chosenPath{label: "Script", text: l.State.Script, isLocal: true}, nil
	}
	field, found := l.Form.Field(id)
	if !found || field.Kind != form.Path || field.Fixed {
		return chosenPath{}, fmt.Errorf("the form has no path field %.100q", id)
	}
	browse := field.Browse()
	return chosenPath{label: field.Label, text: field.Text, wantsFolder: browse.Directory, isLocal: browse.LocalOnly, isURI: browse.URI}, nil
}

// Browse lists a folder for a path: the one named, else where the path is, else
// where the job is to run.
func (l *Tab) Browse(ctx context.Context, id string, folder []string) (*Folder, error) {
	wanted, err := l.pathOf(id)
	if err != nil {
		return nil, err
	}
	listed := &Folder{Label: wanted.label, Path: l.firstFolder(wanted)}
	if len(folder) > 0 {
		listed.Path = folder[0]
	}
	entries, err := l.listFolder(ctx, wanted, listed.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot list the folder: %w", err)
	}
	listed.Path = path.Clean(listed.Path)
	do := func(words ...string) string { return AsText(words) }
	if wanted.wantsFolder {
		listed.Here = do("choose", id, listed.Path)
	}
	if listed.Path != "/" {
		listed.Up = do("browse", id, path.Join(listed.Path, ".."))
	}
	for _, one := range entries[:min(len(entries), maxListed)] {
		entry := FolderEntry{Name: listing.Fact(one.Name), Folder: one.Folder}
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
func (l *Tab) firstFolder(wanted chosenPath) string {
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
func (l *Tab) listFolder(ctx context.Context, wanted chosenPath, folder string) ([]directory.Entry, error) {
	if !path.IsAbs(folder) {
		return nil, fmt.Errorf("%q is not an absolute path", folder)
	}
	if !wanted.isLocal {
		return l.Controller.List(ctx, folder)
	}
	return directory.ListHere(folder)
}

// ChoosePath takes a path that was chosen.
func (l *Tab) ChoosePath(ctx context.Context, id, chosen string) error {
	wanted, err := l.pathOf(id)
	if err != nil {
		return err
	}
	if wanted.isURI {
		chosen = (&url.URL{Scheme: "file", Path: chosen}).String()
	}
	switch id {
	case PathDirectory:
		l.State.Directory, l.Base.Directory = chosen, chosen
		delete(l.Problems, id)
		return nil
	case PathScript:
		if err := CheckScript(chosen); err != nil {
			return err
		}
		l.State.Script, l.Base.Script = chosen, chosen
		delete(l.Problems, id)
		return nil
	}
	l.State.Apply(l.Form, Edit{Input: ValueInput + id, Text: chosen}, l.Stat(ctx))
	return nil
}
