package channel

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/rmctl/rmctl/remote"
)

// describeFailure turns a report of shell.sh about a failed start into the error that
// remote.Connection.Start documents.
func describeFailure(report, directory, program string) error {
	kind, detail, _ := strings.Cut(report, " ")
	entering := func(err error) error {
		return fmt.Errorf("entering its directory: %w", &fs.PathError{Op: "chdir", Path: directory, Err: err})
	}
	switch kind {
	case "no-directory":
		return entering(syscall.ENOENT)
	case "not-directory":
		return entering(syscall.ENOTDIR)
	case "closed-directory":
		return entering(syscall.EACCES)
	case "no-file":
		return fmt.Errorf("%w: there is no file %q", remote.ErrCommandNotFound, program)
	case "no-program":
		return fmt.Errorf("%w in PATH %q", remote.ErrCommandNotFound, detail)
	case "no-interpreter":
		return fmt.Errorf("%w: the interpreter that %q names is missing", remote.ErrCommandNotFound, program)
	case "closed-program":
		return &fs.PathError{Op: "exec", Path: program, Err: syscall.EACCES}
	}
	return fmt.Errorf("the shell reports %q", report)
}
