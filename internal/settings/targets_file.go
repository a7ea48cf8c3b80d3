package settings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/rmctl/rmctl/rms"
)

// maxTargetName bounds names that are written; longer ones can be read.
const maxTargetName = 100

// SaveTargets writes targets to the user's targets file, whose folder it creates if needed. It replaces targets of the same name, with the comments within them; everything
// else stays, including changes that other processes make at the same time. It writes all
// targets or none. Errors are *ConfigurationError, or that of the context.
func SaveTargets(ctx context.Context, folders Folders, targets ...Target) error {
	return writeTargets(ctx, folders, true, targets)
}

// AddTargets is SaveTargets for new targets. If the file has one of them, the error is a
// *TargetExistsError.
func AddTargets(ctx context.Context, folders Folders, targets ...Target) error {
	return writeTargets(ctx, folders, false, targets)
}

// A TargetExistsError means that a target would be replaced.
type TargetExistsError struct{ Name string }

// Error names the target.
func (e *TargetExistsError) Error() string {
	return fmt.Sprintf("target %q already exists", e.Name)
}

func writeTargets(ctx context.Context, folders Folders, replace bool, targets []Target) error {
	return changeTargets(ctx, folders, func(file string, text []byte, known *Targets) ([]byte, error) {
		for _, target := range targets {
			if err := target.checkName(file); err != nil {
				return nil, err
			}
			if there, isKnown := known.all[target.Name]; isKnown && !there.Shipped && !replace {
				return nil, &TargetExistsError{target.Name}
			}
			written, err := known.withoutSites(target).text()
			if err != nil {
				return nil, &ConfigurationError{File: file, Reason: err.Error(), Err: err}
			}
			places, err := placesOfTarget(file, text, target.Name)
			if err != nil {
				return nil, err
			}
			text = replaceTarget(text, places, written)
		}
		return text, nil
	}, targets...)
}

// RemoveTarget removes a target from the user's targets file. Errors are those of
// [SaveTargets], and *UnknownTargetError if the file does not have the target.
func RemoveTarget(ctx context.Context, folders Folders, name string) error {
	return changeTargets(ctx, folders, func(file string, text []byte, _ *Targets) ([]byte, error) {
		places, err := placesOfTarget(file, text, name)
		if err != nil {
			return nil, err
		}
		if len(places) == 0 {
			return nil, &UnknownTargetError{Name: name}
		}
		for i := range places {
			places[i] = withSurroundings(text, places[i])
		}
		return replaceTarget(text, places, nil), nil
	})
}

// mostChanges bounds how often a change is tried again after an editor changed the file.
const mostChanges = 10

// targetsLock is the lock of the targets file, in the same folder: the file itself is replaced
// by each change.
const targetsLock = ".targets.lock"

// changeTargets replaces the text of the targets file by the result of change, if that is
// valid and contains the wanted targets. Change may be called more than once: editors do not
// lock the file.
func changeTargets(ctx context.Context, folders Folders, change func(file string, text []byte, known *Targets) ([]byte, error), wanted ...Target) (err error) {
	folder := folders.User
	file := filepath.Join(folder, TargetsFile)
	refuse := func(err error) error { return &ConfigurationError{File: file, Reason: err.Error(), Err: err} }
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return refuse(err)
	}
	unlock, err := lockFile(ctx, filepath.Join(folder, targetsLock))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return refuse(err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for range mostChanges {
		before, err := readTargetsFile(file)
		if err != nil {
			return err
		}
		known, err := loadTargets(folders, before)
		if err != nil {
			return err
		}
		after, err := change(file, before, known)
		if err != nil {
			return err
		}
		if err := checkChanged(folders, after, wanted); err != nil {
			return err
		}
		err = writePrivately(file, after, func(draft, place string) error {
			if err := checkUnchanged(file, before); err != nil {
				return err
			}
			return os.Rename(draft, place)
		})
		if err == nil {
			return nil
		}
		if !errors.Is(err, errChanged) {
			return refuse(err)
		}
	}
	return refuse(errChanged)
}

// checkChanged refuses the text of a targets file without the wanted targets.
func checkChanged(folders Folders, text []byte, wanted []Target) error {
	read, err := loadTargets(folders, text)
	if err != nil {
		return err
	}
	for _, target := range wanted {
		if isAsWritten(read.all[target.Name], target, folders.User) {
			continue
		}
		err := fmt.Errorf("cannot change target %q: unusual syntax; edit the file", target.Name)
		for _, one := range read.refused {
			if one.target == target.Name {
				err = errors.New(one.text)
			}
		}
		return &ConfigurationError{File: filepath.Join(folders.User, TargetsFile), Reason: err.Error(), Err: err}
	}
	return nil
}

// withoutSites returns a target without what the file for all users sets in the same way: the
// user's file has only the differences.
func (t *Targets) withoutSites(target Target) *Target {
	site, isSites := t.siteHas[target.Name]
	if !isSites {
		return &target
	}
	if target.Definition == site.Definition && slices.Equal(target.Agent, site.Agent) && target.Proxy == site.Proxy {
		target.Definition, target.Agent, target.Proxy = "", nil, ""
	}
	if cmp.Or(target.Transport, TransportLocal) == site.Transport && target.Host == site.Host && target.SSHConfig == site.SSHConfig {
		target.Transport, target.Host, target.SSHConfig = "", "", ""
	}
	target.Attributes, target.Environment = differing(target.Attributes, site.Attributes), differing(target.Environment, site.Environment)
	for _, each := range []struct {
		given *string
		site  string
	}{{&target.NodeDirectory, site.NodeDirectory}, {&target.RelayAddress, site.RelayAddress}} {
		if *each.given == each.site {
			*each.given = ""
		}
	}
	for _, setting := range []string{settingInterval, settingShareAnswers} {
		if *target.of(setting) == *site.of(setting) {
			*target.of(setting) = Duration{}
		}
	}
	return &target
}

