package control_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

// scriptOf renders a definition's script with variables.
func scriptOf(t *testing.T, script string, variables ...job.Variable) (string, error) {
	t.Helper()
	s := newRenderer(t, define(t, `<attribute name="q"/><attribute name="sh"><default>/bin/sh</default></attribute>`+script+`<submit-batch name="s"><arg>x</arg></submit-batch>`))
	rendering, err := s.Render(job.Submission{Executable: "x", Environment: job.Environment{Variables: variables}})
	if err != nil {
		return "", err
	}
	return rendering.Script, nil
}

const fourLines = `<line><arg>#!${ptp_rm:sh#value}</arg></line><line><arg isUndefinedIfMatches="#Q">#Q ${ptp_rm:q#value}</arg></line>` +
	`<line/><line><arg>last</arg></line>`

func TestTheEnvironmentFollowsTheLineThatTheDefinitionNames(t *testing.T) {
	one := job.Variable{Name: "B", Value: "2"}
	two := job.Variable{Name: "A", Value: "1"}
	const exports = "export A=\"1\"\nexport B=\"2\"\n"
	for name, c := range map[string]struct{ after, want string }{
		"not at all by default":                   {"", "#!/bin/sh\nlast\n"},
		"not at all":                              {`insertEnvironmentAfter="-1"`, "#!/bin/sh\nlast\n"},
		"not at all for any negative number":      {`insertEnvironmentAfter="-7"`, "#!/bin/sh\nlast\n"},
		"after the first":                         {`insertEnvironmentAfter="0"`, "#!/bin/sh\n" + exports + "last\n"},
		"after one that vanished":                 {`insertEnvironmentAfter="1"`, "#!/bin/sh\n" + exports + "last\n"},
		"after an empty one":                      {`insertEnvironmentAfter="2"`, "#!/bin/sh\n" + exports + "last\n"},
		"after the last":                          {`insertEnvironmentAfter="3"`, "#!/bin/sh\nlast\n" + exports},
		"beyond the end means the second element": {`insertEnvironmentAfter="4"`, "#!/bin/sh\n" + exports + "last\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scriptOf(t, `<script `+c.after+`>`+fourLines+`</script>`, one, two)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestTheEnvironmentFollowsTheOptionsAndLinesThatBeginLikeThem(t *testing.T) {
	for lines, want := range map[string]string{
		`<line><arg>#!/bin/sh</arg></line><line x:options="#Q "/><line><arg>last</arg></line>`:                                                         "#!/bin/sh\nexport A=\"1\"\nlast\n",
		`<line><arg>#!/bin/sh</arg></line><line x:options="#Q "/><line><arg>#Q end</arg></line><line><arg>last</arg></line>`:                           "#!/bin/sh\n#Q end\nexport A=\"1\"\nlast\n",
		`<line><arg>#Q begin</arg></line><line x:options="#Q "/><line><arg>one</arg></line><line><arg>#Q end</arg></line><line><arg>last</arg></line>`: "#Q begin\none\n#Q end\nexport A=\"1\"\nlast\n",
	} {
		got, err := scriptOf(t, `<script>`+lines+`</script>`, job.Variable{Name: "A", Value: "1"})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestAOneLineScriptGetsTheEnvironment(t *testing.T) {
	got, err := scriptOf(t, `<script insertEnvironmentAfter="5"><line><arg>#!/bin/sh</arg></line></script>`, job.Variable{Name: "A", Value: "1"})
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\nexport A=\"1\"\n", got)
}

func TestVariablesWithoutValueAreNotSet(t *testing.T) {
	got, err := scriptOf(t, `<script insertEnvironmentAfter="0"><line><arg>#!/bin/sh</arg></line></script>`, job.Variable{Name: "A"})
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n", got)
}

func TestNamesOfVariablesCannotHoldShellText(t *testing.T) {
	for _, name := range []string{"A;id", "A B", "1A", "A-B", "", "A$(id)", "A\nid", "Ä"} {
		_, err := scriptOf(t, `<script insertEnvironmentAfter="0"><line><arg>#!/bin/sh</arg></line></script>`, job.Variable{Name: name, Value: "1"})
		require.ErrorContains(t, err, "letters, digits and underscores", name)
	}
}

var hostileValues = []string{
	"plain", "a b", `"`, "'", `\`, `\\"`, "$HOME", "${HOME}", "`id`", "$(id)", "!", "!!", "a\nb", "\t", " lead", "trail ", "ä", "*", "#x", ";id", `it's "so" \$!`,
	"${ptp_rm:q#value}", "@jobId", "\xff", "a'b'c!d\ne",
}

// randomValues returns values of characters that shells treat specially.
func randomValues(count int) []string {
	random := rand.New(rand.NewPCG(3, 4))
	alphabet := []rune("aZ0 '\"\\$`!(){}[]<>|&;*?#~^%@=:,.-_\n\t\réß")
	list := make([]string, count)
	for i := range list {
		var value strings.Builder
		for range 1 + random.IntN(16) {
			value.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		list[i] = value.String()
	}
	return list
}

// A script that sets many variables, each of them compared in the shell's own
// environment afterwards: one process for all values.
func TestVariablesOfAScriptReachItsShellUnchanged(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/bin/dash", "/bin/ksh", "/bin/zsh", "/bin/csh", "/bin/tcsh", "/bin/bsd-csh"} {
		t.Run(filepath.Base(shell), func(t *testing.T) {
			if _, err := os.Stat(shell); err != nil {
				t.Skip(err)
			}
			var variables []job.Variable
			want := map[string]string{}
			for i, value := range append(slices.Clone(hostileValues), randomValues(400)...) {
				name := fmt.Sprintf("VALUE%03d", i)
				variables = append(variables, job.Variable{Name: name, Value: value})
				want[name] = value
			}
			script, err := scriptOf(t, `<script insertEnvironmentAfter="0"><line><arg>#!`+shell+`</arg></line><line><arg resolve="false">env -0</arg></line></script>`, variables...)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "script")
			require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
			run := exec.CommandContext(t.Context(), shell, file)
			run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C.UTF-8"}
			printed, err := run.Output()
			require.NoError(t, err)
			got := map[string]string{}
			for entry := range strings.SplitSeq(string(printed), "\x00") {
				if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "VALUE") {
					got[name] = value
				}
			}
			require.Equal(t, want, got)
		})
	}
}

func TestAScriptForCshSetsVariablesAsCshDoes(t *testing.T) {
	for value, want := range map[string]string{
		"plain":          `setenv A "plain"`,
		"two words":      `setenv A "two words"`,
		"$HOME":          `setenv A '$HOME'`,
		"it's":           `setenv A 'it'\''s'`,
		"wow!":           `setenv A 'wow\!'`,
		"a\nb":           "setenv A 'a\\\nb'",
		"back`tick\\":    "setenv A 'back`tick\\'",
		`say "hi"`:       `setenv A 'say "hi"'`,
		"${ptp_rm:nope}": `setenv A '${ptp_rm:nope}'`,
	} {
		for _, shell := range []string{"#!/bin/csh", "#!/usr/bin/tcsh -f"} {
			got, err := scriptOf(t, `<script insertEnvironmentAfter="0"><line><arg>`+shell+`</arg></line></script>`, job.Variable{Name: "A", Value: value})
			require.NoError(t, err)
			require.Equal(t, shell+"\n"+want+"\n", got)
		}
	}
}

func TestTheShellIsThatOfTheResolvedFirstLine(t *testing.T) {
	s := newRenderer(t, define(t, `<attribute name="sh"/><script insertEnvironmentAfter="1"><line><arg>#!${ptp_rm:sh#value}</arg></line><line><arg>x</arg></line></script><submit-batch name="s"><arg>x</arg></submit-batch>`))
	rendering, err := s.Render(job.Submission{Executable: "x", Values: values("sh", "/bin/csh"), Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "1"}}}})
	require.NoError(t, err)
	require.Equal(t, "#!/bin/csh\nx\nsetenv A \"1\"\n", rendering.Script)
}

