package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// degraded is a household whose state directory has a fault, with a scheduler that notes each
// submission.
type degraded struct {
	*household
	state string
}

// fillingSite is a scheduler whose submit command fills the disk of $FILL before it answers.
const fillingSite = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="Site">
  <control-data>
    <attribute name="executablePath"/>
    <submit-batch name="submit" waitForId="true">
      <arg resolve="false"><![CDATA[sh -c 'echo "$TAG" >>"$HOME/submitted"; [ -z "$FILL" ] || cat /dev/zero >"$FILL/fill"; echo "job $(wc -l <"$HOME/submitted")"']]></arg>
      <environment name="TAG" value="${ptp_rm:job.tag#value}"/>
      <stdout-parser delim="\n">
        <target ref="@jobId"><match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target>
      </stdout-parser>
    </submit-batch>
    <get-job-status name="ask" x:interval="100ms">
      <arg>echo RUNNING</arg>
      <stdout-parser delim="\n"><target ref="@jobId"><match><expression>(\S+)</expression><set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser>
    </get-job-status>
    <x:find-job name="find">
      <arg resolve="false">sh -c 'grep -n "$TAG" "$HOME/submitted" || true'</arg>
      <environment name="TAG" value="${ptp_rm:job.tag#value}"/>
      <stdout-parser delim="\n"><target ref="@jobId"><match><expression>(\d+):.*</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
    </x:find-job>
  </control-data>
  <monitor-data schedulerType="SITE"/>
