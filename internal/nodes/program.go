// Package nodes puts rmctl-node on a target, and starts it there.
package nodes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rmctl/rmctl/remote"
)

// programName is the name of the program without a system.
const programName = "rmctl-node"

// programPackage is what the go command builds the program of.
const programPackage = "github.com/rmctl/rmctl/cmd/rmctl-node"

// A program is the build of rmctl-node for one system, on this machine.
type program struct {
	path string
	hash string // SHA-256 in hex
}

// A MissingProgramError reports that this installation has no rmctl-node for a system.
type MissingProgramError struct {
	System, Arch string // as Go names them
	Folders      []string
}

// Error names the program, where it was looked for, and how to get it.
func (e *MissingProgramError) Error() string {
	install := "go install " + programPackage + "@latest"
	if e.System != runtime.GOOS || e.Arch != runtime.GOARCH {
		install = fmt.Sprintf("GOOS=%s GOARCH=%s %s", e.System, e.Arch, install)
	}
	return fmt.Sprintf("%s-%s-%s is not in %s\nget it with: %s", programName, e.System, e.Arch, strings.Join(e.Folders, " or "), install)
}

// findProgram finds the program for a place, next to rmctl or under libexec.
func findProgram(executable string, place remote.Info) (*program, error) {
	system, arch, err := platformOf(place)
	if err != nil {
		return nil, err
	}
	missing := &MissingProgramError{System: system, Arch: arch}
	for _, folder := range programFolders(executable) {
		missing.Folders = append(missing.Folders, folder)
		for _, name := range programNames(system, arch) {
			found := filepath.Join(folder, name)
			hash, err := hashOf(found)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", programName, err)
			}
			return &program{path: found, hash: hash}, nil
		}
	}
	return nil, missing
}

// programFolders returns the folders that may have the program: those of the installation.
func programFolders(executable string) []string {
	if resolved, err := filepath.EvalSymlinks(executable); err == nil {
		executable = resolved
	}
	folder := filepath.Dir(executable)
	return []string{folder, filepath.Join(filepath.Dir(folder), "libexec", "rmctl")}
}

// programNames returns the names that the program for a system may have in a folder, those
// from go install last.
func programNames(system, arch string) []string {
	names := []string{fmt.Sprintf("%s-%s-%s", programName, system, arch)}
	if system == runtime.GOOS && arch == runtime.GOARCH {
		return append(names, programName)
	}
	return append(names, filepath.Join(system+"_"+arch, programName))
}

// architectures are the names that Go has for what uname -m prints.
var architectures = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}

// platformOf returns the names that Go has for the system of a place.
func platformOf(place remote.Info) (system, arch string, err error) {
	system, arch = place.System, architectures[place.Arch]
	if system != "linux" || arch == "" {
		return "", "", fmt.Errorf("%s does not run on %q with processor %q: only on linux with x86_64 or aarch64", programName, place.System, place.Arch)
	}
	return system, arch, nil
}

func hashOf(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() // nothing was written
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
