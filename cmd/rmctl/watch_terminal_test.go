package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The last line of the screen of a list, and of what lies over it, has these words.
const (
	endOfJobs   = "help"
	endOfDetail = "Esc"
)

// desk is one with the targets that everybody has, with a terminal.
func desk(t *testing.T, environment ...string) *rmctltest.Desk {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	return rmctltest.NewDesk(t, "", append([]string{"TERM=xterm-256color", rmctltest.Foreground}, environment...)...)
}

func TestJobsAreWatchedAndCanceledOnAScreen(t *testing.T) {
	t.Parallel()
	d := desk(t)
	id := d.Does("submit", "--", "sh", "-c", "echo it begins; sleep 1000")
	s := d.Sits("watch")
	s.WaitFor("\x1b[?1049h") // the alternate screen, so that the previous content returns
	s.Shows(endOfJobs, "1/1", "started", id, "RUNNING", "local")
	s.Type("2")
	s.Shows(endOfJobs, "QUEUE", "local", "NORMAL")
	s.Type("3")
	s.Shows(endOfJobs, "used", "by", "me", "1", "node")
	s.Type("4\r\t")
	s.Shows(endOfDetail, "accepted", "SUBMITTED", "status", "stdout:1:")
	s.Type("\t")
	s.Shows(endOfDetail, "it", "begins")
	require.NoError(t, pty.Setsize(s.Device, &pty.Winsize{Rows: 12, Cols: 75}))
	s.Type("c")
	s.Shows("y yes", "Cancel", "job", id, "[y/N]")
	s.Type("yq")
	s.ShowsRow(endOfJobs, id, "CANCELED") // "CANCELED?" is not confirmed yet
	s.Type("q")
	s.Ends(exitDone)
	require.Contains(t, s.Screen, "\x1b[?1049l")
	require.Contains(t, d.Does("status", "--json", id), `"detail":"CANCELED"`)
}

func TestTheScreenShowsUnconfiguredTargetsWithJobs(t *testing.T) {
	t.Parallel()
	d := desk(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.Home, ".config", "rmctl", "targets.toml"), []byte("default = \"mine\"\n[targets.mine]\ndefinition = \"local\"\n"), 0o600))
	id := d.Does("submit", "-t", "local", "--", "sleep", "1000")
	s := d.Sits("watch")
	s.Shows(endOfJobs, "2/2", "started", id, "local", "RUNNING")
	s.Type("q")
	s.Ends(exitDone)
	d.Does("cancel", id)
}

func TestAJobIsSubmittedFromTheScreen(t *testing.T) {
	t.Parallel()
	d := desk(t)
	s := d.Sits("watch", "-t", "local")
	s.Shows(endOfJobs, "1/1", "No", "jobs")
	s.Type("n")
	s.WaitFor("Ctrl-S submit")
	s.Type("\x13")
	s.WaitFor("values of the tab")
	s.Type("sleep\t1000\t\t\t\r")
	s.WaitFor("\x1b[?1049h") // the form is gone
	s.Shows(endOfJobs, "1", "RUNNING", "sleep", "submitted", "job", "1", "local")
	s.Type("n")
	s.WaitFor("Ctrl-S submit")
	s.Type("\x1b")
	s.WaitFor("\x1b[?1049h")
	s.Shows(endOfJobs, "nothing", "submitted")
	s.Type("\x03")
	s.Ends(exitDone)
	d.Does("cancel", "1")
}

func TestAnInteractiveJobHasTheTerminalOfTheScreen(t *testing.T) {
	t.Parallel()
	d := desk(t)
	s := d.Sits("watch", "-t", "fork")
	s.Shows(endOfJobs, "1/1", "started")
	s.Type("n")
	s.WaitFor("Ctrl-S run")
	s.Type("\x13")
	s.WaitFor("values of the tab")
	s.Type("sh\t-c 'echo it asks; read line; echo $line $line; exit 3'\t\t\r")
	s.WaitFor("\x1b[?1049l")
	s.WaitFor("it asks")
	s.Type("again\r")
	s.WaitFor("again again")
	s.WaitFor("Enter goes back: ")
	s.Type("\r")
	s.WaitFor("\x1b[?1049h")
	s.Shows(endOfJobs, "ended", "with", "code", "3")
	s.Type("q")
	s.Ends(exitDone)
}

