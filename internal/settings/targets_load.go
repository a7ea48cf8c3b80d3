package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/rms"
)

// LoadTargets returns the shipped targets, those of the file for all users of this machine,
// and those of the user's file. The user's file changes settings that the other file does not
// lock. Errors are *ConfigurationError.
func LoadTargets(folders Folders) (*Targets, error) {
	file := filepath.Join(folders.User, TargetsFile)
	text, err := readTargetsFile(file)
	if err != nil {
		return nil, err
	}
	if text != nil {
		for _, path := range []string{file, folders.User} {
			const hint = "every user can write to %[1]s, and so run commands as you; run chmod o-w %[1]s"
			if err := refuseWritable(file, path, 0o002, hint); err != nil {
				return nil, err
			}
		}
	}
	return loadTargets(folders, text)
}

// loadTargets returns the targets for a given text of the user's file.
func loadTargets(folders Folders, text []byte) (*Targets, error) {
	user, err := parseTargets(filepath.Join(folders.User, TargetsFile), text)
	if err != nil {
		return nil, err
	}
	if len(user.Locked) > 0 {
		return nil, &ConfigurationError{File: user.file, Reason: "locked is only allowed in the file for all users"}
	}
	site, err := readSite(folders.Site)
	if err != nil {
		return nil, err
	}
	targets := shippedTargets()
	targets.site, targets.user = site, user
	for _, text := range []*targetsText{site, user} {
		if err := targets.add(text); err != nil {
			return nil, err
		}
	}
	targets.limitAll()
	return targets, nil
}

// maxTargetsBytes bounds a targets file.
const maxTargetsBytes = 4 << 20

// readTargetsFile returns the text of a targets file, empty if there is no file.
func readTargetsFile(file string) ([]byte, error) {
	text, err := ReadFile(file, maxTargetsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if len(text) > maxTargetsBytes {
		return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("larger than %d bytes", maxTargetsBytes)}
	}
	return text, err
}

// shippedTargets returns the targets without a targets file.
func shippedTargets() *Targets {
	targets := &Targets{Default: defaultTarget, Background: true, all: map[string]Target{}, siteHas: map[string]Target{}}
	for _, name := range rms.Names() {
		targets.all[name] = Target{Name: name, Definition: name, Transport: TransportLocal, Shipped: true}
	}
	return targets
}

// A targetsText holds the settings of a targets file.
type targetsText struct {
	Default    string            `toml:"default"`
	Background *bool             `toml:"background"`
	Locked     []string          `toml:"locked"`
	Targets    map[string]Target `toml:"targets"`
	Limits
	file   string
	text   []byte
	origin Origin
}

// parseTargets parses the text of a targets file. Paths in it become absolute.
func parseTargets(file string, text []byte) (*targetsText, error) {
	parsed := &targetsText{file: file, text: text, origin: OriginUser}
	decoder := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := decoder.Decode(parsed); err != nil {
		return nil, configurationError(file, err)
	}
	if err := parsed.Limits.check(); err != nil {
		return nil, &ConfigurationError{File: file, Reason: err.Error(), Err: err}
	}
	for name, target := range parsed.Targets {
		if setting, err := target.checkAgent(); err != nil {
			return nil, targetErrorAt(parsed, name, setting, err)
		}
		err := cmp.Or(target.Limits.check(), target.checkEnvironment(), target.checkNodes())
		if err == nil {
			err = target.completePaths(filepath.Dir(file))
		}
		if err != nil {
			return nil, targetError(file, name, err)
		}
		parsed.Targets[name] = target
	}
	return parsed, nil
}

func targetError(file, name string, err error) error {
	return &ConfigurationError{File: file, Reason: fmt.Sprintf("target %q: %v", name, err), Err: err}
}

// completePaths makes the paths of a target absolute.
func (t *Target) completePaths(folder string) error {
	if rms.NamesFile(t.Definition) && !filepath.IsAbs(t.Definition) {
		t.Definition = filepath.Join(folder, t.Definition)
	}
	if rest, below := strings.CutPrefix(t.SSHConfig, "~/"); below {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("finding the home directory for ssh_config: %w", err)
		}
		t.SSHConfig = filepath.Join(home, rest)
	}
	if t.SSHConfig != "" && !filepath.IsAbs(t.SSHConfig) {
		t.SSHConfig = filepath.Join(folder, t.SSHConfig)
	}
	return nil
}

