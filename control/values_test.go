package control_test

import (
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
)

const someAttributes = `
	<attribute name="text"><default>d</default></attribute>
	<attribute name="fixed" readOnly="true"><default>f</default></attribute>
	<attribute name="hidden" visible="false"><default>h</default></attribute>
	<attribute name="color"><choice>,red,green, light blue</choice></attribute>
	<attribute name="size"><choice>small,large</choice><translateChoiceAs>-s,-l</translateChoiceAs></attribute>
	<attribute name="shorter"><choice>one,two,three</choice><translateChoiceAs>1,2</translateChoiceAs></attribute>
	<attribute name="rerun" translateBooleanAs="y,n"/>
	<attribute name="option" translateBooleanAs="-V, "/>
	<attribute name="halfpair" type="boolean" translateBooleanAs="--no-rotate"/>
	<attribute name="flag" type="java.lang.Boolean"/>
	<attribute name="nodes" type="integer" min="1" max="64"><default>1</default></attribute>
	<attribute name="memory" type="java.lang.Integer"/>
	<attribute name="mail" type="java.util.List"/>
	<attribute name="checked"><validator><regex expression="\d+"/><error-message>digits, please</error-message></validator></attribute>
	<attribute name="silent"><validator><regex expression="\d+"/></validator></attribute>
	<attribute name="queue"/>
	<attribute name="control.queue.name" visible="false"><default>none</default><link-value-to>queue</link-value-to></attribute>
	<attribute name="workdir"><default>w</default><link-value-to>directory</link-value-to></attribute>
	<attribute name="chained" visible="false"><link-value-to>control.queue.name</link-value-to></attribute>`

// showing is a submit command whose arguments show attributes.
func showing(names ...string) string {
	var text strings.Builder
	text.WriteString(`<submit-batch name="s"><arg>show</arg>`)
	for _, name := range names {
		text.WriteString(`<arg>"${ptp_rm:` + name + `#value}"</arg>`)
	}
	text.WriteString(`</submit-batch>`)
	return text.String()
}

// shown renders a submission and returns the values of attributes in it.
func shown(t *testing.T, controlData, name string, s control.Submission, change ...func(*control.Options)) (string, error) {
	t.Helper()
	rendering, err := newRenderer(t, define(t, controlData+showing(name)), change...).Render(s)
	if err != nil {
		return "", err
	}
	return rendering.Commands[len(rendering.Commands)-1].Arguments[1], nil
}

