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

// fallbackEditor is the editor of POSIX.
const fallbackEditor = "vi"

func newConfigEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Edit a launch configuration",
		Long: `edit opens a copy of a launch configuration in the editor of $VISUAL or $EDITOR, and
saves the copy if it is valid. Otherwise the launch configuration does not change, and
the next edit continues with the copy.`,
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
	// Names of launch configurations do not begin with a dot.
	draft := filepath.Join(filepath.Dir(file), ".edited-"+filepath.Base(file))
	if err := a.createDraft(draft, old); err != nil {
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
		editorErr = a.saveEdited(ctx, configuration, name, draft, edited, old)
	}
	if editorErr != nil {
		return fmt.Errorf("%w\nthe launch configuration %q is as it was; rmctl config edit %s goes on with what you wrote", editorErr, name, name)
	}
	return removeDraft(draft)
}

// saveEdited replaces a launch configuration by an edited copy, unless that is invalid or the
// launch configuration has changed in the meantime.
func (a *app) saveEdited(ctx context.Context, configuration, name, draft string, edited, old []byte) error {
	if _, err := settings.ReadLaunchConfiguration(name, draft, edited); err != nil {
		return err
	}
	file, now, err := a.launchConfigurationText(name)
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

// createDraft creates the copy to edit, unless there is one from an earlier edit.
func (a *app) createDraft(draft string, text []byte) error {
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

// runEditor runs the user's editor on a file. The variable may contain arguments; no shell
// interprets it.
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
