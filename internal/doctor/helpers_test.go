package doctor_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/remote"
)

// patience is how long a test waits for what happens at once, but on a busy machine.
const patience = time.Minute

// define loads a definition whose parts are given, control data in order.
func define(t testing.TB, controlData string, others ...string) *config.Definition {
	t.Helper()
	text := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test"><control-data>` +
		controlData + `</control-data>` + strings.Join(others, "") + `</resource-manager-builder>`
	definition, problems := check.Load("test.xml", []byte(text), nil)
	require.NoError(t, problems.Err())
	return definition
}

// A site is a place on this machine, in a home folder of its own, that can be examined.
type site struct {
	options control.Options
	home    string
}

// newSite returns a site for a definition; change may alter its options before.
func newSite(t *testing.T, definition *config.Definition, change ...func(*control.Options)) *site {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("HOME", home)
	local, err := remote.NewLocalWith(patience, patience)
	require.NoError(t, err)
	s := &site{home: home, options: control.Options{Target: "here", Definition: definition, Connection: local}}
	for _, one := range change {
		one(&s.options)
	}
	return s
}

// path returns a place in the home folder.
func (s *site) path(name string) string { return filepath.Join(s.home, name) }

func (s *site) write(t testing.TB, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o700))
	require.NoError(t, os.WriteFile(s.path(name), []byte(text), 0o600))
}

// files returns the names of what lies below a folder of the home folder.
func (s *site) files(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(s.path(folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, entry.Name())
		}
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return names
}

// running describes a command of a definition that runs a shell script.
func running(element, script, attributes, children string) string {
	return fmt.Sprintf(`<%s name="%s" %s><arg>/bin/sh -c</arg><arg resolve="false"><![CDATA['%s']]></arg>%s</%s>`,
		element, element, attributes, strings.ReplaceAll(script, "'", `'"'"'`), children, element)
}
