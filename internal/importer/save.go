package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/rmctl/rmctl/internal/settings"
)

// TargetsByName returns the targets as JSON and TOML have them.
func (r *Result) TargetsByName() map[string]Target {
	tables := map[string]Target{}
	for _, target := range r.Targets {
		tables[target.Name] = target
	}
	return tables
}

// TargetsText returns the targets as [Result.Save] adds them to targets.toml.
func (r *Result) TargetsText() (string, error) {
	text, err := toml.Marshal(map[string]any{"targets": r.TargetsByName()})
	if err != nil {
		return "", fmt.Errorf("writing targets: %w", err)
	}
	// The file may have the table of the others already.
	return strings.TrimPrefix(string(text), "[targets]\n"), nil
}

// Save writes the definitions, then the targets. Nothing is written where
// something of it exists, and nothing stays where something cannot be written.
func (r *Result) Save(ctx context.Context, folders settings.Folders) (err error) {
	folder := folders.User
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	if err := r.checkFree(folders); err != nil {
		return err
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, file := range r.Files {
		path := filepath.Join(folder, file.Name)
		if err := writeNew(path, file.Text); err != nil {
			return err
		}
		written = append(written, path)
	}
	var targets []settings.Target
	for _, target := range r.Targets {
		targets = append(targets, settings.Target{Name: target.Name, Definition: target.Definition, Transport: target.Transport, Host: target.Host, Attributes: target.Attributes, Environment: target.Environment})
	}
	if err := settings.AddTargets(ctx, folders, targets...); err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	return nil
}

// checkFree refuses a result if one of its targets or files exists in a directory.
func (r *Result) checkFree(folders settings.Folders) error {
	known, err := settings.LoadTargets(folders)
	if err != nil {
		return err
	}
	for _, target := range r.Targets {
		if there, err := known.Find(target.Name); err == nil && !there.Shipped {
			return fmt.Errorf("importing: target %q already exists in %s\nuse --name to choose another name", target.Name, filepath.Join(folders.User, settings.TargetsFile))
		}
	}
	for _, file := range r.Files {
		if _, err := os.Lstat(filepath.Join(folders.User, file.Name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("importing: %s already exists\nuse --name to choose another name", filepath.Join(folders.User, file.Name))
		}
	}
	return nil
}

func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("importing: writing %s: %w", path, err), os.Remove(path))
	}
	return nil
}
