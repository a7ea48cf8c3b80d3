package openssh

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/internal/execution"
)

// makeRaw lets a terminal pass everything on as it is.
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

// echoes reports whether a terminal shows what is typed, which ssh switches off
// for what is secret.
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
		return false, fmt.Errorf("asking the terminal of ssh for its modes: %w", err)
	}
	return shown, nil
}
