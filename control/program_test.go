package control_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

func TestTheProgramIsPassedToTheDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		submission job.Submission
		want       map[string]string
	}{
		"a path": {job.Submission{Executable: "/opt/my prog/a.out", Arguments: []string{"x", "y z"}, Directory: "/w"}, map[string]string{
			"executablePath": "/opt/my prog/a.out", "executableDirectory": "/opt/my prog", "executableName": "a.out",
			"directory": "/w", "working.directory": "/w", "launchMode": "run",
		}},
		"a path without directory": {job.Submission{Executable: "/opt/a.out"}, map[string]string{
			"executableDirectory": "/opt", "directory": "/opt", "working.directory": "HOME",
		}},
		"a path in the directory": {job.Submission{Executable: "./bin/a.out", Directory: "/w"}, map[string]string{
			"executablePath": "./bin/a.out", "executableDirectory": "/w/bin", "directory": "/w",
		}},
		"a name": {job.Submission{Executable: "hostname"}, map[string]string{
			"executablePath": "hostname", "executableDirectory": "", "directory": "", "control.working.dir": "HOME", "ptpDirectory": "HOME/.eclipsesettings",
		}},
		"a name that schedulers would refuse": {job.Submission{Executable: "/x/größe:1 #2"}, map[string]string{"executableName": "gr__e_1__2"}},
	} {
		t.Run(name, func(t *testing.T) {
			for attribute, want := range c.want {
				site := newRenderer(t, define(t, `<submit-batch name="s"><arg>${ptp_rm:`+attribute+`#value}</arg><arg>.</arg></submit-batch>`))
				rendering, err := site.Render(c.submission)
				require.NoError(t, err)
				got := rendering.Commands[0].Arguments
				require.Equal(t, strings.ReplaceAll(want, "HOME", site.home), strings.Join(got[:len(got)-1], " "), attribute)
			}
		})
	}
}

func TestDebuggingHasItsOwnCommand(t *testing.T) {
	controlData := `<submit-batch name="s"><arg>${ptp_rm:launchMode#value}</arg></submit-batch>`
	_, err := newRenderer(t, define(t, controlData)).Render(job.Submission{Executable: "x", Debug: true})
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)

	rendering, err := newRenderer(t, define(t, controlData+`<submit-batch-debug name="d"><arg>${ptp_rm:launchMode#value}</arg></submit-batch-debug>`)).
		Render(job.Submission{Executable: "x", Debug: true})
	require.NoError(t, err)
	require.Equal(t, []string{"debug"}, rendering.Commands[0].Arguments)
}

