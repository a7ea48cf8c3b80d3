package openssh

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/internal/execution"
)

// makeRaw makes a terminal pass everything on unchanged.
func makeRaw(terminal *os.File) error {
	err := execution.Control(terminal, func(descriptor int) error {
		_, err := term.MakeRaw(descriptor)
		return err
	})
	if err != nil {
		return fmt.Errorf("setting the modes of the terminal of ssh: %w", err)
	}
	return nil
}

// echoes reports whether a terminal echoes input, which ssh switches off for secrets.
func echoes(terminal *os.File) (bool, error) {
	shown := false
	err := execution.Control(terminal, func(descriptor int) error {
		modes, err := unix.IoctlGetTermios(descriptor, getTerminalModes)
		if err == nil {
			shown = modes.Lflag&unix.ECHO != 0
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("reading the modes of the terminal of ssh: %w", err)
	}
	return shown, nil
}
