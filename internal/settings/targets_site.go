package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
)

// The settings that the file for all users can lock.
const (
	settingDefault       = "default"
	settingBackground    = "background"
	settingInterval      = "interval"
	settingShareAnswers  = "share_answers"
	settingDefinition    = "definition"
	settingAgent         = "agent"
	settingProxy         = "proxy"
	settingTransport     = "transport"
	settingHost          = "host"
	settingSSHConfig     = "ssh_config"
	settingAttributes    = "attributes"
	settingEnvironment   = "environment"
	settingNodeDirectory = "node_directory"
	settingRelayAddress  = "relay_address"
)

// lockable returns the names of the settings that can be locked.
func lockable() []string {
	return []string{settingDefault, settingBackground, settingInterval, settingShareAnswers, settingDefinition, settingAgent, settingProxy,
		settingTransport, settingHost, settingSSHConfig, settingAttributes, settingEnvironment, settingNodeDirectory, settingRelayAddress}
}

// connectionSettings are locked together: one without the others does not say where commands run.
func connectionSettings() []string { return []string{settingTransport, settingHost, settingSSHConfig} }

// schedulerSettings are locked together, because an agent replaces a definition.
func schedulerSettings() []string { return []string{settingDefinition, settingAgent, settingProxy} }

// readSite reads the file for all users of a machine; without one it returns no settings.
func readSite(folder string) (*targetsText, error) {
	none := &targetsText{origin: OriginSite}
	if folder == "" {
		return none, nil
	}
	file := filepath.Join(folder, TargetsFile)
	text, err := readTargetsFile(file)
	if err != nil || text == nil {
		return none, err
	}
	for _, path := range []string{file, folder} {
		const hint = "other users than its owner can write to %[1]s; as its owner, run chmod go-w %[1]s"
		if err := refuseWritable(file, path, 0o022, hint); err != nil { // its definitions run commands as every user
			return none, err
		}
	}
	site, err := parseTargets(file, text)
	if err != nil {
		return none, err
	}
	site.origin = OriginSite
	for _, setting := range site.Locked {
		if slices.Contains(lockable(), setting) {
			continue
		}
		hint := "choose one of " + strings.Join(lockable(), ", ")
		if near := wording.Nearest(setting, lockable()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return none, &ConfigurationError{File: file, Reason: fmt.Sprintf("cannot lock %.200q\n%s", setting, hint)}
	}
	return site, nil
}

// refuseWritable refuses a targets file for one of these permissions of it or its folder. The
// hint formats the path.
func refuseWritable(file, path string, permissions fs.FileMode, hint string) error {
	info, err := os.Stat(path)
	if err != nil {
		return &ConfigurationError{File: file, Reason: reasonOf(err), Err: err}
	}
	if info.Mode().Perm()&permissions != 0 {
		return &ConfigurationError{File: file, Reason: fmt.Sprintf(hint, path)}
	}
	return nil
}

// A Site describes the file for all users of a machine.
type Site struct {
	File   string
	Locked []string // settings
}

// InspectSite describes the file for all users; nil if there is no such file. The error is that of
// [LoadTargets] for this file alone.
func InspectSite(folder string) (*Site, error) {
	file := filepath.Join(folder, TargetsFile)
	if _, err := os.Stat(file); folder == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	site, err := readSite(folder)
	if err != nil {
		return nil, err
	}
	return &Site{file, site.Locked}, shippedTargets().add(site)
}

// HaveSite reports whether there is a file for all users of this machine.
func HaveSite(t *Targets) bool { return t.site.file != "" }

// isLocked reports whether the user's file cannot change a setting.
func (t *Targets) isLocked(setting string) bool {
	for _, together := range [][]string{connectionSettings(), schedulerSettings()} {
		isOne := func(s string) bool { return slices.Contains(together, s) }
		if isOne(setting) && slices.ContainsFunc(t.site.Locked, isOne) {
			return true
		}
	}
	return slices.Contains(t.site.Locked, setting)
}

// lockedOf returns the settings of a target that the user's file cannot change.
func (t *Targets) lockedOf(target Target) []string {
	_, isSites := t.siteHas[target.Name]
	var locked []string
	for _, setting := range lockable() {
		applies := isSites
		switch setting {
		case settingDefault:
			applies = target.Name == t.Default
		case settingBackground:
			applies = false
		case settingInterval, settingShareAnswers:
			applies = target.limits.of(setting).Duration > 0
		}
		if applies && t.isLocked(setting) {
			locked = append(locked, setting)
		}
	}
	return locked
}

// A refusal is a setting of the user's file that has no effect.
type refusal struct{ target, text string }

// refuse records that a setting of the user's file has no effect. The target is empty for a
// setting of all targets.
func (t *Targets) refuse(target, setting string) {
	text := setting
	if target != "" {
		text = fmt.Sprintf("target %q: %s", target, setting)
	}
	t.refused = append(t.refused, refusal{target, fmt.Sprintf("%s: %s has no effect: locked by %s", t.user.file, text, t.site.file)})
}

// Refused returns a line for each setting of the user's file that has no effect, as the file
// for all users locks it.
func (t *Targets) Refused() []string {
	lines := make([]string, len(t.refused))
	for i, one := range t.refused {
		lines[i] = one.text
	}
	return lines
}

// withoutLocked returns the settings of the user's file for a target, without locked ones.
func (t *Targets) withoutLocked(name string, given Target) Target {
	site, isSites := t.siteHas[name]
	if !isSites {
		return given
	}
	for _, each := range []struct {
		setting string
		given   *string
		site    string
	}{
		{settingDefinition, &given.Definition, site.Definition}, {settingProxy, &given.Proxy, site.Proxy}, {settingTransport, &given.Transport, site.Transport},
		{settingHost, &given.Host, site.Host}, {settingSSHConfig, &given.SSHConfig, site.SSHConfig},
		{settingNodeDirectory, &given.NodeDirectory, site.NodeDirectory}, {settingRelayAddress, &given.RelayAddress, site.RelayAddress},
	} {
		if !t.isLocked(each.setting) {
			continue
		}
		if *each.given != "" && *each.given != each.site {
			t.refuse(name, each.setting)
		}
		*each.given = ""
	}
	if t.isLocked(settingAgent) {
		if given.Agent != nil && !slices.Equal(given.Agent, site.Agent) {
			t.refuse(name, settingAgent)
		}
		given.Agent = nil
	}
	for _, each := range []struct {
		setting string
		given   *map[string]string
		site    map[string]string
	}{{settingAttributes, &given.Attributes, site.Attributes}, {settingEnvironment, &given.Environment, site.Environment}} {
		if !t.isLocked(each.setting) {
			continue
		}
		for _, entry := range slices.Sorted(maps.Keys(differing(*each.given, each.site))) {
			t.refuse(name, each.setting+"."+entry)
		}
		*each.given = nil
	}
	return given
}

// differing returns the entries of a table that another one does not have in the same way.
func differing(table, other map[string]string) map[string]string {
	table = maps.Clone(table)
	maps.DeleteFunc(table, func(name, value string) bool {
		inherited, has := other[name]
		return has && inherited == value
	})
	return table
}
