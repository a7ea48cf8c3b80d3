package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/rms"
)

// LaunchFolder is the folder of saved submissions in the configuration folder.
const LaunchFolder = "launch"

const launchSuffix = ".toml"

// maxLaunchBytes bounds the file of a saved submission.
const maxLaunchBytes = 1 << 20

// A LaunchConfigurationExistsError means that a saved submission would be replaced.
type LaunchConfigurationExistsError struct{ Name, File string }

func (e *LaunchConfigurationExistsError) Error() string {
	return fmt.Sprintf("saved submission %q already exists: %s", e.Name, e.File)
}

// launchConfigurationFile returns the file of a saved submission in a configuration
// folder. The error is a *LaunchConfigurationNameError.
func launchConfigurationFile(folder, name string) (string, error) {
	if err := CheckLaunchConfigurationName(name); err != nil {
		return "", err
	}
	return filepath.Join(folder, LaunchFolder, name+launchSuffix), nil
}

// Save writes the file of the saved submission as a whole, readable by its owner only. It
// creates the configuration folder if needed. If the saved submission exists and replace
// is false, the error is a *LaunchConfigurationExistsError.
func (l *LaunchConfiguration) Save(folder string, replace bool) error {
	file, err := launchConfigurationFile(folder, l.Name)
	if err != nil {
		return err
	}
	text, err := l.TOML()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("saving submission %q: %w", l.Name, err)
	}
	move := moveNew
	if replace {
		move = os.Rename
	}
	err = writePrivately(file, text, move)
	if errors.Is(err, fs.ErrExist) {
		return &LaunchConfigurationExistsError{l.Name, file}
	}
	if err != nil {
		return fmt.Errorf("saving submission %q: %w", l.Name, err)
	}
	return nil
}

// ReplaceLaunchConfiguration replaces the text of the file of a saved submission, as a
// whole. The caller has checked the text with [ReadLaunchConfiguration].
func ReplaceLaunchConfiguration(folder, name string, text []byte) error {
	file, err := launchConfigurationFile(folder, name)
	if err != nil {
		return err
	}
	if err := writePrivately(file, text, os.Rename); err != nil {
		return fmt.Errorf("saving submission %q: %w", name, err)
	}
	return nil
}

// LoadLaunchConfiguration reads a saved submission of a configuration folder. Errors are
// *LaunchConfigurationNameError, *UnknownLaunchConfigurationError, or one or several joined
// *ConfigurationError.
func LoadLaunchConfiguration(folder, name string) (*LaunchConfiguration, error) {
	file, text, err := LaunchConfigurationText(folder, name)
	if err != nil {
		return nil, err
	}
	l, err := ReadLaunchConfiguration(name, file, text)
	if err == nil && rms.NamesFile(l.Definition) && !filepath.IsAbs(l.Definition) {
		l.Definition = filepath.Join(folder, l.Definition)
	}
	return l, err
}

// ListLaunchConfigurations returns all saved submissions of a configuration folder,
// sorted by name. One that cannot be read has a Problem.
func ListLaunchConfigurations(folder string) ([]*LaunchConfiguration, error) {
	names, err := LaunchConfigurationNames(folder)
	if err != nil {
		return nil, err
	}
	all := make([]*LaunchConfiguration, 0, len(names))
	for _, name := range names {
		l, err := LoadLaunchConfiguration(folder, name)
		if err != nil {
			l = &LaunchConfiguration{Name: name, Problem: err.Error()}
		}
		all = append(all, l)
	}
	return all, nil
}

// LaunchConfigurationText returns the file of a saved submission and its text, which may
// be invalid. Errors are those of LoadLaunchConfiguration.
func LaunchConfigurationText(folder, name string) (file string, text []byte, err error) {
	if file, err = launchConfigurationFile(folder, name); err != nil {
		return "", nil, err
	}
	text, err = ReadFile(file, maxLaunchBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil, unknownLaunchConfiguration(folder, name)
	}
	return file, text, err
}

func unknownLaunchConfiguration(folder, name string) error {
	known, err := LaunchConfigurationNames(folder)
	if err != nil {
		return err
	}
	return &UnknownLaunchConfigurationError{name, known}
}

// LaunchConfigurationNames returns the names of all saved submissions of a configuration
// folder, sorted, also of invalid ones.
func LaunchConfigurationNames(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder, LaunchFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing saved submissions: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name, isTOML := strings.CutSuffix(entry.Name(), launchSuffix)
		if isTOML && !entry.IsDir() && CheckLaunchConfigurationName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// RemoveLaunchConfiguration removes a saved submission, even an invalid one. Errors are
// those of LoadLaunchConfiguration.
func RemoveLaunchConfiguration(folder, name string) error {
	file, err := launchConfigurationFile(folder, name)
	if err != nil {
		return err
	}
	err = os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return unknownLaunchConfiguration(folder, name)
	}
	if err != nil {
		return fmt.Errorf("removing saved submission %q: %w", name, err)
	}
	return nil
}
