package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
)

// TargetsFile is the file of targets in a configuration folder.
const TargetsFile = "targets.toml"

// SiteFolder is the configuration folder for all users of a machine.
const SiteFolder = "/etc/rmctl"

// Folders are the configuration folders that targets are read from, in this order.
type Folders struct {
	Site string // for all users of this machine; empty for none
	User string
}

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
	Definition string            `toml:"definition,omitempty" json:"definition"` // a shipped name or a file; empty with an agent
	Agent      Agent             `toml:"agent,omitempty" json:"agent,omitempty"` // in place of a definition
	Proxy      string            `toml:"proxy,omitempty" json:"proxy,omitempty"` // how to talk to the agent; empty for ProxyStdio
	Transport  string            `toml:"transport,omitempty" json:"transport"`
	Host       string            `toml:"host,omitempty" json:"host,omitempty"`             // as ssh_config knows it; none for TransportLocal
	SSHConfig  string            `toml:"ssh_config,omitempty" json:"sshConfig,omitempty"`  // file, absolute once loaded; empty for the usual ones
	Attributes map[string]string `toml:"attributes,omitempty" json:"attributes,omitempty"` // defaults for every submission
	// Environment has variables for all commands of the target.
	Environment map[string]string `toml:"environment,omitempty" json:"environment,omitempty"`
	// NodeDirectory is where the program for the nodes of jobs lies: absolute, or below the
	// home directory; empty for the usual folder.
	NodeDirectory string `toml:"node_directory,omitempty" json:"nodeDirectory,omitempty"`
	// RelayAddress is the HOST or HOST:PORT at which nodes of jobs reach the target; empty if they do not.
	RelayAddress string   `toml:"relay_address,omitempty" json:"relayAddress,omitempty"`
	Limits                // with the settings of this target
	Shipped      bool     `toml:"-" json:"-"` // a shipped definition of its name
	From         []Origin `toml:"-" json:"-"` // the files with settings for it

	limits Limits // as they result from all files
}

// LeastInterval returns the shortest time between two listings; 0 if no file limits it.
func (t Target) LeastInterval() time.Duration { return t.limits.Interval.Duration }

// SharedAnswers returns the age up to which an answer about a job is shared; 0 if no file
// sets it.
func (t Target) SharedAnswers() time.Duration { return t.limits.ShareAnswers.Duration }

// HaveSamePlace reports whether two targets have the same definition or agent, connection and environment.
func HaveSamePlace(a, b Target) bool {
	return a.Definition == b.Definition && slices.Equal(a.Agent, b.Agent) && a.Proxy == b.Proxy && a.Transport == b.Transport && a.Host == b.Host && a.SSHConfig == b.SSHConfig &&
		maps.Equal(a.Environment, b.Environment)
}

// Defaults returns the attributes of the target as values of submissions.
func (t Target) Defaults() []job.Assignment {
	var defaults []job.Assignment
	for name, value := range t.Attributes {
		defaults = append(defaults, job.Assignment{Name: name, Value: value})
	}
	return defaults
}

// An Origin is where a target comes from.
type Origin string

// The origins of targets.
const (
	OriginShipped Origin = "shipped" // a definition that rmctl has
	OriginSite    Origin = "site"    // the file for all users of this machine
	OriginUser    Origin = "user"    // the file of the user
)

// A TargetDocument is a target in JSON. The names are a contract with scripts.
type TargetDocument struct {
	Name         string   `json:"name"`
	Definition   string   `json:"definition"`
	Agent        Agent    `json:"agent,omitempty"`
	Proxy        string   `json:"proxy,omitempty"` // with an agent
	Transport    string   `json:"transport"`
	Host         string   `json:"host,omitempty"`
	Default      bool     `json:"default,omitempty"`
	From         []Origin `json:"from"`
	Interval     Duration `json:"interval,omitzero"`     // between two listings; a definition can only extend it
	ShareAnswers Duration `json:"shareAnswers,omitzero"` // the maximum age of shared answers
	Locked       []string `json:"locked,omitempty"`      // its settings that the user's file cannot change
	// NodeDirectory and RelayAddress are as in a Target.
	NodeDirectory string `json:"nodeDirectory,omitempty"`
	RelayAddress  string `json:"relayAddress,omitempty"`
}

// Origins returns where the target comes from in words.
func (d TargetDocument) Origins() string {
	words := make([]string, len(d.From))
	for i, origin := range d.From {
		words[i] = string(origin)
	}
	return strings.Join(words, ", ")
}

// Targets are all targets of a user.
type Targets struct {
	Default    string
	Background bool // whether the background process may keep connections between calls of rmctl
	all        map[string]Target
	site, user *targetsText      // the files; empty if they do not exist
	siteHas    map[string]Target // the targets of the site's file, before the user's file changes them
	refused    []refusal
}

// An UnknownTargetError is a name without a target.
type UnknownTargetError struct {
	Name  string
	Known []string
}

func (e *UnknownTargetError) Error() string {
	text := fmt.Sprintf("unknown target %q", e.Name)
	if near := wording.Nearest(e.Name, e.Known); near != "" {
		return text + fmt.Sprintf("\ndid you mean %q?", near)
	}
	if len(e.Known) > 0 {
		text += "\nchoose one of " + strings.Join(e.Known, ", ")
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

// unknownSetting returns the message for an unknown setting, with a suggestion.
func unknownSetting(key []string) string {
	word, known := key[0], []string{settingDefault, settingBackground, settingInterval, settingShareAnswers, "locked", "targets"}
	if len(key) > 2 && word == "targets" {
		word, known = key[2], append([]string{settingDefinition, settingTransport, settingHost, settingSSHConfig, settingAttributes, settingEnvironment, settingAgent, settingProxy, settingNodeDirectory, settingRelayAddress}, known[2:4]...)
	}
	hint := "choose one of " + strings.Join(known, ", ")
	if near := wording.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("unknown setting %.200q\n%s", strings.Join(key, "."), hint)
}

func configurationError(file string, err error) error {
	if strict, isStrict := errors.AsType[*toml.StrictMissingError](err); isStrict && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		line, column := first.Position()
		return &ConfigurationError{File: file, Line: line, Column: column, Reason: unknownSetting(first.Key())}
	}
	return inFile(file)(document.SyntaxError(err))
}

func (t Target) origins() []Origin {
	if len(t.From) == 0 {
		return []Origin{OriginShipped}
	}
	return t.From
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
		all = append(all, TargetDocument{
			Name: target.Name, Definition: target.Definition, Agent: target.Agent, Proxy: target.Proxy, Transport: target.Transport, Host: target.Host,
			Default: target.Name == t.Default,
			From:    target.origins(), Interval: target.limits.Interval, ShareAnswers: target.limits.ShareAnswers, Locked: t.lockedOf(target),
			NodeDirectory: target.NodeDirectory, RelayAddress: target.RelayAddress,
		})
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