func TestLinesKeepTheContentsOfTheirArguments(t *testing.T) {
	got, err := scriptOf(t, `<script><line><arg>#!/bin/sh</arg></line><line><arg> </arg></line><line><arg resolve="false">for f in ${FILES}; do</arg><arg>`+
		"\n\t"+`${ptp_rm:sh#value}</arg></line></script>`)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n \nfor f in ${FILES}; do \n\t/bin/sh\n", got)
}

func TestALineThatDoesNotResolveIsAnError(t *testing.T) {
	_, err := scriptOf(t, `<attribute name="circle"><default>${ptp_rm:circle#value} </default></attribute><script><line><arg>${ptp_rm:circle#value}</arg></line></script>`)
	require.ErrorContains(t, err, "generating the script")
}

func TestTheScriptIsAnAttribute(t *testing.T) {
	s := newRenderer(t, define(t, `<script><line><arg>#!/bin/sh</arg></line><line><arg resolve="false">echo ${ptp_rm:x#value}</arg></line></script>
		<submit-batch name="s"><arg>x</arg><input>${ptp_rm:script#value}</input></submit-batch>`))
	rendering, err := s.Render(job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho ${ptp_rm:x#value}\n", rendering.Script)
	require.Equal(t, rendering.Script, rendering.Files[0].Content)
	require.True(t, strings.HasPrefix(rendering.Commands[0].Input, "#!/bin/sh\necho"))
}

func TestOptionsInTheOwnScriptAreRead(t *testing.T) {
	definition := define(t, `<attribute name="about" type="string" x:option="-d "><validator><regex expression="[^$]*"/></validator></attribute>
		<attribute name="queue" type="string" x:option="-q "/><attribute name="mem" type="string" x:option="--mem="/>
		<attribute name="chunk" type="string" x:option="-l chunk="/><attribute name="held" type="boolean" x:option="-H"/>
		<attribute name="output" type="string" x:option="-o "/><attribute name="note" type="string" x:option="--note "/>
		<attribute name="further" type="string" x:option=""/>
		<attribute name="stdout_remote_path" visible="false"><link-value-to>output</link-value-to></attribute>
		<script><line x:options="#S "/></script>
		<submit-batch name="s"><arg>x</arg><arg>"${ptp_rm:about#value}|${ptp_rm:queue#value}|${ptp_rm:mem#value}|${ptp_rm:chunk#value}|${ptp_rm:held#value}|${ptp_rm:further#value}|${ptp_rm:stdout_remote_path#value}${ptp_rm:note#value}"</arg></submit-batch>`)
	for script, want := range map[string]string{
		"":                                   "||||||",
		`#S -d "my job; it's" -q short`:      "my job; it's|short|||||",
		`#S -d 'a b' -H -unknown # -q night`: "a b||||true||",
		"#S -d first\n#S -d \"last\"":        "last||||||",
		"#S --mem=4G\n#S -l chunk=2:n=3":     "||4G|2:n=3|||",
		"#S --note=2 --notes=3 -q=short":     "||||||2",
		"#S --mem 4G\n#S -o out.%J\n#S -q":   "||4G||||out.%J",
		`#S -d "for $x" -q`:                  "||||||",
		"echo '#S -q short'\n #S -q short":   "||||||",
		"#S -lchunk=2 -l other=3 -Held":      "||||||",
	} {
		path := filepath.Join(t.TempDir(), "job.sh")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\ntrue\n"), 0o600))
		rendering, err := newRenderer(t, definition).Render(job.Submission{Script: path})
		require.NoError(t, err)
		require.Equal(t, []string{"x", want}, rendering.Commands[0].Arguments, script)
		require.Contains(t, rendering.Script, script, "it is handed over as it is")
	}
	path := filepath.Join(t.TempDir(), "job.sh")
	require.NoError(t, os.WriteFile(path, []byte("#S -q short -d x\n"), 0o600))
	rendering, err := newRenderer(t, definition).Render(job.Submission{Script: path, Values: []job.Assignment{{Name: "queue", Value: "long"}}})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "x|long|||||"}, rendering.Commands[0].Arguments, "what is given counts")
}
