package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What rmctl keeps is its owner's alone, whatever the umask; staged scripts, too.
func TestWhatIsKeptIsItsOwnersAlone(t *testing.T) {
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	site := newHostileSite(t)
	require.NoError(t, os.Chmod(filepath.Join(site.folder, ".config", "rmctl"), 0o700))
	site.run("submit", "--", "program")
	site.run("status", "--fresh")
	site.run("config", "save", "kept", "-e", "A=B", "--", "x")
	site.run("record", filepath.Join(site.folder, "cases"), "--", "start", "--fresh")
	require.FileExists(t, filepath.Join(site.folder, ".config/rmctl/launch/kept.toml"))
	seen := map[string]bool{}
	for _, folder := range []string{".local/state/rmctl", ".config/rmctl/launch", ".eclipsesettings", "cases"} {
		err := filepath.WalkDir(filepath.Join(site.folder, folder), func(path string, entry fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := entry.Info()
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, "%s has the permissions %v", path, info.Mode())
			seen[folder] = seen[folder] || !entry.IsDir()
			return nil
		})
		require.NoError(t, err)
	}
	require.Len(t, seen, 4, "there is something in each folder: %v", seen)
}

// Values of -e reach the submission and its record, and nothing that is printed
// or written along the way.
func TestValuesOfTheEnvironmentAreNotPrinted(t *testing.T) {
	const secret = "hunter2-of-the-project"
	site := newHostileSite(t)
	said := func(arguments ...string) string {
		out, messages := site.run(arguments...)
		return out + messages
	}
	require.NotContains(t, said("record", filepath.Join(site.folder, "cases"), "--", "submit", "-vv", "-e", "TOKEN="+secret, "--", "program"), secret)
	tag := site.tag()
	for _, arguments := range [][]string{
		{"submit", "-vv", "-e", "TOKEN=" + secret, "--json", "--", "program"}, {"status", "-vv", "--fresh"}, {"status", "--json"}, {"jobs", "--all"}, {"jobs", "--json"},
		{"explain", tag}, {"explain", "--json", tag}, {"doctor"}, {"cancel", "-vv", tag}, {"polls"},
	} {
		require.NotContains(t, said(arguments...), secret, "rmctl %q", arguments)
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(site.folder, "cases"), func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if !entry.IsDir() {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(content), secret, "%s", path)
		}
		return nil
	}))
	require.Contains(t, said("jobs", "--export"), secret, "the export is the whole record")
}

// No shell and no SQL ever reads what a scheduler, a job or a user wrote.
func TestTextsAreNeverCommands(t *testing.T) {
	site := newHostileSite(t)
	trap := filepath.Join(site.folder, "trap")
	nasty := `x'; DROP TABLE jobs; -- $(touch ` + trap + `) ` + "`touch " + trap + "`" + ` " ; touch ` + trap + ` #`
	site.write("submit", "job "+nasty+"\n")
	site.write("status", "state RUNNING\nreason "+nasty+"\nname "+nasty+"\nnative "+nasty+"\n")
	site.run("submit", "-s", "queue="+nasty, "-e", "A="+nasty, "-d", site.folder, "--", nasty, nasty)
	tag := site.tag()
	for _, arguments := range [][]string{
		{"status", "--fresh"}, {"status", nasty}, {"explain", nasty}, {"cancel", tag}, {"recover", "--dismiss", nasty}, {"jobs", "-t", nasty},
	} {
		site.run(arguments...)
	}
	site.write("status", "state COMPLETED\nreason "+nasty+"\n")
	_, messages := site.run("watch", "--after", "0", "--on-end", `echo "$RMCTL_JOB_REASON"`, "--on-change", "true", tag)
	require.Contains(t, messages, "DROP TABLE")
	out, _ := site.run("jobs", "--json")
	require.Equal(t, 1, strings.Count(out, "\n"))
	tell := `echo "told of $RMCTL_JOB_ID: $RMCTL_JOB_REASON"`
	_, messages = site.run("wait", "--on-end", tell, tag)
	require.Contains(t, messages, "told of "+nasty+": "+nasty)
	_, messages = site.run("submit", "--wait", "--on-end", tell, "--", nasty)
	require.Contains(t, messages, "told of "+nasty+": "+nasty)
	_, messages = site.run("run", "-t", "fork", "--on-end", `echo "told of $RMCTL_JOB_STATE"`, "--", "true", nasty)
	require.Contains(t, messages, "told of COMPLETED")
	require.NoFileExists(t, trap)
}
