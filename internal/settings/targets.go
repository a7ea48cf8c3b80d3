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

	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/rms"
)

// TargetsFile is the file of a user's targets in the configuration folder.
const TargetsFile = "targets.toml"

// defaultTarget is the default if the configuration names none.
const defaultTarget = "local"

// The transports of targets.
const (
	TransportLocal   = "local"   // runs commands on this machine
	TransportSSH     = "ssh"     // reaches a host by SSH, in rmctl itself
	TransportOpenSSH = "openssh" // reaches a host with the user's ssh program
)

// A Target is a named pair of definition and connection.
type Target struct {
	Name       string            `toml:"-" json:"name"`
	Definition string            `toml:"definition" json:"definition"` // a shipped name or a file
	Transport  string            `toml:"transport,omitempty" json:"transport"`
	Host       string            `toml:"host,omitempty" json:"host,omitempty"`             // as ssh_config knows it; none for TransportLocal
	SSHConfig  string            `toml:"ssh_config,omitempty" json:"sshConfig,omitempty"`  // file, absolute once loaded; empty for the usual ones
	Attributes map[string]string `toml:"attributes,omitempty" json:"attributes,omitempty"` // defaults for every submission
	Shipped    bool              `toml:"-" json:"-"`                                       // stands for a shipped definition of its name
}

// Defaults returns the attributes of the target as values of submissions.
func (t Target) Defaults() []job.Assignment {
	var defaults []job.Assignment
	for name, value := range t.Attributes {
		defaults = append(defaults, job.Assignment{Name: name, Value: value})
	}
	return defaults
}

// A TargetDocument is a target in JSON. The names are a contract with scripts.
type TargetDocument struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	Transport  string `json:"transport"`
	Host       string `json:"host,omitempty"`
	Default    bool   `json:"default,omitempty"`
}

// Document returns the target for JSON.
func (t Target) Document(isDefault bool) TargetDocument {
	return TargetDocument{t.Name, t.Definition, t.Transport, t.Host, isDefault}
}

// Targets are all targets of a user.
type Targets struct {
	Default    string
	Background bool // whether the background process may keep connections between calls of rmctl
	all        map[string]Target
}

// An UnknownTargetError is a name without a target.
type UnknownTargetError struct {
	Name  string
	Known []string
}

