// Package jobdirectory keeps the files of one job on its host: its secret, and the reports on its
// processes.
package jobdirectory

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rmctl/rmctl/internal/files"
)

const (
	secretFile = "secret"
	// secretBytes is the length of a secret; the file has it in hex.
	secretBytes = 32
	// oldAfter is the age at which the directory of a job is removed if rmctl has not removed it.
	oldAfter = 30 * 24 * time.Hour
	// programPrefix is the start of the names of rmctl-node of all releases.
	programPrefix = "rmctl-node-"
	// programsOldAfter is how long an unused program is kept. No job runs longer.
	programsOldAfter = 180 * 24 * time.Hour
)

// Prepare creates the directory of a job with a new secret unless it exists. It removes directories of
// other jobs that have not changed for a month, and programs of other releases that were not used for
// half a year. Program is the one in use.
func Prepare(job, program string, now time.Time) error {
	jobs := filepath.Dir(job)
	node := filepath.Dir(jobs)
	for _, folder := range []string{node, jobs, job} {
		if err := makePrivate(folder); err != nil {
			return err
		}
	}
	removeOld(jobs, filepath.Base(job), now)
	_ = os.Chtimes(program, now, now) // otherwise it is removed too early, and staged again
	removeOldPrograms(node, now)
	return makeSecret(filepath.Join(job, secretFile))
}

// makePrivate makes a directory that only this user can use.
func makePrivate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is not a directory", folder)
	}
	if err := files.RefuseForeign(folder); err != nil {
		return err
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(folder, 0o700)
	}
	return nil
}

func makeSecret(name string) error {
	if info, err := os.Lstat(name); err == nil {
		if !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || info.Size() != 2*secretBytes {
			return fmt.Errorf("%q is not a secret of rmctl", name)
		}
		return nil
	}
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	return writeWhole(name, []byte(hex.EncodeToString(secret)))
}

// writeWhole writes a file atomically.
func writeWhole(name string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".part-*") // private to the owner
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error above is more useful
	}
	return err
}

// removeOld removes old directories of jobs. If that fails, the next job tries again.
func removeOld(jobs, except string, now time.Time) {
	entries, err := os.ReadDir(jobs)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := filepath.Join(jobs, entry.Name())
		if entry.IsDir() && entry.Name() != except && now.Sub(lastChange(name)) > oldAfter {
			_ = os.RemoveAll(name)
		}
	}
}

// removeOldPrograms removes programs that were not used for long.
func removeOldPrograms(node string, now time.Time) {
	programs, _ := filepath.Glob(filepath.Join(node, programPrefix+"*")) // the pattern is valid
	for _, name := range programs {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > programsOldAfter {
			_ = os.Remove(name) // otherwise the next job tries again
		}
	}
}

// lastChange returns when a file was last added to the directory of a job or replaced in it.
func lastChange(job string) time.Time {
	var latest time.Time
	for _, name := range []string{job, filepath.Join(job, processesFolder)} {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return time.Now() // it may be in use
		}
		if info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return latest
}
