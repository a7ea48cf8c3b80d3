package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// wrapperMark is the second line of a wrapper, which identifies it.
const wrapperMark = "# Starts an agent of rmctl; written by rmctl agent --install."

// Install writes a wrapper that starts the agent, since clients identify an agent by a single path. It
// replaces only wrappers that it wrote.
func Install(file string, o Options) error {
	rmctl, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding rmctl: %w", err)
	}
	words := append([]string{rmctl, "agent", "--target=" + o.Target}, o.Configuration...)
	if o.Old {
		words = append(words, "--states=2.x")
	}
	if o.AllowPlain {
		words = append(words, "--allow-plain")
	}
	if o.Trace != "" {
		trace, err := filepath.Abs(o.Trace)
		if err != nil {
			return fmt.Errorf("finding the trace: %w", err)
		}
		words = append(words, "--trace="+trace)
	}
	content := "#!/bin/sh\n" + wrapperMark + "\nexec " + shellescape.QuoteCommand(words) + " \"$@\"\n"
	if err := refuseOther(file); err != nil {
		return err
	}
	return replace(file, content)
}

// refuseOther returns an error if a file is not a wrapper.
func refuseOther(file string) error {
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("installing the agent: %w", err)
	case !strings.HasPrefix(string(before), "#!/bin/sh\n"+wrapperMark+"\n"):
		return fmt.Errorf("installing the agent: %s exists and was not written by rmctl", file)
	}
	return nil
}

// replace installs a program atomically. It does not follow symbolic links.
func replace(file, content string) (err error) {
	fresh, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("installing the agent: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("installing the agent: %w", err), os.Remove(fresh.Name()))
		}
	}()
	_, err = fresh.WriteString(content)
	if err = errors.Join(err, fresh.Chmod(0o700), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), file)
}
