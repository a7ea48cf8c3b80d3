package control_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// The player is a qsub that replays a recorded conversation. It reads the events from a file,
// each on two lines: the kind, and the text with \ooo for special bytes. Recorded input must
// be typed again exactly. Output before the first line is printed unasked.
const player = `#!/bin/sh
exec 3<"$(dirname "$0")/events"
while read -r kind <&3 && IFS= read -r text <&3; do
	case $kind in
	out) printf '%b' "$text" ;;
	in) IFS= read -r line; printf '%s\n' "$line" >>"$(dirname "$0")/heard" ;;
	esac
done
exit "$(cat "$(dirname "$0")/code")"
`

// An event of a recorded conversation.
type event struct{ kind, text string }

// recorded reads the conversation of a recording of OpenPBS.
func recorded(t *testing.T, name string) (events []event, code string) {
	t.Helper()
	folder := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "shared")), "captures", "openpbs", name)
	source, err := os.ReadFile(filepath.Join(folder, "timeline.json"))
	if os.IsNotExist(err) {
		t.Skipf("there is no recording %s; RMCTL_SHARED names where recordings are", folder)
	}
	require.NoError(t, err)
	var timeline [][]any
	require.NoError(t, json.Unmarshal(source, &timeline))
	for _, entry := range timeline {
		require.Len(t, entry, 3)
		kind, isText := entry[1].(string)
		require.True(t, isText)
		text, isText := entry[2].(string)
		require.True(t, isText)
		events = append(events, event{kind, text})
	}
	exit, err := os.ReadFile(filepath.Join(folder, "exit"))
	require.NoError(t, err)
	return events, strings.TrimSpace(string(exit))
}

// plays puts a player for a recording into a folder, and returns the folder.
func plays(t *testing.T, events []event, code string) string {
	t.Helper()
	folder := t.TempDir()
	var script strings.Builder
	for _, each := range events {
		script.WriteString(each.kind + "\n")
		for _, c := range []byte(strings.ReplaceAll(each.text, "\r\n", "\n")) { // the terminal translates both to it
			script.WriteString(`\0` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
		}
		script.WriteString("\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "events"), []byte(script.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "code"), []byte(code), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "qsub"), []byte(player), 0o700))
	return folder
}

// interactivePBS returns a definition of the field for interactive PBS jobs.
func interactivePBS(t *testing.T) *config.Definition {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "shared")), "definitions", "pbs-generic-interactive.xml")
	source, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("there is no definition %s; RMCTL_SHARED names where it is", path)
	}
	require.NoError(t, err)
	// Its start-up command asks the server for queues: it has no queue.
	definition, problems := check.Load(path, source, nil)
	require.NotNil(t, definition, "%v", problems)
	definition.Commands = slices.DeleteFunc(definition.Commands, func(c *config.Command) bool { return c.Element == config.StartUpCommand })
	return definition
}

// A recordedEnd is the expected result of a recorded conversation.
type recordedEnd struct {
	reported []job.Detail
	end      job.Detail
	id       string
}