func (e *UnknownTargetError) Error() string {
	text := fmt.Sprintf("there is no target %q", e.Name)
	if len(e.Known) > 0 {
		text += "; targets are " + strings.Join(e.Known, ", ")
	}
	if near := wording.Nearest(e.Name, e.Known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// A ConfigurationError is an error in a configuration file.
type ConfigurationError struct {
	File         string
	Line, Column int // 0 if unknown
	Reason       string
	Err          error // the cause; may be nil
}

func (e *ConfigurationError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Unwrap returns the cause.
func (e *ConfigurationError) Unwrap() error { return e.Err }

// LoadTargets returns the shipped targets and those of the targets file in a configuration
// folder, if there is one. Errors are *ConfigurationError.
func LoadTargets(folder string) (*Targets, error) {
	targets := shippedTargets()
	file := filepath.Join(folder, TargetsFile)
	text, err := readTargetsFile(file)
	if err != nil {
		return nil, err
	}
	if err := targets.read(file, text); err != nil {
		return nil, err
	}
	return targets, nil
}

// maxTargetsBytes bounds the targets file.
const maxTargetsBytes = 4 << 20

// readTargetsFile returns the text of a targets file, empty if there is no file.
func readTargetsFile(file string) ([]byte, error) {
	text, err := ReadFile(file, maxTargetsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if len(text) > maxTargetsBytes {
		return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("it has more than %d bytes", maxTargetsBytes)}
	}
	return text, err
}

// shippedTargets returns the targets of a user who has no targets file.
func shippedTargets() *Targets {
	targets := &Targets{Default: defaultTarget, Background: true, all: map[string]Target{}}
	for _, name := range rms.Names() {
		targets.all[name] = Target{Name: name, Definition: name, Transport: TransportLocal, Shipped: true}
	}
	return targets
}

func (t *Targets) read(file string, text []byte) error {
	var settings struct {
		Default    string            `toml:"default"`
		Background *bool             `toml:"background"`
		Targets    map[string]Target `toml:"targets"`
	}
	decoder := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := decoder.Decode(&settings); err != nil {
		return configurationError(file, err)
	}
	for name, target := range settings.Targets {
		target.Name = name
		target.Transport = cmp.Or(target.Transport, TransportLocal)
		if target.Definition == "" {
			return &ConfigurationError{File: file, Reason: fmt.Sprintf("target %q names no definition", name)}
		}
		if err := target.completeConnection(file); err != nil {
			return err
		}
		if rms.NamesFile(target.Definition) && !filepath.IsAbs(target.Definition) {
			target.Definition = filepath.Join(filepath.Dir(file), target.Definition)
		}
		t.all[name] = target
	}
	if settings.Background != nil {
		t.Background = *settings.Background
	}
	if settings.Default != "" {
		if _, known := t.all[settings.Default]; !known {
			return &ConfigurationError{File: file, Reason: fmt.Sprintf("the default target %q is not among the targets", settings.Default)}
		}
		t.Default = settings.Default
	}
	return nil
}

// completeConnection checks and completes the connection of a target. It has no fallback:
// commands must not run on another host.
func (t *Target) completeConnection(file string) error {
	wrong := func(format string, arguments ...any) error {
		return &ConfigurationError{File: file, Reason: fmt.Sprintf("target %q: ", t.Name) + fmt.Sprintf(format, arguments...)}
	}
	switch t.Transport {
	case TransportLocal:
		if t.Host != "" || t.SSHConfig != "" {
			return wrong("it has a host or ssh_config, but runs on this machine; transport = %q or %q reaches hosts", TransportSSH, TransportOpenSSH)
		}
		return nil
	case TransportSSH, TransportOpenSSH:
	default:
		return wrong("there is no transport %q; there are %q, %q and %q", t.Transport, TransportLocal, TransportSSH, TransportOpenSSH)
	}
	switch {
	case t.Host == "":
		return wrong("transport %q needs a host", t.Transport)
	case strings.HasPrefix(t.Host, "-"), strings.ContainsFunc(t.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return wrong("%q cannot be the name of a host", t.Host)
	case t.SSHConfig == "":
		return nil
	}
	if rest, below := strings.CutPrefix(t.SSHConfig, "~/"); below {
		home, err := os.UserHomeDir()
		if err != nil {
			return wrong("finding the home directory for ssh_config: %v", err)
		}
		t.SSHConfig = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(t.SSHConfig) {
		t.SSHConfig = filepath.Join(filepath.Dir(file), t.SSHConfig)
	}
	return nil
}

// unknownSetting returns the message for an unknown setting, with a suggestion.
func unknownSetting(key []string) string {
	word, known := key[0], []string{"default", "background", "targets"}
	if len(key) > 2 && word == "targets" {
		word, known = key[2], []string{"definition", "transport", "host", "ssh_config", "attributes"}
	}
	hint := "settings are " + strings.Join(known, ", ")
	if near := wording.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("there is no setting %.200q; %s", strings.Join(key, "."), hint)
}

func configurationError(file string, err error) error {
	if strict, isStrict := errors.AsType[*toml.StrictMissingError](err); isStrict && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		line, column := first.Position()
		return &ConfigurationError{File: file, Line: line, Column: column, Reason: unknownSetting(first.Key())}
	}
	return inFile(file)(document.SyntaxError(err))
}

// Names returns the names of all targets, sorted.
func (t *Targets) Names() []string { return slices.Sorted(maps.Keys(t.all)) }

// All returns all targets, sorted by name.
func (t *Targets) All() []Target {
	all := make([]Target, 0, len(t.all))
	for _, name := range t.Names() {
		all = append(all, t.all[name])
	}
	return all
}

// Documents returns all targets for JSON, sorted by name.
func (t *Targets) Documents() []TargetDocument {
	all := make([]TargetDocument, 0, len(t.all))
	for _, target := range t.All() {
		all = append(all, target.Document(target.Name == t.Default))
	}
	return all
}

// Find returns the target of that name, the default one for an empty name.
// The error is an *UnknownTargetError.
func (t *Targets) Find(name string) (Target, error) {
	name = cmp.Or(name, t.Default)
	target, known := t.all[name]
	if !known {
		return Target{}, &UnknownTargetError{Name: name, Known: t.Names()}
	}
	return target, nil
}
