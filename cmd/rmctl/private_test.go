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

// Files of rmctl, including staged scripts, are private, whatever the umask.
func TestFilesArePrivate(t *testing.T) {
	site := newHostileSite(t) // whose home others cannot write to
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
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
func TestValuesAreNeverRunAsCommands(t *testing.T) {
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
	command := `echo "end of $RMCTL_JOB_ID: $RMCTL_JOB_REASON"`
	_, messages = site.run("wait", "--on-end", command, tag)
	require.Contains(t, messages, "end of "+nasty+": "+nasty)
	_, messages = site.run("submit", "--wait", "--on-end", command, "--", nasty)
	require.Contains(t, messages, "end of "+nasty+": "+nasty)
	_, messages = site.run("run", "-t", "fork", "--on-end", `echo "end of $RMCTL_JOB_STATE"`, "--", "true", nasty)
	require.Contains(t, messages, "end of COMPLETED")
	require.NoFileExists(t, trap)
}

// stagingSite is a target that stages scripts in a folder, and notes submissions.
func stagingSite(t *testing.T, staging string) (run func() (messages string), submitted string) {
	t.Helper()
	site := newHostileSite(t)
	submitted = filepath.Join(site.folder, "submitted")
	site.write(".config/rmctl/staging.xml", `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="Staging"><control-data>
<attribute name="executablePath"/>
<managed-files><file-staging-location>`+staging+`</file-staging-location><file name="input"><contents>secret</contents></file></managed-files>
<submit-batch name="submit" waitForId="true"><arg resolve="false">sh -c 'touch `+submitted+`; echo 1'</arg>
<stdout-parser delim="\n"><target ref="@jobId"><match><expression>(\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
</submit-batch></control-data><monitor-data schedulerType="S"/></resource-manager-builder>`)
	site.write(".config/rmctl/targets.toml", "[targets.staging]\ndefinition = \"staging.xml\"\n")
	return func() string {
		_, messages := site.run("submit", "-t", "staging", "--", "x")
		return messages
	}, submitted
}

// In a shared directory, an entry with the name of the staging directory may belong to another
// user: then rmctl writes nothing there and submits nothing.
func TestStagingInADirectoryOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const other = 65533
	for name, plant := range map[string]func(t *testing.T, staging, aim string){
		"a folder of somebody else": func(t *testing.T, staging, _ string) {
			require.NoError(t, os.Mkdir(staging, 0o777))
			require.NoError(t, os.Lchown(staging, other, other))
		},
		"a link of somebody else": func(t *testing.T, staging, aim string) {
			require.NoError(t, os.Symlink(aim, staging))
			require.NoError(t, os.Lchown(staging, other, other))
		},
		"a folder that everybody may write to": func(t *testing.T, staging, _ string) {
			require.NoError(t, os.Mkdir(staging, 0o700))
			require.NoError(t, os.Chmod(staging, 0o777))
		},
	} {
		t.Run(name, func(t *testing.T) {
			shared, aim := filepath.Join(t.TempDir(), "tmp"), t.TempDir()
			require.NoError(t, os.Mkdir(shared, 0o700))
			require.NoError(t, os.Chmod(shared, 0o777|fs.ModeSticky))
			staging := filepath.Join(shared, "staging")
			plant(t, staging, aim)
			run, submitted := stagingSite(t, staging)
			messages := run()
			require.Contains(t, messages, "another user can change its content")
			require.Contains(t, messages, staging)
			require.NoFileExists(t, submitted)
			for _, folder := range []string{staging, aim} {
				entries, err := os.ReadDir(folder)
				require.NoError(t, err)
				require.Empty(t, entries)
			}
		})
	}
}

// A link with the name of a staged file is replaced; the file it points to stays unchanged.
func TestALinkWithTheNameOfAStagedFileIsNotFollowed(t *testing.T) {
	staging, aim := t.TempDir(), filepath.Join(t.TempDir(), "aim")
	require.NoError(t, os.WriteFile(aim, []byte("precious"), 0o644))
	require.NoError(t, os.Symlink(aim, filepath.Join(staging, "input")))
	run, submitted := stagingSite(t, staging)
	run()
	require.FileExists(t, submitted)
	content, err := os.ReadFile(aim)
	require.NoError(t, err)
	require.Equal(t, "precious", string(content))
	info, err := os.Lstat(filepath.Join(staging, "input"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode(), "the file itself, its owner's alone")
}

func TestTheRecordIsNotKeptInADirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	site := newHostileSite(t)
	shared := filepath.Join(t.TempDir(), "tmp")
	require.NoError(t, os.Mkdir(shared, 0o700))
	require.NoError(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	foreign := filepath.Join(shared, "foreign")
	require.NoError(t, os.Mkdir(foreign, 0o777))
	require.NoError(t, os.Chmod(foreign, 0o777))
	require.NoError(t, os.Lchown(foreign, 65533, 65533))
	_, messages := site.run("--state-dir", filepath.Join(foreign, "state"), "jobs")
	require.Contains(t, messages, "another user can change its content")
	require.NoDirExists(t, filepath.Join(foreign, "state"))
}
