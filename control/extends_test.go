package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
)

const extending = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site" x:extends="%BASE"/>`

func TestBasesAreFoundByNameOrNextToTheDefinition(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bases"), 0o700))
	definition := define(t, submitting("echo job 7", ""))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bases", "ours.xml"), definition.Sources[0], 0o600))
	site := filepath.Join(folder, "site.xml")
	for _, base := range []string{"slurm", "bases/ours.xml", "./bases/../bases/ours.xml", filepath.Join(folder, "bases", "ours.xml")} {
		require.NoError(t, os.WriteFile(site, []byte(strings.Replace(extending, "%BASE", base, 1)), 0o600))
		found, _, err := check.UsableDefinition(site)
		require.NoError(t, err, base)
		require.Equal(t, "site", found.Name)
		require.NotNil(t, found.Submit(false), base)
		require.Len(t, found.Sources, 2)
		require.Equal(t, site, found.Files[0])
	}
	for base, want := range map[string]string{
		"slrum": `did you mean "slurm"?`, "ours.xml": "no such file", "bases/": "not a regular file", "bare": "not a shipped definition",
	} {
		_, _, err := check.ReadBase(base, site)
		require.ErrorContains(t, err, want, base)
	}
}

func TestAChangedBaseStartsANewSession(t *testing.T) {
	load := func(base *config.Definition) *config.Definition {
		read := func(string, string) (string, []byte, error) { return "base.xml", base.Sources[0], nil }
		definition, problems := check.Load("site.xml", []byte(extending), read)
		require.NoError(t, problems.Err())
		return definition
	}
	s := newSite(t, load(define(t, aSession, refreshing)))
	s.write(t, "queues-now", "short\n")
	require.NoError(t, s.Start(t.Context(), false))
	require.NoError(t, control.New(s.options).Start(t.Context(), false))
	require.Equal(t, 1, s.count(t, "starts"))
	s.options.Definition = load(define(t, aSession+" ", refreshing))
	require.NoError(t, control.New(s.options).Start(t.Context(), false))
	require.Equal(t, 2, s.count(t, "starts"))
}