func TestSSHPromptsAppearOnTheScreen(t *testing.T) {
	d := desk(t)
	config, err := os.ReadFile(startSSHServer(t))
	require.NoError(t, err)
	file := filepath.Join(d.Home, "ssh_config")
	require.NoError(t, os.WriteFile(file, append([]byte("Host stranger\n    BatchMode no\n"), config...), 0o600))
	d.Reaches("far", "local", "ssh", "stranger", file)
	s := d.Sits("watch", "-t", "far")
	s.Shows("refuse", "asks", "stranger:", "fingerprint", "Answer:")
	s.Type("yes\r1")
	s.Shows(endOfJobs, "1/1", "far", "STARTED", "stranger")
	s.Type("q")
	s.Ends(exitDone)

	d.Reaches("locked", "local", "ssh", "locked", file)
	d.Reaches("refused", "local", "ssh", "refused", file)
	s = d.Sits("watch")
	s.Type("1")
	s.Shows(endOfJobs, "2", "in", "error", "far", "STARTED", "locked", "ERROR", "refused", "ERROR")
	s.Type("q")
	s.Ends(exitDone)
}

func TestTheScreenShowsALostConnectionAndItsReturn(t *testing.T) {
	d := desk(t)
	server, config := newSSHServer(t)
	d.Reaches("far", "local", "ssh", "known", config)
	id := d.Does("submit", "-t", "far", "--", "sleep", "1000")
	t.Cleanup(func() { d.Does("cancel", "far/"+id) })
	s := d.Sits("watch", "-t", "far")
	s.Shows(endOfJobs, "1/1", "started", id, "RUNNING", "local")
	server.goOut(true)
	s.Shows(endOfJobs, "0/1", "started", "1", "in", "error", id, "RUNNING?", "local")
	s.Type("1")
	s.Shows(endOfJobs, "far", "ERROR", "retrying", "far", "in")
	server.goOut(false)
	s.Type("s4") // tried again now
	s.Shows(endOfJobs, "1/1", "started", id, "RUNNING", "local")
	s.Type("q")
	s.Ends(exitDone)
}

func TestAScreenWithoutColours(t *testing.T) {
	t.Parallel()
	d := desk(t, "NO_COLOR=1")
	s := d.Sits("watch")
	s.Shows(endOfJobs, "1/1", "started")
	s.Type("13")
	s.Shows(endOfJobs, "1", "node")
	require.NoError(t, s.Command.Process.Signal(syscall.SIGTERM))
	s.Ends(exitDone)
	require.Contains(t, s.Screen, "\x1b[?1049l", "the terminal is as it was")
	require.NotRegexp(t, `\x1b\[[0-9;]*3[0-9]m`, s.Screen, "nobody wanted colours")
}

func TestADumbTerminalGetsAHintInsteadOfAScreen(t *testing.T) {
	t.Parallel()
	d := desk(t)
	for _, setting := range []string{"TERM=dumb", "TERM="} {
		d.Environment = append(d.Environment, setting)
		s := d.Sits("watch")
		s.Ends(exitUsage)
		require.Contains(t, s.Screen, "rmctl watch --plain")
		require.NotContains(t, s.Screen, "\x1b")
	}
}

func TestEventsAreStillPrintedAtATerminal(t *testing.T) {
	t.Parallel()
	d := desk(t)
	id := d.Does("submit", "--", "true")
	s := d.Sits("watch", "--after", "0", id)
	s.WaitFor("local/" + id + "  state  COMPLETED")
	s.Ends(exitDone)
	require.NotContains(t, s.Screen, "\x1b[?1049h")
	s = d.Sits("watch", "--plain")
	s.WaitFor("no unfinished jobs on record")
	s.Type("\x03")
	s.Ends(exitDone)
	id = d.Does("submit", "--", "sleep", "1000")
	s = d.Sits("watch", "--plain")
	s.WaitFor("local/" + id + "  now  ")
	s.Type("\x03")
	s.Ends(exitDone)
	d.Does("cancel", id)
	s = d.Sits("watch", "--plain", "--after", "0")
	s.WaitFor("accepted  QUEUED")
	require.NotContains(t, s.Screen, "  now  ")
	s.Type("\x03")
	s.Ends(exitDone)
}
