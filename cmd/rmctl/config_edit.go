package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/settings"
)

// fallbackEditor is what POSIX has where the user chose no editor.
const fallbackEditor = "vi"

func newConfigEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Edit a launch configuration",
		Long: `edit opens a copy of a launch configuration in the editor that $VISUAL or else
$EDITOR names, and takes it over if nothing is wrong with it. Otherwise the old
one stays as it was, and the copy is kept to go on with.`,
		Example:           "  rmctl config edit nightly\n  EDITOR='code --wait' rmctl config edit nightly",
		Args:              exactly(1, "a name"),
		ValidArgsFunction: a.completeLaunchConfigurations,
		RunE: func(c *cobra.Command, arguments []string) error {
			return a.editLaunchConfiguration(c.Context(), arguments[0])
		},
	}
}

func (a *app) editLaunchConfiguration(ctx context.Context, name string) error {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return err
	}
	file, old, err := settings.LaunchConfigurationText(configuration, name)
	if err != nil {
		return err
	}
	// No launch configuration has a name that begins with a dot.
	draft := filepath.Join(filepath.Dir(file), ".edited-"+filepath.Base(file))
	if err := a.beginDraft(draft, old); err != nil {
		return fmt.Errorf("editing launch configuration %q: %w", name, err)
	}
	editorErr := a.runEditor(ctx, draft)
	edited, err := os.ReadFile(draft)
	if err != nil {
		return errors.Join(editorErr, fmt.Errorf("editing launch configuration %q: %w", name, err))
	}
	if bytes.Equal(edited, old) {
		if editorErr == nil {
			a.say("the launch configuration %q was not changed", name)
		}
		return errors.Join(editorErr, removeDraft(draft))
	}
	if editorErr == nil {
		editorErr = a.takeOver(ctx, configuration, name, draft, edited, old)
	}
	if editorErr != nil {
		return fmt.Errorf("%w\nthe launch configuration %q is as it was; rmctl config edit %s goes on with what you wrote", editorErr, name, name)
	}
	return removeDraft(draft)
}

// takeOver replaces a launch configuration by what was edited, unless something
// is wrong with that, or the old one has changed in the meantime.
func (a *app) takeOver(ctx context.Context, configuration, name, draft string, edited, old []byte) error {
	if _, err := settings.ReadLaunchConfiguration(name, draft, edited); err != nil {
		return err
	}
	file, now, err := settings.LaunchConfigurationText(configuration, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return fmt.Errorf("%s has changed while it was edited", file)
	}
	if err := settings.ReplaceLaunchConfiguration(configuration, name, edited); err != nil {
		return err
	}
	l, err := settings.LoadLaunchConfiguration(configuration, name)
	if err != nil {
		return err
	}
	if err := a.warnOfValues(ctx, l); err != nil {
		a.say("warning: %v", err)
	}
	return nil
}

// beginDraft makes the copy that is edited. One that was left behind is gone on with.
func (a *app) beginDraft(draft string, text []byte) error {
	created, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		a.say("going on with %s; remove it to begin anew", draft)
		return nil
	}
	if err != nil {
		return err
	}
	_, err = created.Write(text)
	return errors.Join(err, created.Close())
}

func removeDraft(draft string) error {
	if err := os.Remove(draft); err != nil {
		return fmt.Errorf("removing the copy that was edited: %w", err)
	}
	return nil
}

// runEditor runs the user's editor on a file. Its name may have arguments behind
// it; no shell reads it.
func (a *app) runEditor(ctx context.Context, file string) error {
	words := attribute.Words(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), fallbackEditor))
	if len(words) == 0 {
		words = []string{fallbackEditor}
	}
	ctx, stop := a.attached(ctx)
	defer stop()
	editor := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	editor.Stdin, editor.Stdout, editor.Stderr = a.stdin, a.stdout, a.stderr
	if err := editor.Run(); err != nil {
		return fmt.Errorf("running the editor %q, which $VISUAL and $EDITOR choose: %w", words[0], err)
	}
	return nil
}
