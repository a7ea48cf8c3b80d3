package submission

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/rms"
)

// A StagedFile is a file to put in place before a submission.
type StagedFile struct {
	Name    string // of the attribute that gets the path
	Path    string // the destination of the file
	Content string
	Mode    fs.FileMode

	Source            string // a local file to remove once its content is in place
	DeleteAfterSubmit bool
	OwnFolder         bool // the folder holds nothing else
}

// StagedFiles returns the files of a submission with their contents: those of
// the definition's groups in order, and the script. It then gives the attribute of
// each file its path.
func (r *Resolver) StagedFiles(s job.Submission, scope config.Scope, tag string, unique func() string) ([]StagedFile, error) {
	files, err := r.managedFiles(scope, unique)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Definition.Script != nil:
		staged, err := r.stagedScript(s, scope, tag)
		if err != nil {
			return nil, err
		}
		files = append(files, staged)
	case s.Script != "":
		return nil, fmt.Errorf("%s does not submit scripts: --script is not supported", subject(r.Definition))
	}
	for _, file := range files {
		scope.Environment.SetVariable(file.Name, file.Path)
	}
	return files, nil
}

// managedFiles returns the files of the definition's groups.
func (r *Resolver) managedFiles(scope config.Scope, unique func() string) ([]StagedFile, error) {
	var files []StagedFile
	for _, group := range r.Definition.ManagedFiles {
		location, err := r.stagingLocation(group.StagingLocation, scope)
		if err != nil {
			return nil, err
		}
		for _, file := range group.Files {
			staged, err := r.stagedFile(file, location, scope, unique)
			if err != nil {
				return nil, fmt.Errorf("%s: managed file %q: %w", file.Position, file.Name, err)
			}
			files = append(files, staged)
		}
	}
	return files, nil
}

func (r *Resolver) stagingLocation(location config.Optional, scope config.Scope) (string, error) {
	if strings.TrimSpace(location.Text) == "" {
		return path.Join(r.Place.Home, settingsFolder), nil
	}
	resolved, err := scope.Environment.Resolve(strings.TrimSpace(location.Text), scope.Job)
	if err != nil {
		return "", fmt.Errorf("file-staging-location: %w", err)
	}
	return r.OnTarget(resolved), nil
}

// OnTarget makes a path absolute against the home directory on the target.
func (r *Resolver) OnTarget(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(r.Place.Home, name)
}

func (r *Resolver) stagedFile(file *config.File, location string, scope config.Scope, unique func() string) (StagedFile, error) {
	staged := StagedFile{Name: file.Name, Mode: 0o600, DeleteAfterSubmit: file.DeleteTargetAfterUse}
	if file.Mode != "" {
		mode, err := strconv.ParseUint(strings.TrimSpace(file.Mode), 8, 9)
		if err != nil {
			return staged, fmt.Errorf("invalid mode %q: use an octal number such as 0700", file.Mode)
		}
		staged.Mode = fs.FileMode(mode)
	}
	if file.Path.Set {
		source, err := scope.Environment.Resolve(file.Path.Text, scope.Job)
		if err != nil {
			return staged, err
		}
		if strings.TrimSpace(source) == "" {
			return staged, fmt.Errorf("empty path")
		}
		if staged.Content, err = r.sourceText(file, source); err != nil {
			return staged, fmt.Errorf("reading the source: %w", err)
		}
		staged.Path = path.Join(location, filepath.Base(source))
		if file.DeleteSourceAfterUse {
			staged.Source = source
		}
		return staged, nil
	}
	name, err := scope.Environment.Resolve(file.Name, scope.Job)
	if err != nil {
		return staged, err
	}
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return staged, fmt.Errorf("invalid file name %q", name)
	}
	if file.UniqueIDPrefix {
		name = unique() + name
	}
	staged.Path = path.Join(location, name)
	staged.Content, err = fileContent(file, scope)
	return staged, err
}

// sourceText returns what a managed file is copied from: a file on this machine, or one
// beside the definition, which is shipped with a shipped one.
func (r *Resolver) sourceText(file *config.File, source string) (string, error) {
	if !file.IsBeside {
		return readLocal(source)
	}
	if shipped, isShipped := rms.Beside(file.Position.File, r.Definition.SourceOf(file.Position), source); isShipped {
		return string(shipped), nil
	}
	return readLocal(filepath.Join(filepath.Dir(file.Position.File), source))
}

func fileContent(file *config.File, scope config.Scope) (string, error) {
	if !file.Contents.Set {
		var text strings.Builder
		for _, line := range file.Lines {
			resolved, err := scope.Line(line.Arguments)
			if err != nil {
				return "", err
			}
			if resolved != "" {
				text.WriteString(resolved)
				text.WriteByte('\n')
			}
		}
		return text.String(), nil
	}
	if file.ResolveContents {
		return scope.Environment.Resolve(file.Contents.Text, scope.Job)
	}
	// Unresolved contents that refer to an attribute are replaced by its text
	// as a whole, so that shell text in a value comes through unharmed.
	_, after, found := strings.Cut(file.Contents.Text, "${ptp_rm:")
	if !found {
		return file.Contents.Text, nil
	}
	name := after
	if end := strings.IndexAny(after, "#}"); end >= 0 {
		name = after[:end]
	}
	return scope.Environment.Text(name), nil
}

// stagedScript returns the job script: the user's own file under its own name, in a directory
// of this submission, so that equal names do not collide, or the generated one. Definitions do
// not quote the path, so the name is made one word. The tag in the path identifies the job,
// since schedulers show the path.
func (r *Resolver) stagedScript(s job.Submission, scope config.Scope, tag string) (StagedFile, error) {
	template := r.Definition.Script
	staged := StagedFile{Name: attributeStagedScript, Mode: 0o700, DeleteAfterSubmit: template.DeleteAfterSubmit}
	location, err := r.stagingLocation(template.StagingLocation, scope)
	if err != nil {
		return staged, err
	}
	if s.Script != "" {
		if staged.Content, err = readLocal(s.Script); err != nil {
			return staged, fmt.Errorf("reading the script: %w", err)
		}
		staged.Path = path.Join(location, tag, plainName(filepath.Base(s.Script)))
		staged.OwnFolder = true
		scope.Environment.SetVariable(AttributeScript, staged.Content)
		return staged, nil
	}
	if staged.Content, err = script(template, scope, s.Environment); err != nil {
		return staged, err
	}
	scope.Environment.SetVariable(AttributeScript, staged.Content)
	staged.Path = path.Join(location, tag+attributeStagedScript)
	return staged, nil
}

// maxLocalFileBytes bounds the files of this machine that are submitted: one may
// be a device that never ends.
const maxLocalFileBytes = 64 << 20

func readLocal(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxLocalFileBytes+1))
	if err == nil && len(content) > maxLocalFileBytes {
		err = fmt.Errorf("%q is larger than %d bytes", name, maxLocalFileBytes)
	}
	return string(content), errors.Join(err, file.Close())
}