func TestRecordedInteractiveClientsOfPBSGoThroughTheirStates(t *testing.T) {
	followRecorded(t, interactivePBS, `^ *-np +/bin/hostname *\n`, map[string]recordedEnd{
		"qsub-I-ok":                 {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1002.pbs01"},
		"qsub-I-exit-7":             {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1003.pbs01"},
		"qsub-I-ptp-cmdline":        {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1004.pbs01"},
		"qsub-I-walltime":           {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1010.pbs01"},
		"qsub-I-with-script":        {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1014.pbs01"},
		"qsub-I-wait-qdel":          {[]job.Detail{job.Submitted}, job.Failed, "1008.pbs01"},
		"qsub-I-running-qdel":       {[]job.Detail{job.Submitted, job.Running}, job.Completed, "1009.pbs01"},
		"qsub-I-err-bad-queue":      {},
		"qsub-I-err-bad-resource":   {},
		"qsub-I-err-disabled-queue": {},
	})
}

// The shipped definition types the path of its script, and detects deletions. In the
// recordings other text was typed: no exit code was printed, without which no job has
// succeeded.
func TestTheShippedDefinitionFollowsRecordedInteractiveClientsOfPBS(t *testing.T) {
	followRecorded(t, shippedInteractivePBS, `^exec sh -c '.+' sh "\S+managed_file_for_script"\n`, map[string]recordedEnd{
		"qsub-I-ok":                 {[]job.Detail{job.Submitted, job.Running}, job.Failed, "1002.pbs01"},
		"qsub-I-exit-7":             {[]job.Detail{job.Submitted, job.Running}, job.Failed, "1003.pbs01"},
		"qsub-I-walltime":           {[]job.Detail{job.Submitted, job.Running}, job.Failed, "1010.pbs01"},
		"qsub-I-with-script":        {[]job.Detail{job.Submitted, job.Running}, job.Failed, "1014.pbs01"},
		"qsub-I-wait-qdel":          {[]job.Detail{job.Submitted, job.Canceled}, job.Canceled, "1008.pbs01"},
		"qsub-I-running-qdel":       {[]job.Detail{job.Submitted, job.Running}, job.Failed, "1009.pbs01"},
		"qsub-I-err-bad-queue":      {},
		"qsub-I-err-bad-resource":   {},
		"qsub-I-err-disabled-queue": {},
	})
}

// shippedInteractivePBS returns pbs-interactive without its start-up command, which queries a
// server for queues.
func shippedInteractivePBS(t *testing.T) *config.Definition {
	t.Helper()
	definition, _, err := check.UsableDefinition("pbs-interactive")
	require.NoError(t, err)
	definition.Commands = slices.DeleteFunc(definition.Commands, func(c *config.Command) bool { return c.Element == config.StartUpCommand })
	return definition
}

// An interactive qsub that prints what a real one prints, and runs the commands typed at its
// prompt.
const promptingQsub = `#!/bin/sh
printf '%s\n' "$*" >"$(dirname "$0")/given"
echo "qsub: waiting for job 7.pbs01 to start"
echo "qsub: job 7.pbs01 ready"
IFS= read -r line
(export PBS_O_WORKDIR="$PWD"; eval "$line")
echo
echo "qsub: job 7.pbs01 completed"
`

// qsub exits with 0 even if the program failed.
func TestInteractivePBSReturnsTheExitCodeOfTheProgram(t *testing.T) {
	for code, end := range map[int]job.Detail{0: job.Completed, 3: job.Failed} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "qsub"), []byte(promptingQsub), 0o700))
		t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
		s := newSite(t, shippedInteractivePBS(t))
		var stdout bytes.Buffer
		submission := job.Submission{Executable: "sh", Arguments: []string{"-c", `echo "$GREETING in $PWD"; exit "$1"`, "x", strconv.Itoa(code)}, Directory: folder,
			Values: []job.Assignment{{Name: "walltime", Value: "10:00"}}, Environment: job.Environment{Variables: []job.Variable{{Name: "GREETING", Value: "it's me"}}}}
		job, err := s.RunInteractive(t.Context(), submission, control.Terminal{Stdout: &stdout, Terminal: &remote.Terminal{}})
		require.NoError(t, err, stdout.String())
		require.Equal(t, "7.pbs01", job.ID)
		require.Equal(t, code, *job.ExitCode, stdout.String())
		require.Equal(t, end, job.Detail)
		require.Contains(t, stdout.String(), "it's me in "+folder)
		given, err := os.ReadFile(filepath.Join(folder, "given"))
		require.NoError(t, err)
		require.Equal(t, "-I "+filepath.Join(s.home, ".eclipsesettings", job.Tag+"managed_file_for_script")+"\n", string(given), "PBS shows the tag")
	}
}

// followRecorded replays recorded conversations to a definition, whose first input must match
// an expression.
func followRecorded(t *testing.T, definitionOf func(*testing.T) *config.Definition, typesFirst string, ends map[string]recordedEnd) {
	t.Helper()
	for name, want := range ends {
		t.Run(name, func(t *testing.T) {
			events, code := recorded(t, name)
			definition := definitionOf(t)
			folder := plays(t, events, code)
			t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
			s := newSite(t, definition)
			typed, keyboard := io.Pipe()
			var typing sync.WaitGroup
			var reported []job.Detail
			var stdout bytes.Buffer
			submission := job.Submission{Executable: "/bin/hostname"}
			terminal := control.Terminal{Stdin: typed, Stdout: &stdout, Terminal: &remote.Terminal{}, Changed: func(one job.Job) {
				reported = append(reported, one.Detail)
				if one.Detail == job.Running {
					typing.Go(func() {
						defer keyboard.Close()
						for _, each := range events[1:] { // the definition types the first line
							if each.kind == "in" {
								_, _ = io.WriteString(keyboard, each.text)
							}
						}
					})
				}
			}}
			j, err := s.RunInteractive(t.Context(), submission, terminal)
			require.NoError(t, keyboard.Close())
			typing.Wait()
			require.Equal(t, want.reported, reported, stdout.String())
			if want.end == "" {
				require.Error(t, err)
				require.Equal(t, job.PhaseRejected, s.onlyJob(t).Phase)
				require.ErrorContains(t, err, strings.TrimSpace(events[0].text))
				return
			}
			require.NoError(t, err)
			require.Equal(t, want.id, j.ID)
			require.Equal(t, want.end, j.Detail)
			if slices.Contains(reported, job.Running) && slices.ContainsFunc(events, func(e event) bool { return e.kind == "in" }) {
				heard, err := os.ReadFile(filepath.Join(folder, "heard"))
				require.NoError(t, err)
				require.Regexp(t, typesFirst, string(heard), "the definition's input comes first")
			}
		})
	}
}