</resource-manager-builder>`

func newDegraded(t *testing.T) *degraded {
	t.Helper()
	d := &degraded{household: newHousehold(t, "site")}
	d.state = d.path("state")
	require.NoError(t, os.Mkdir(d.state, 0o700))
	configuration := d.path(".config/rmctl")
	require.NoError(t, os.MkdirAll(configuration, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(configuration, "site.xml"), []byte(fillingSite), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(configuration, "targets.toml"), []byte("default = \"site\"\n[targets.site]\ndefinition = \"site.xml\"\n"), 0o600))
	return d
}

// with runs rmctl with a record in the folder, by way of other programs, and returns what it
// prints and whether it ended well.
func (d *degraded) with(environment, before []string, arguments ...string) (stdout, stderr string, done bool) {
	d.t.Helper()
	plain := d.command("rmctl", append([]string{"--state-dir", d.state}, arguments...)...)
	line := append(append([]string{}, before...), append([]string{plain.Path}, plain.Args[1:]...)...)
	ctx, cancel := context.WithTimeout(d.t.Context(), endsWithin)
	defer cancel()
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Dir, command.Env = plain.Dir, append(plain.Env, environment...)
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	err := command.Run()
	require.NotContains(d.t, messages.String(), "goroutine ", "rmctl %v", arguments)
	return out.String(), messages.String(), err == nil
}

func (d *degraded) succeeds(arguments ...string) string {
	d.t.Helper()
	stdout, stderr, done := d.with(nil, nil, arguments...)
	require.True(d.t, done, "rmctl %v: %s", arguments, stderr)
	return stdout
}

// submitted returns the tags that the scheduler has got.
func (d *degraded) submitted() []string {
	d.t.Helper()
	text, err := os.ReadFile(d.path("submitted"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(d.t, err)
	return strings.Fields(string(text))
}

// ids returns the ids of the jobs on record, by their tags.
func (d *degraded) ids() map[string]string {
	d.t.Helper()
	recorded := map[string]string{}
	decoder := json.NewDecoder(strings.NewReader(d.succeeds("jobs", "--all", "--json")))
	for decoder.More() {
		var job struct{ Tag, ID string }
		require.NoError(d.t, decoder.Decode(&job))
		recorded[job.Tag] = job.ID
	}
	return recorded
}

// mounted mounts a small file system over the folder of the record.
func (d *degraded) mounted() {
	d.t.Helper()
	if err := syscall.Mount("tmpfs", d.state, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		d.t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	d.t.Cleanup(func() { require.NoError(d.t, syscall.Unmount(d.state, syscall.MNT_DETACH)) })
}

func TestAFullDiskLosesNoJob(t *testing.T) {
	d := newDegraded(t)
	d.mounted()
	require.Equal(t, "1\n", d.succeeds("submit", "--", "x"))

	// while a job is being submitted
	stdout, stderr, done := d.with([]string{"FILL=" + d.state}, nil, "submit", "--", "x")
	require.False(t, done)
	require.Empty(t, stdout, "an id is printed only once it is on record")
	require.Contains(t, stderr, "disk or quota full: free some space; nothing recorded is lost")
	require.Contains(t, stderr, `has the id "2"`)
	require.Contains(t, stderr, "do not submit it again; the id is kept beside the record")

	// then nothing is submitted, and the record still shows the jobs
	_, stderr, done = d.with(nil, nil, "submit", "--", "x")
	require.False(t, done)
	require.Contains(t, stderr, "disk or quota full: free some space; nothing recorded is lost")
	require.Len(t, d.submitted(), 2)
	require.Len(t, d.ids(), 2)

	// room again
	require.NoError(t, os.Remove(filepath.Join(d.state, "fill")))
	d.succeeds("recover")
	tags := d.submitted()
	require.Equal(t, map[string]string{tags[0]: "1", tags[1]: "2"}, d.ids())
	require.Equal(t, "3\n", d.succeeds("submit", "--", "x"))
}

// The file next to the record needs no free disk space and no look-up.
func TestAnUnrecordedIDIsRecordedByALaterProcess(t *testing.T) {
	d := newDegraded(t)
	definition := d.path(".config/rmctl/site.xml")
	finds := regexp.MustCompile(`(?s)<x:find-job.*</x:find-job>`)
	require.NoError(t, os.WriteFile(definition, []byte(finds.ReplaceAllString(fillingSite, "")), 0o600))
	d.mounted()
	require.Equal(t, "1\n", d.succeeds("submit", "--", "x"))
	_, stderr, done := d.with([]string{"FILL=" + d.state}, nil, "submit", "--", "x")
	require.False(t, done)
	require.Contains(t, stderr, "the id is kept beside the record")
	tags := d.submitted()
	require.Error(t, exec.Command("sh", "-c", `cat /dev/zero >>"$0"`, filepath.Join(d.state, "fill")).Run(), "the log is removed")
	_, stderr, done = d.with(nil, nil, "status")
	require.False(t, done)
	require.Contains(t, stderr, "still cannot record the outcome of a submission")
	require.Equal(t, map[string]string{tags[0]: "1", tags[1]: ""}, d.ids(), "the disk is still full")

	require.NoError(t, os.Remove(filepath.Join(d.state, "fill")))
	d.succeeds("status")
	require.Equal(t, map[string]string{tags[0]: "1", tags[1]: "2"}, d.ids())
	left, err := filepath.Glob(filepath.Join(d.state, "unrecorded-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Users have a limit of the size of files as they have one of the disk.
func TestNothingIsSubmittedIfItCannotBeRecorded(t *testing.T) {
	d := newDegraded(t)
	d.succeeds("submit", "--", "x")
	limited := []string{"/bin/sh", "-c", `ulimit -f 0; exec "$0" "$@"`}
	_, stderr, done := d.with(nil, limited, "submit", "--", "x")
	require.False(t, done)
	require.Contains(t, stderr, "disk or quota full: free some space; nothing recorded is lost")
	require.Len(t, d.submitted(), 1)
	require.Len(t, d.ids(), 1)
}

func TestARecordOnAReadOnlyFileSystemIsRead(t *testing.T) {
	d := newDegraded(t)
	d.mounted()
	d.succeeds("submit", "--", "x")
	require.NoError(t, syscall.Mount("", d.state, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	require.Len(t, d.ids(), 1)
	_, stderr, done := d.with(nil, nil, "submit", "--", "x")
	require.False(t, done)
	require.Contains(t, stderr, "read-only: check permissions")
	require.Len(t, d.submitted(), 1)

	// The log of a killed process cannot be read without writing a file next to it.
	require.NoError(t, syscall.Mount("", d.state, "", syscall.MS_REMOUNT, ""))
	require.NoError(t, os.WriteFile(filepath.Join(d.state, "jobs.db-wal"), []byte("of a process that was killed"), 0o600))
	require.NoError(t, syscall.Mount("", d.state, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	_, stderr, done = d.with(nil, nil, "jobs")
	require.False(t, done)
	require.Contains(t, stderr, "cannot open its files: check permissions")
}

// strace simulates a file system without locks.
func TestTheErrorNamesAFileSystemWithoutLocks(t *testing.T) {
	t.Parallel() // it waits for a lock
	d := newDegraded(t)
	d.succeeds("submit", "--", "x")
	strace := []string{"strace", "-f", "-o", os.DevNull, "-e", "trace=fcntl", "-e", "inject=fcntl:error=ENOLCK"}
	for _, name := range []string{"jobs.db", "jobs.db-shm", ".locks"} {
		strace = append(strace, "-P", filepath.Join(d.state, name))
	}
	if printed, err := exec.CommandContext(t.Context(), strace[0], append(strace[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("strace, which is to refuse the locks, does not work here: %v %s", err, printed)
	}
	_, stderr, done := d.with(nil, strace, "submit", "--", "x")
	require.False(t, done)
	require.Contains(t, stderr, "cannot lock its file, as on some network file systems")
	require.Len(t, d.submitted(), 1)
	require.Len(t, d.ids(), 1)
}

func TestTargetsAreImportedWhereTheFileSystemHasNoLocks(t *testing.T) {
	t.Parallel()
	d := newDegraded(t)
	cluster := d.path("owens.yml")
	require.NoError(t, os.WriteFile(cluster, []byte("---\nv2:\n  login:\n    host: login.example.org\n  job:\n    adapter: slurm\n"), 0o600))
	strace := []string{"strace", "-f", "-o", os.DevNull, "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"}
	if printed, err := exec.CommandContext(t.Context(), strace[0], append(strace[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("strace, which is to refuse the locks, does not work here: %v %s", err, printed)
	}
	_, stderr, done := d.with(nil, strace, "import", cluster)
	require.True(t, done, stderr)
	require.Contains(t, d.succeeds("targets"), "owens")
}