// argumentLists returns lists of arguments, the nastiest first.
func argumentLists() [][]string {
	lists := [][]string{
		{"", "", "a b", "'", `"`, `\`, `\'`, `'"'"'`, "$HOME", "`id`", "$(id)", "*", "?", "~", "!", "#", ";", "&", "|", "<", ">", "\n", "a\nb", "\t", " "},
		{"${ptp_rm:text#value}", "${ptp_rm:${ptp_rm:text#value}#value}", "${HOME}", "${", "}", "$", "'${x}'", "@jobId", "${ptp_rm:text#nofield}", "${ptp_rm:@jobId#name}"},
		{"ä", "日本", "\xff\xfe", "-n", "--", "a=b", "%s", "\r", "\x01", "\x7f", "\v\f"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	const alphabet = "ab '\"\\$`{}()!*?#;&|<>\n\t~%@:/.=-é"
	characters := []rune(alphabet)
	for range 30 {
		var list []string
		for range 1 + random.IntN(5) {
			var word strings.Builder
			for range random.IntN(12) {
				word.WriteRune(characters[random.IntN(len(characters))])
			}
			list = append(list, word.String())
		}
		lists = append(lists, list)
	}
	return lists
}

func TestArgumentsSurviveShellAndSplitting(t *testing.T) {
	site := newRenderer(t, define(t, `<attribute name="text"><default>no</default></attribute>
		<script><line><arg>/usr/bin/printf '%s\0'</arg><arg>${ptp_rm:executablePath#value}</arg><arg>${ptp_rm:progArgs#value}</arg></line></script>
		<submit-batch name="s"><arg>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</arg></submit-batch>`))
	for _, list := range argumentLists() {
		program := cmp.Or(list[0], "x")
		rendering, err := site.Render(job.Submission{Executable: program, Arguments: list, Directory: "/w"})
		require.NoError(t, err)
		want := append([]string{program}, list...)
		require.Equal(t, want, rendering.Commands[0].Arguments)
		for _, shell := range []string{"/bin/sh", "/bin/bash", "/bin/csh", "/bin/tcsh"} {
			if _, err := os.Stat(shell); err != nil || strings.HasSuffix(shell, "csh") && strings.ContainsAny(rendering.Script[:len(rendering.Script)-1], "\n") {
				continue // csh cannot quote line breaks as sh does
			}
			printed, err := exec.CommandContext(t.Context(), shell, "-c", rendering.Script).Output()
			require.NoError(t, err, rendering.Script)
			require.Equal(t, want, strings.Split(strings.TrimSuffix(string(printed), "\x00"), "\x00"), shell)
		}
	}
}

// Definitions write COMMAND="… ${ptp_rm:progArgs#value}". No quoting gives the
// arguments back from there, but none of them may be run.
func TestNothingOfAnArgumentRunsWithinDoubleQuotes(t *testing.T) {
	site := newRenderer(t, define(t, `<script><line><arg>COMMAND="${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}"</arg></line><line><arg>printf '%s\0' "$COMMAND"</arg></line></script>
		<submit-batch name="s"><arg>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</arg></submit-batch>`))
	unescaped := strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", `\"`, `"`)
	lists := append(argumentLists(), []string{"$(touch ran)"}, []string{"`touch ran`"}, []string{`"; touch ran; "`}, []string{`it's; touch ran`}, []string{`'"'; touch ran`}, []string{`\`, `\"; touch ran #`})
	for _, list := range lists {
		rendering, err := site.Render(job.Submission{Executable: cmp.Or(list[0], "x"), Arguments: list[1:], Directory: "/w"})
		require.NoError(t, err)
		line, _, _ := strings.Cut(strings.TrimPrefix(rendering.Script, `COMMAND="`), "\"\nprintf")
		folder := t.TempDir()
		shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", rendering.Script)
		shell.Dir = folder
		printed, err := shell.CombinedOutput()
		require.NoError(t, err, rendering.Script)
		require.Equal(t, unescaped.Replace(line)+"\x00", string(printed))
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, rendering.Script)
	}
}

func TestTheAttributesOfADebuggerAreOptional(t *testing.T) {
	controlData := `<submit-interactive name="s"><arg>x</arg></submit-interactive><submit-interactive-debug name="d"><arg>${ptp_rm:debuggerExecutablePath#value} ${ptp_rm:debuggerArgs#value}</arg></submit-interactive-debug>`
	rendering, err := newRenderer(t, define(t, controlData)).Render(job.Submission{Executable: "x", Debug: true, Values: values("debuggerExecutablePath", "/opt/sdm", "debuggerArgs", "--a --b")})
	require.NoError(t, err)
	require.Equal(t, []string{"/opt/sdm", "--a", "--b"}, rendering.Commands[0].Arguments)
}

func TestOutputFilesAndPreLaunchCommandsCanBeSet(t *testing.T) {
	controlData := `<attribute name="stdout_remote_path" visible="false"/><attribute name="control.queue.name" visible="false"/>` + showing("stdout_remote_path", "control.queue.name", "ems", "debuggerId", "debuggerLauncher")
	rendering, err := newRenderer(t, define(t, controlData)).Render(job.Submission{Executable: "x",
		Values: values("stdout_remote_path", "/o", "control.queue.name", "q", "ems", "module load x", "debuggerId", "i", "debuggerLauncher", "l")})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "/o", "q", "module load x", "i", "l"}, rendering.Commands[0].Arguments)
}