// errChanged means that a file has changed since it was read.
var errChanged = errors.New("another process keeps changing the file; try again")

// checkUnchanged returns errChanged if the targets file no longer has a text.
func checkUnchanged(file string, text []byte) error {
	now, err := readTargetsFile(file)
	if err == nil && !bytes.Equal(now, text) {
		err = errChanged
	}
	return err
}

// isAsWritten reports whether a target that was read equals the wanted one.
func isAsWritten(got, wanted Target, folder string) bool {
	if rms.NamesFile(wanted.Definition) && !filepath.IsAbs(wanted.Definition) {
		wanted.Definition = filepath.Join(folder, wanted.Definition)
	}
	wanted.Transport = cmp.Or(wanted.Transport, TransportLocal)
	for _, setting := range []string{settingInterval, settingShareAnswers} {
		if set := *wanted.of(setting); set.Duration > 0 && set != *got.of(setting) {
			return false
		}
	}
	if got.NodeDirectory != wanted.NodeDirectory || got.RelayAddress != wanted.RelayAddress {
		return false
	}
	return maps.Equal(got.Attributes, wanted.Attributes) && maps.Equal(got.Environment, wanted.Environment) &&
		got.Definition == wanted.Definition && slices.Equal(got.Agent, wanted.Agent) && got.Proxy == wanted.Proxy && got.Transport == wanted.Transport && got.Host == wanted.Host
}

// checkName refuses names that cannot be written on a command line.
func (t *Target) checkName(file string) error {
	isOdd := func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Digit) && !strings.ContainsRune("._+@-", r)
	}
	if t.Name == "" || len(t.Name) > maxTargetName || strings.ContainsFunc(t.Name, isOdd) || strings.HasPrefix(t.Name, "-") {
		return &ConfigurationError{File: file, Reason: fmt.Sprintf("invalid target name %q: use 1 to %d bytes of letters, digits and ._+@-, not beginning with -", t.Name, maxTargetName)}
	}
	return nil
}

// text returns the tables of the target.
func (t *Target) text() ([]byte, error) {
	document := map[string]map[string]Target{"targets": {t.Name: *t}}
	text, err := toml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("writing target %q: %w", t.Name, err)
	}
	// The file may already have the table of all targets.
	return append(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("[targets]\n"))), '\n'), nil
}

// A span is a part of a text.
type span struct{ begin, end int }

// placesOfTarget returns the places of the tables of a target, each from its header to the
// comments above the next header. A target that is written in another way cannot be
// replaced.
func placesOfTarget(file string, text []byte, name string) ([]span, error) {
	var parser unstable.Parser
	parser.Reset(text)
	var places []span
	isOurs := false
	var table []string
	for parser.NextExpression() {
		node := parser.Expression()
		if node.Kind != unstable.Table && node.Kind != unstable.ArrayTable {
			if path := append(table[:len(table):len(table)], keyOf(node)...); !isOurs && isWithin(path, name) {
				return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("cannot change target %q: it is not in a table [targets.%s]; edit the file", name, name)}
			}
			continue
		}
		begin := lineBefore(text, parser.Shape(node.Child().Raw).Start.Offset)
		if isOurs {
			places[len(places)-1].end = withoutComments(text, begin)
		}
		table = keyOf(node)
		if isOurs = isWithin(table, name); isOurs {
			places = append(places, span{begin, len(text)})
		}
	}
	if err := parser.Error(); err != nil {
		return nil, &ConfigurationError{File: file, Reason: err.Error(), Err: err}
	}
	if isOurs {
		places[len(places)-1].end = withoutComments(text, len(text))
	}
	return places, nil
}

// isWithin reports whether a key belongs to a target.
func isWithin(path []string, name string) bool {
	return len(path) >= 2 && path[0] == "targets" && path[1] == name
}

// lineBefore returns where the line of a place begins.
func lineBefore(text []byte, at int) int {
	return bytes.LastIndexByte(text[:at], '\n') + 1
}

// withoutComments returns where the empty lines and comments above a line begin.
func withoutComments(text []byte, at int) int {
	for at > 0 {
		before := lineBefore(text, at-1)
		line := bytes.TrimSpace(text[before:at])
		if len(line) > 0 && line[0] != '#' {
			return at
		}
		at = before
	}
	return at
}

// withSurroundings adds to the place of a table the comment right above it and the
// empty lines below.
func withSurroundings(text []byte, place span) span {
	for place.begin > 0 {
		before := lineBefore(text, place.begin-1)
		if text[before] != '#' {
			break
		}
		place.begin = before
	}
	for place.end < len(text) && text[place.end] == '\n' {
		place.end++
	}
	return place
}

// replaceTarget replaces the first place by a text, and removes the others. Without a place,
// it appends the text.
func replaceTarget(text []byte, places []span, written []byte) []byte {
	if len(places) == 0 {
		if len(text) > 0 {
			text = append(bytes.TrimRight(text, "\n"), "\n\n"...)
		}
		return append(text, written...)
	}
	var after []byte
	last := 0
	for i, place := range places {
		after = append(after, text[last:place.begin]...)
		if i == 0 {
			after = append(after, written...)
		} else {
			place = withSurroundings(text, place)
		}
		last = place.end
	}
	return append(after, text[last:]...)
}

func keyOf(node *unstable.Node) []string {
	var path []string
	for key := node.Key(); key.Next(); {
		path = append(path, string(key.Node().Data))
	}
	return path
}
