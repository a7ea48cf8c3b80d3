package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/job"
)

// words resolves the arguments of a command with this content.
func words(t *testing.T, env *attribute.Environment, arguments string) ([]string, error) {
	t.Helper()
	definition := define(t, `<start-up-command name="c">`+arguments+`</start-up-command>`)
	scope := config.Scope{Environment: env, Job: "17"}
	return scope.Words(definition.Command(config.StartUpCommand).Arguments)
}

func someAttributes() *attribute.Environment {
	env := attribute.NewEnvironment()
	for name, value := range map[string]attribute.Value{
		"q": nil, "a": "acct 1", "flag": false, "blank": "  ", "number": 12, "pattern": "[a-c]+", "padded": " x ",
		"deep": "${ptp_rm:a#value}", "list": []string{"one", "two"}, "17": "state", "id": "17",
	} {
		env.SetVariable(name, value)
	}
	return env
}

func TestArgumentsResolveAsTheReferenceSays(t *testing.T) {
	for name, c := range map[string]struct {
		argument string
		want     []string
	}{
		"an option without value vanishes":               {`<arg isUndefinedIfMatches="-q">-q ${ptp_rm:q#value}</arg>`, nil},
		"an option with a value is split":                {`<arg isUndefinedIfMatches="-A">-A ${ptp_rm:a#value}</arg>`, []string{"-A", "acct", "1"}},
		"a false attribute takes its argument away":      {`<arg attribute="flag" isUndefinedIfMatches="false">-v</arg>`, nil},
		"a missing attribute takes its argument away":    {`<arg attribute="opt" isUndefinedIfMatches="true">-v</arg>`, nil},
		"an attribute without value does so, too":        {`<arg attribute="q" isUndefinedIfMatches="true">-v</arg>`, nil},
		"another value leaves the argument":              {`<arg attribute="number" isUndefinedIfMatches="13">-v</arg>`, []string{"-v"}},
		"the attribute's whole value must match":         {`<arg attribute="number" isUndefinedIfMatches="1">-v</arg>`, []string{"-v"}},
		"the attribute's value is compared untrimmed":    {`<arg attribute="padded" isUndefinedIfMatches="x">-v</arg>`, []string{"-v"}},
		"a pattern beside an attribute is not expanded":  {`<arg attribute="id" isUndefinedIfMatches="@jobId">-v</arg>`, []string{"-v"}},
		"an attribute alone has no effect":               {`<arg attribute="q">-v</arg>`, []string{"-v"}},
		"nothing is considered without resolving":        {`<arg resolve="false" isUndefinedIfMatches=".*">${HOME}/${ptp_rm:a#value}</arg>`, []string{"${HOME}/${ptp_rm:a#value}"}},
		"shell variables stay beside references":         {`<arg>${HOME}/${ptp_rm:a#value}</arg>`, []string{"${HOME}/acct", "1"}},
		"the empty pattern takes a blank argument":       {`<arg isUndefinedIfMatches="">${ptp_rm:blank#value}</arg>`, nil},
		"text and pattern are trimmed for comparison":    {`<arg isUndefinedIfMatches=" -q ">  -q ${ptp_rm:q#value}</arg>`, nil},
		"the whole text must match":                      {`<arg isUndefinedIfMatches="-q">-q 1</arg>`, []string{"-q", "1"}},
		"a pattern is an expression":                     {`<arg isUndefinedIfMatches="-n \d+">-n ${ptp_rm:number#value}</arg>`, nil},
		"a pattern of plain text is one, too":            {`<arg isUndefinedIfMatches="-n.12">-n.12</arg>`, nil},
		"a pattern without attribute is expanded":        {`<arg isUndefinedIfMatches="${ptp_rm:pattern#value}">abc</arg>`, nil},
		"an expanded pattern that does not match":        {`<arg isUndefinedIfMatches="${ptp_rm:pattern#value}">abd</arg>`, []string{"abd"}},
		"references in values are followed":              {`<arg>${ptp_rm:deep#value}</arg>`, []string{"acct", "1"}},
		"the job's key replaces its placeholder":         {`<arg>${ptp_rm:@jobId#value}.@jobId</arg>`, []string{"state.17"}},
		"the placeholder stays without resolving":        {`<arg resolve="false">@jobId</arg>`, []string{"@jobId"}},
		"quotes keep a word together":                    {`<arg>"${ptp_rm:a#value}"</arg>`, []string{"acct 1"}},
		"each argument is split by itself":               {`<arg>"a b</arg><arg>c"</arg>`, []string{"a b", "c"}},
		"an unterminated empty quote is no word":         {`<arg>/x/exe "</arg>`, []string{"/x/exe"}},
		"a list is shown as text":                        {`<arg>'${ptp_rm:list#value}'</arg>`, []string{"[one, two]"}},
		"what nobody defined is empty":                   {`<arg>-x ${ptp_rm:nothing#value}</arg>`, []string{"-x"}},
		"a value is neither globbed nor taken by shells": {`<arg resolve="false">*;$(id)` + "`id`" + `|&amp;</arg>`, []string{"*;$(id)`id`|&"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := words(t, someAttributes(), c.argument)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestUnresolvableTextIsAnErrorWithItsPosition(t *testing.T) {
	env := someAttributes()
	env.SetVariable("circle", "${ptp_rm:circle#value}x")
	_, err := words(t, env, `<arg>${ptp_rm:circle#value}</arg>`)
	require.ErrorContains(t, err, "test.xml:1:")
	require.ErrorContains(t, err, "resolving ")

	env.SetVariable("broken", "(")
	_, err = words(t, env, `<arg isUndefinedIfMatches="${ptp_rm:broken#value}">x</arg>`)
	require.ErrorContains(t, err, "isUndefinedIfMatches")
}

func TestLinesJoinTheirArgumentsWithBlanks(t *testing.T) {
	for name, c := range map[string]struct{ arguments, want string }{
		"one blank between":                       {`<arg>a</arg><arg>b</arg>`, "a b"},
		"empty ones leave no blank":               {`<arg>a</arg><arg/><arg>c</arg>`, "a c"},
		"an empty first one leaves its blank":     {`<arg/><arg>b</arg>`, " b"},
		"blanks within stay":                      {`<arg> a </arg><arg>  b</arg>`, " a    b"},
		"nothing is split":                        {`<arg>"a" 'b'\c</arg>`, `"a" 'b'\c`},
		"undefined ones vanish":                   {`<arg>#X</arg><arg isUndefinedIfMatches="-q">-q ${ptp_rm:q#value}</arg>`, "#X"},
		"all undefined give the empty line":       {`<arg isUndefinedIfMatches="-q">-q ${ptp_rm:q#value}</arg>`, ""},
		"line breaks are kept":                    {"<arg>a\n\tb</arg>", "a\n\tb"},
		"no argument at all is the empty line":    {``, ""},
		"a line of one blank is not an empty one": {`<arg> </arg>`, " "},
	} {
		t.Run(name, func(t *testing.T) {
			definition := define(t, `<script><line>`+c.arguments+`</line></script>`)
			line, err := config.Scope{Environment: someAttributes()}.Line(definition.Script.Lines[0].Arguments)
			require.NoError(t, err)
			require.Equal(t, c.want, line)
		})
	}
}

func resolved(t *testing.T, controlData string, kind config.CommandElement, launch job.Environment) (*command.Invocation, error) {
	t.Helper()
	definition := define(t, controlData)
	return command.Resolve(definition.Command(kind), config.Scope{Environment: someAttributes(), Job: "17"}, launch)
}

func TestEveryTextOfACommandIsResolved(t *testing.T) {
	i, err := resolved(t, `<submit-batch name="s" directory="/w/${ptp_rm:number#value}"><arg>sub ${ptp_rm:number#value}</arg>
		<input>go ${ptp_rm:a#value}</input><input isUndefinedIfMatches="">${ptp_rm:q#value}</input><input>on</input>
		<environment name="E" value="${ptp_rm:a#value}/@jobId"/>
		<pre-launch-cmd name="p" exec="rm -f '${ptp_rm:a#value}'"/>
		<post-launch-cmd name="q" exec="touch x" directory="/o/${ptp_rm:number#value}"/></submit-batch>`, config.SubmitBatch, job.Environment{})
	require.NoError(t, err)
	require.Equal(t, []string{"sub", "12"}, i.Arguments)
	require.Equal(t, "/w/12", i.Directory)
	require.True(t, i.HasInput)
	require.Equal(t, "go acct 1 on", i.Input)
	require.Equal(t, []job.Variable{{Name: "E", Value: "acct 1/17"}}, i.Environment)
	require.Equal(t, []string{"rm", "-f", "acct 1"}, i.PreLaunch[0].Arguments)
	require.Equal(t, "/w/12", i.PreLaunch[0].Directory, "a command beforehand runs where its command does")
	require.Equal(t, "/o/12", i.PostLaunch[0].Directory)
}

func TestACommandThatResolvesToNothingIsRefused(t *testing.T) {
	_, err := resolved(t, `<start-up-command name="s"><arg>${ptp_rm:q#value}</arg></start-up-command>`, config.StartUpCommand, job.Environment{})
	require.ErrorContains(t, err, `start-up-command "s"`)
	require.ErrorContains(t, err, "nothing to run")
	_, err = resolved(t, `<start-up-command name="s"><arg>x</arg><pre-launch-cmd exec="${ptp_rm:q#value}"/></start-up-command>`, config.StartUpCommand, job.Environment{})
	require.ErrorContains(t, err, "nothing to run")
}

func TestErrorsInAnyTextOfACommandAreReported(t *testing.T) {
	const bad = "${ptp_rm:a#nofield}"
	for name, text := range map[string]string{
		"directory":            `<start-up-command name="s" directory="BAD"><arg>x</arg></start-up-command>`,
		"argument":             `<start-up-command name="s"><arg>BAD</arg></start-up-command>`,
		"input":                `<start-up-command name="s"><arg>x</arg><input>BAD</input></start-up-command>`,
		"environment value":    `<start-up-command name="s"><arg>x</arg><environment name="E" value="BAD"/></start-up-command>`,
		"environment argument": `<start-up-command name="s"><arg>x</arg><environment name="E"><arg>BAD</arg></environment></start-up-command>`,
		"pre-launch":           `<start-up-command name="s"><arg>x</arg><pre-launch-cmd exec="BAD"/></start-up-command>`,
		"post-launch folder":   `<start-up-command name="s"><arg>x</arg><post-launch-cmd exec="y" directory="BAD"/></start-up-command>`,
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(text, "BAD", bad)
			definition, problems := loadLeniently(text)
			require.NotNil(t, definition, "%v", problems)
			_, err := command.Resolve(definition.Command(config.StartUpCommand), config.Scope{Environment: someAttributes()}, job.Environment{})
			require.ErrorContains(t, err, "resolving ")
		})
	}
}

// loadLeniently loads a definition that the loader itself finds fault with.
func loadLeniently(controlData string) (*config.Definition, config.Diagnostics) {
	return check.Load("test.xml", []byte(fmt.Sprintf(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="test"><control-data>%s</control-data></resource-manager-builder>`, controlData)), nil)
}

func TestVariablesAreSetInTheOrderOfTheReference(t *testing.T) {
	const settings = `<arg>x</arg>
		<environment name="A" value="of the definition"/>
		<environment name="B"><arg>joined</arg><arg>${ptp_rm:number#value}</arg></environment>
		<environment name="C" value="kept"/><environment name="C" value="${ptp_rm:q#value}"/>
		<environment name="D" value="${ptp_rm:q#value}"/>`
	users := job.Environment{Variables: []job.Variable{{Name: "A", Value: "of the user"}}}
	i, err := resolved(t, `<submit-batch name="s">`+settings+`</submit-batch>`, config.SubmitBatch, users)
	require.NoError(t, err)
	require.Equal(t, []job.Variable{
		{Name: "A", Value: "of the definition"}, {Name: "B", Value: "joined 12"}, {Name: "C", Value: "kept"}, {Name: "A", Value: "of the user"},
	}, i.Environment)
	require.Empty(t, i.Unset, "a job may be handed the environment of its submit command")
	require.False(t, i.ReplaceEnvironment)

	users.Replace = true
	i, err = resolved(t, `<submit-batch name="s" replaceEnvironment="true">`+settings+`</submit-batch>`, config.SubmitBatch, users)
	require.NoError(t, err)
	require.True(t, i.ReplaceEnvironment)
	require.Empty(t, i.Keep)
	require.Equal(t, users.Variables, i.Environment, "who replaces the environment is not given the definition's")
}

func TestAReplacedEnvironmentKeepsOnlyPreservedVariables(t *testing.T) {
	i, err := resolved(t, `<submit-batch name="s" replaceEnvironment="true"><arg>x</arg><environment name="PATH" preserve="true"/>
		<environment name="A" value="1" preserve="false"/><environment name="B" value="2"/></submit-batch>`, config.SubmitBatch, job.Environment{})
	require.NoError(t, err)
	require.True(t, i.ReplaceEnvironment)
	require.Equal(t, []string{"PATH"}, i.Keep)
	require.Equal(t, []job.Variable{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}, i.Environment)
}

func TestParsedCommandsGetAPlainEnvironment(t *testing.T) {
	for _, kind := range []config.CommandElement{config.StartUpCommand, config.GetJobStatus, config.TerminateJob, config.ButtonAction, config.ShutDownCommand} {
		submit := ""
		if kind != config.StartUpCommand {
			submit = `<submit-batch name="s"><arg>x</arg></submit-batch>`
		}
		i, err := resolved(t, submit+fmt.Sprintf(`<%s name="s"><arg>x</arg><environment name="LC_ALL" value="own"/></%s>`, kind, kind), kind, job.Environment{})
		require.NoError(t, err)
		require.Equal(t, []job.Variable{{Name: "LC_ALL", Value: "C"}, {Name: "LC_ALL", Value: "own"}}, i.Environment, "the definition has the last word")
		require.Contains(t, i.Unset, "SQUEUE_FORMAT")
		require.NotContains(t, i.Unset, "PATH")
	}
}

func TestNodeCommandsResolveWithTheVariablesOfProcesses(t *testing.T) {
	definition := define(t, `
		<x:on-nodes name="start" processes="JOB=${ptp_rm:@jobId#name}  TASK=a=b STEP PART=${ptp_rm:job.id.task#value} WORDS=${ptp_rm:words#value}">
			<arg>start ${ptp_rm:node.name#value} ${ptp_rm:node.command#value}</arg>
		</x:on-nodes>
		<x:on-nodes name="here"/>`)
	env := attribute.NewEnvironment()
	env.SetVariable("17", nil)
	require.NoError(t, env.Variable("17").Set(attribute.FieldName, "17"))
	env.SetVariable("words", "a b")
	env.SetVariable("job.id.task", "")
	env.SetVariable("node.name", "n1")
	env.SetVariable("node.command", "/home/user/rmctl-node relay --node n1")
	scope := config.Scope{Environment: env, Job: "17"}
	of := definition.CommandsOf(config.OnNodes)
	require.Len(t, of, 2)
	resolved, err := command.Resolve(of[0], scope, job.Environment{})
	require.NoError(t, err)
	require.Equal(t, []string{"start", "n1", "/home/user/rmctl-node", "relay", "--node", "n1"}, resolved.Arguments)
	require.Equal(t, []string{"JOB=17", "TASK=a=b", "STEP", "WORDS=a b"}, resolved.Processes, "without those that have no value")
	here, err := command.Resolve(of[1], scope, job.Environment{})
	require.NoError(t, err, "a command without arg starts nothing")
	require.Empty(t, here.Arguments)
}
