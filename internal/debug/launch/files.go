package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// prepareFiles copies the program if that is requested, and refuses paths that the target does not have.
func prepareFiles(ctx context.Context, target Target, request *Request) error {
	if request.Copy != "" {
		program, err := CopyProgram(ctx, target, request.Copy, request.Submission)
		if err != nil {
			return err
		}
		request.Submission.Executable = program
	}
	program := request.Submission.Executable
	if strings.Contains(program, "/") {
		if err := checkExecutable(ctx, target.Controller.Connection, "program", inDirectory(target.Controller.Connection, request.Submission.Directory, program)); err != nil {
			return err
		}
	}
	if _, where := debuggerOf(request.Debugger); where != "" {
		return checkExecutable(ctx, target.Controller.Connection, "debugger", where)
	}
	return nil
}

// inDirectory returns the absolute path of a file of a job.
func inDirectory(connection remote.Connection, directory, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	if !path.IsAbs(directory) {
		directory = path.Join(connection.Info().Home, directory)
	}
	return path.Join(directory, name)
}

// checkExecutable refuses a path of the target that is not that of an executable file.
func checkExecutable(ctx context.Context, connection remote.Connection, what, name string) error {
	info, err := connection.Stat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the %s does not exist on the target: %s", what, name)
	case err != nil:
		return fmt.Errorf("looking for the %s on the target: %w", what, err)
	case info.IsDir():
		return fmt.Errorf("the %s is a directory: %s", what, name)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("the %s is not executable: %s", what, name)
	}
	return nil
}

// debuggerOf takes the name of a debugger apart: its kind and the path on the target, empty for the usual one.
func debuggerOf(name string) (kind, where string) {
	switch name {
	case "", server.GDB:
		return server.GDB, ""
	case server.LLDB, server.DLV:
		return name, ""
	}
	kind = server.GDB
	switch base := path.Base(name); {
	case strings.HasPrefix(base, "lldb"):
		kind = server.LLDB
	case strings.HasPrefix(base, "dlv"):
		kind = server.DLV
	}
	return kind, name
}

// CopyProgram copies a file of this machine to the path of the program of a submission, unless the file there has the same
// size and hash. It returns the absolute path. A program without a directory gets that of the job.
func CopyProgram(ctx context.Context, target Target, local string, submission job.Submission) (name string, err error) {
	name = inDirectory(target.Controller.Connection, submission.Directory, submission.Executable)
	if err := copyTo(ctx, target, local, name); err != nil {
		return "", fmt.Errorf("copying the program: %w", err)
	}
	return name, nil
}

func copyTo(ctx context.Context, target Target, local, name string) error {
	file, err := os.Open(local)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", local)
	}
	if err == nil && info.Mode().Perm()&0o111 == 0 {
		err = fmt.Errorf("%s is not executable", local)
	}
	if err != nil {
		return err
	}
	isSame, err := isSame(ctx, target, file, info.Size(), name)
	if err != nil || isSame {
		return err
	}
	if err := target.Controller.Connection.WriteFile(ctx, name, file, info.Mode().Perm()|0o700); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	target.Log.Info("copied the program", "from", filepath.Base(local), "to", name, "bytes", info.Size())
	return nil
}

// isSame reports whether a file of the target has the size and the hash of a local one, which is read from its beginning
// afterwards.
func isSame(ctx context.Context, target Target, file *os.File, size int64, name string) (bool, error) {
	there, err := target.Controller.Connection.Stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for it on the target: %w", err)
	}
	if there.IsDir() {
		return false, fmt.Errorf("%s is a directory on the target", name)
	}
	if there.Size() != size || there.Mode().Perm()&0o100 == 0 {
		return false, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	hash, err := target.Nodes.Hash(ctx, name)
	if err != nil {
		return false, fmt.Errorf("reading its hash on the target: %w", err)
	}
	return hash == hex.EncodeToString(sum.Sum(nil)), nil
}