// add adds the settings of a file to those of earlier files.
func (t *Targets) add(text *targetsText) error {
	for _, name := range slices.Sorted(maps.Keys(text.Targets)) {
		given := text.Targets[name]
		if text.origin == OriginUser {
			given = t.withoutLocked(name, given)
		}
		target := t.all[name].changedBy(given)
		target.Name, target.From = name, append(slices.Clip(target.From), text.origin)
		if setting, err := target.checkComplete(); err != nil {
			return targetErrorAt(text, name, setting, err)
		}
		if err := target.checkConnection(); err != nil {
			return targetError(text.file, name, err)
		}
		t.all[name] = target
		if text.origin == OriginSite {
			t.siteHas[name] = target
		}
	}
	isRefused := func(setting string) bool { return text.origin == OriginUser && t.isLocked(setting) }
	switch {
	case text.Background == nil || *text.Background == t.Background:
	case isRefused(settingBackground):
		t.refuse("", settingBackground)
	default:
		t.Background = *text.Background
	}
	switch _, isKnown := t.all[text.Default]; {
	case text.Default == "" || text.Default == t.Default:
	case isRefused(settingDefault):
		t.refuse("", settingDefault)
	case !isKnown:
		return &ConfigurationError{File: text.file, Reason: fmt.Sprintf("unknown default target %q", text.Default)}
	default:
		t.Default = text.Default
	}
	return nil
}

// changedBy returns the target with what a later file sets.
func (t Target) changedBy(given Target) Target {
	if given.Transport == TransportLocal {
		t.Host, t.SSHConfig = "", ""
	}
	if given.Transport == TransportLocal || given.Host != "" && given.Host != t.Host {
		t.NodeDirectory, t.RelayAddress = "", "" // of another host
	}
	t.replaceScheduler(given)
	t.Transport = cmp.Or(given.Transport, t.Transport, TransportLocal)
	t.Host, t.SSHConfig = cmp.Or(given.Host, t.Host), cmp.Or(given.SSHConfig, t.SSHConfig)
	t.NodeDirectory, t.RelayAddress = cmp.Or(given.NodeDirectory, t.NodeDirectory), cmp.Or(given.RelayAddress, t.RelayAddress)
	t.Interval, t.ShareAnswers = cmp.Or(given.Interval, t.Interval), cmp.Or(given.ShareAnswers, t.ShareAnswers)
	t.Attributes, t.Environment = merged(t.Attributes, given.Attributes), merged(t.Environment, given.Environment)
	t.Shipped = false
	return t
}

// merged returns a table with the entries of a later one.
func merged(table, later map[string]string) map[string]string {
	if table == nil {
		return later
	}
	table = maps.Clone(table)
	maps.Copy(table, later)
	return table
}

// maxVariable bounds the value of a variable: systems bound their environment as a whole.
const maxVariable = 64 << 10

// checkEnvironment refuses variables that no environment can hold.
func (t *Target) checkEnvironment() error {
	for _, name := range slices.Sorted(maps.Keys(t.Environment)) {
		value := t.Environment[name]
		switch {
		case !variableName.MatchString(name):
			return fmt.Errorf("invalid name %.200q of an environment variable", name)
		case len(value) > maxVariable || strings.ContainsRune(value, 0):
			return fmt.Errorf("the value of environment variable %s has more than %d bytes, or a NUL", name, maxVariable)
		}
	}
	return nil
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// checkConnection refuses a connection that is incomplete or contradicts itself. It has no
// fallback: commands must not run on another host.
func (t *Target) checkConnection() error {
	switch t.Transport {
	case TransportLocal:
		if t.Host != "" || t.SSHConfig != "" {
			return fmt.Errorf("host and ssh_config require transport = %q or %q", TransportSSH, TransportOpenSSH)
		}
		return nil
	case TransportSSH, TransportOpenSSH:
	default:
		return fmt.Errorf("unknown transport %q: use %q, %q or %q", t.Transport, TransportLocal, TransportSSH, TransportOpenSSH)
	}
	if t.Host == "" {
		return fmt.Errorf("transport %q requires a host", t.Transport)
	}
	isOdd := func(r rune) bool { return r <= ' ' || r == 0x7f }
	if strings.HasPrefix(t.Host, "-") || strings.ContainsFunc(t.Host, isOdd) {
		return fmt.Errorf("invalid host name %q", t.Host)
	}
	return nil
}