func values(pairs ...string) []control.Assignment {
	var list []control.Assignment
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, control.Assignment{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func TestValuesAreStoredAsTheFormWouldStoreThem(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		values    []control.Assignment
		want      string
	}{
		"the default without a value":              {"text", nil, "d"},
		"a text":                                   {"text", values("text", "x y"), "x y"},
		"the empty text is a value":                {"text", values("text", ""), ""},
		"the last of several":                      {"text", values("text", "1", "text", "2"), "2"},
		"one that no form shows":                   {"hidden", values("hidden", "x"), "x"},
		"an item of a choice":                      {"color", values("color", "green"), "green"},
		"an item is stored with its blanks":        {"color", values("color", "light blue"), " light blue"},
		"no item":                                  {"color", values("color", ""), ""},
		"the translation of an item":               {"size", values("size", "large"), "-l"},
		"what an item is stored as":                {"size", values("size", "-s"), "-s"},
		"an item that has no translation":          {"shorter", values("shorter", "three"), "three"},
		"a switch that is on":                      {"rerun", values("rerun", "true"), "y"},
		"a switch that is off":                     {"rerun", values("rerun", "No"), "n"},
		"what a switch is stored as":               {"rerun", values("rerun", "n"), "n"},
		"a switch for an option":                   {"option", values("option", "on"), "-V"},
		"a switch for no option":                   {"option", values("option", "off"), " "},
		"a translation that is no pair is ignored": {"halfpair", values("halfpair", "yes"), "true"},
		"a switch without translation":             {"flag", values("flag", "0"), "false"},
		"an integer":                               {"nodes", values("nodes", " 12 "), "12"},
		"the least integer":                        {"nodes", values("nodes", "1"), "1"},
		"the largest integer":                      {"nodes", values("nodes", "64"), "64"},
		"an integer without bounds":                {"memory", values("memory", "-5"), "-5"},
		"no integer":                               {"memory", values("memory", ""), ""},
		"a list of one":                            {"mail", values("mail", "a"), "[a]"},
		"a list by repetition":                     {"mail", values("mail", "a", "text", "x", "mail", "b,c"), "[a, b,c]"},
		"what a validator takes":                   {"checked", values("checked", "12"), "12"},
		"a link":                                   {"control.queue.name", values("queue", "long"), "long"},
		"the default of a link to nothing":         {"control.queue.name", nil, "none"},
		"a link to a link":                         {"chained", values("queue", "long"), "long"},
		"a value before a link":                    {"workdir", values("workdir", "/w"), "/w"},
		"a link before a default":                  {"workdir", nil, "/home/u/run"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shown(t, someAttributes, c.attribute, control.Submission{Executable: "x", Directory: "/home/u/run", Values: c.values})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestValuesThatAreRefusedNameTheirAttribute(t *testing.T) {
	for name, c := range map[string]struct{ attribute, value, want string }{
		"an attribute that does not exist":     {"colour", "red", `definition "test" has no such attribute` + "\n" + `did you mean "color"?`},
		"one that resembles no other":          {"zzzzzzzzzz", "1", "rmctl describe"},
		"a read-only one":                      {"fixed", "x", "read-only"},
		"one of the engine's":                  {"executablePath", "/x", "set by rmctl itself"},
		"a fact of a job":                      {"job.native", "R", "set by rmctl itself"},
		"no item of the choice":                {"color", "blue", "none of red, green"},
		"a switch in between":                  {"rerun", "maybe", "true or false"},
		"a boolean of another kind":            {"flag", "2", "true or false"},
		"no integer":                           {"nodes", "many", "not an integer"},
		"too small an integer":                 {"nodes", "0", "smallest value is 1"},
		"too large an integer":                 {"nodes", "65", "largest value is 64"},
		"what a validator refuses":             {"checked", "12x", "digits, please"},
		"a validator without message":          {"silent", "", `does not match`},
		"an attribute whose name has no text":  {"", "x", "no such attribute"},
		"a name with references stays what it": {"${ptp_rm:text#value}", "x", "no such attribute"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := shown(t, someAttributes, "text", control.Submission{Executable: "x", Values: values(c.attribute, c.value)})
			require.ErrorContains(t, err, `attribute "`+c.attribute+`"`)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestEveryRefusedValueIsReported(t *testing.T) {
	_, err := shown(t, someAttributes, "text", control.Submission{Executable: "x", Values: values("nodes", "0", "nothing", "1", "text", "x")})
	require.ErrorContains(t, err, `"nodes"`)
	require.ErrorContains(t, err, `"nothing"`)
	var invalid *attribute.InvalidError
	require.ErrorAs(t, err, &invalid)
	var refused *control.ValueError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "nothing", refused.Attribute)
}

func TestValuesOfTheTargetAreOverriddenByThoseOfTheCaller(t *testing.T) {
	defaults := func(o *control.Options) {
		o.Defaults = values("text", "of the target", "mail", "target@x", "nodes", "3")
	}
	for name, c := range map[string]struct {
		attribute string
		values    []control.Assignment
		want      string
	}{
		"the target's":                         {"text", nil, "of the target"},
		"the caller's":                         {"text", values("text", "mine"), "mine"},
		"the target's list":                    {"mail", nil, "[target@x]"},
		"the caller's list replaces it":        {"mail", values("mail", "a", "mail", "b"), "[a, b]"},
		"wherever in the caller's values":      {"mail", values("nodes", "2", "mail", "a"), "[a]"},
		"and the values beside it are as ever": {"nodes", values("mail", "a", "nodes", "2"), "2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shown(t, someAttributes, c.attribute, control.Submission{Executable: "x", Values: c.values}, defaults)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := shown(t, someAttributes, "text", control.Submission{Executable: "x"}, func(o *control.Options) { o.Defaults = values("nodes", "0") })
	require.ErrorContains(t, err, "smallest value is 1", "the target's values are checked, too")
}

const twoTabs = `
	<attribute name="basic"><default>b</default></attribute>
	<attribute name="advanced"><default>a</default></attribute>
	<attribute name="shared"><default>s</default></attribute>
	<attribute name="hidden" visible="false"><default>h</default></attribute>`

const twoTabsForm = `<launch-tab>
	<dynamic includeWidgetValuesFrom="Shared"><title>Basic</title><composite><widget type="text" attribute="basic"/></composite></dynamic>
	<dynamic><title>Advanced</title><widget type="text" attribute="advanced"/></dynamic>
	<dynamic><title>Shared</title><widget type="text" attribute="shared"/></dynamic>
</launch-tab>`

func TestVisibleAttributesThatTheFirstTabDoesNotSetHaveNoValue(t *testing.T) {
	definition := define(t, twoTabs+showing("basic", "advanced", "shared", "hidden", "os.name")+twoTabsForm)
	s := newRenderer(t, definition)
	rendering, err := s.Render(control.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "b", "", "s", "h", runtime.GOOS}, rendering.Commands[0].Arguments)

	rendering, err = s.Render(control.Submission{Executable: "x", Values: values("advanced", "set")})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "b", "set", "s", "h", runtime.GOOS}, rendering.Commands[0].Arguments, "what a caller sets counts")
}

func TestTheEngineTellsWhatItKnowsOfTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		submission control.Submission
		want       map[string]string
	}{
		"a path": {control.Submission{Executable: "/opt/my prog/a.out", Arguments: []string{"x", "y z"}, Directory: "/w"}, map[string]string{
			"executablePath": "/opt/my prog/a.out", "executableDirectory": "/opt/my prog", "executableName": "a.out",
			"directory": "/w", "working.directory": "/w", "launchMode": "run",
		}},
		"a path without directory": {control.Submission{Executable: "/opt/a.out"}, map[string]string{
			"executableDirectory": "/opt", "directory": "/opt", "working.directory": "HOME",
		}},
		"a path in the directory": {control.Submission{Executable: "./bin/a.out", Directory: "/w"}, map[string]string{
			"executablePath": "./bin/a.out", "executableDirectory": "/w/bin", "directory": "/w",
		}},
		"a name": {control.Submission{Executable: "hostname"}, map[string]string{
			"executablePath": "hostname", "executableDirectory": "", "directory": "", "control.working.dir": "HOME", "ptpDirectory": "HOME/.eclipsesettings",
		}},
		"a name that schedulers would refuse": {control.Submission{Executable: "/x/größe:1 #2"}, map[string]string{"executableName": "gr__e_1__2"}},
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
	_, err := newRenderer(t, define(t, controlData)).Render(control.Submission{Executable: "x", Debug: true})
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)

	rendering, err := newRenderer(t, define(t, controlData+`<submit-batch-debug name="d"><arg>${ptp_rm:launchMode#value}</arg></submit-batch-debug>`)).
		Render(control.Submission{Executable: "x", Debug: true})
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
		<script><line><arg>printf '%s\0'</arg><arg>${ptp_rm:executablePath#value}</arg><arg>${ptp_rm:progArgs#value}</arg></line></script>
		<submit-batch name="s"><arg>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</arg></submit-batch>`))
	for _, list := range argumentLists() {
		program := list[0]
		if program == "" {
			program = "x"
		}
		rendering, err := site.Render(control.Submission{Executable: program, Arguments: list, Directory: "/w"})
		require.NoError(t, err)
		want := append([]string{program}, list...)
		require.Equal(t, want, rendering.Commands[0].Arguments)
		printed, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", rendering.Script).Output()
		require.NoError(t, err, rendering.Script)
		require.Equal(t, want, strings.Split(strings.TrimSuffix(string(printed), "\x00"), "\x00"))
	}
}

func TestADebuggerIsToldByValuesThatNoDefinitionHasToHave(t *testing.T) {
	controlData := `<submit-interactive name="s"><arg>x</arg></submit-interactive><submit-interactive-debug name="d"><arg>${ptp_rm:debuggerExecutablePath#value} ${ptp_rm:debuggerArgs#value}</arg></submit-interactive-debug>`
	rendering, err := newRenderer(t, define(t, controlData)).Render(control.Submission{Executable: "x", Debug: true, Values: values("debuggerExecutablePath", "/opt/sdm", "debuggerArgs", "--a --b")})
	require.NoError(t, err)
	require.Equal(t, []string{"/opt/sdm", "--a", "--b"}, rendering.Commands[0].Arguments)
}
