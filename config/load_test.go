package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/inspect"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// sample returns a definition with an example of each element.
func sample(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile("testdata/sample.xml")
	require.NoError(t, err)
	return source
}

func shared(t *testing.T, folder string) string {
	t.Helper()
	base := os.Getenv("RMCTL_SHARED")
	if base == "" {
		base = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(base, folder)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("definitions of other projects are not part of this one and not here: %v", err)
	}
	return path
}

func TestADefinitionIsReadCompletely(t *testing.T) {
	d, problems := check.Load("sample.xml", sample(t), nil)
	require.NoError(t, problems.Err())

	queue := d.Attribute("queue")
	require.Equal(t, config.Position{File: "sample.xml", Line: 4, Column: 5}, queue.Position)
	require.False(t, queue.Visible())
	require.True(t, queue.ReadOnly())
	require.Equal(t, 2, queue.Field(attribute.FieldMin))
	require.Equal(t, "", queue.Field(attribute.FieldDefault), "an empty element is an empty text")
	require.Nil(t, queue.Field(attribute.FieldTooltip), "an absent element is no text")
	require.Error(t, queue.Check("0", nil))

	file := d.ManagedFiles[0].Files[0]
	require.True(t, file.UniqueIDPrefix)
	require.True(t, file.ResolveContents)
	require.Equal(t, "0700", file.Mode)
	require.Equal(t, config.Optional{Text: "text", Set: true}, file.Contents)

	require.Zero(t, d.Script.InsertEnvironmentAfter)
	require.False(t, d.Script.DeleteAfterSubmit)
	argument := d.Script.Lines[1].Arguments[0]
	require.False(t, argument.Resolve)
	require.Equal(t, "a", argument.IsUndefinedIfMatches.Text, "the short spelling of older files counts")

	submit := d.Submit(false)
	require.True(t, submit.AllocatePTY)
	require.Equal(t, "1m30s", submit.Timeout.String())
	require.Equal(t, "typed", submit.Input[0].Text)
	require.True(t, submit.Environment[0].Preserve)
	require.False(t, submit.PreLaunch[0].Wait)
	parser := submit.StdoutParser
	require.Equal(t, 3, parser.Save)
	require.Equal(t, "STOP", parser.ExitOn.Text)
	match := parser.Targets[0].Matches[0]
	require.Equal(t, "id=(.+)", match.Expression.Text, "text over line breaks is trimmed")
	require.Equal(t, 25, match.Expression.Line)
	require.Equal(t, 5, match.Expression.Column)
	require.Equal(t, ",", match.Actions[0].Separator)
	require.Equal(t, 1, match.Actions[0].Entries[1].KeyIndex)
	test := parser.Targets[0].Tests[0]
	require.Equal(t, config.And, test.Operator)
	require.Equal(t, []string{"#value", ""}, test.Tests[0].Values)
	require.Equal(t, config.Throw, test.Else[0].Kind)
	require.True(t, parser.Targets[0].HasElse)

	status := d.Command(config.GetJobStatus)
	require.Equal(t, []config.OutcomeKind{config.NotFound, config.Finished}, status.Fallbacks[0].On)
	require.Equal(t, []int{1, 255}, d.Outcomes[0].ExitCodes)
	require.Equal(t, "PBS", d.Monitor.SchedulerType)
	require.Equal(t, 15, d.Monitor.RefreshSeconds)
	require.Equal(t, []string{"queue", "old"}, boundAttributes(d.LaunchTab.Tabs[0]))
	require.NotNil(t, d.LaunchTab.Import)
	require.Len(t, inspect.Expressions(d), 3)
}

func TestSelectorsNameCommands(t *testing.T) {
	d, _ := check.Load("sample.xml", sample(t), nil)
	for text, want := range map[string]string{
		"start-up-command":              "one",
		"start-up-command[2]":           "two",
		"start-up-command:two":          "two",
		"get-job-status":                "status",
		"submit-batch[1]/stdout-parser": "submit",
		"fallback:history":              "history",
	} {
		command, _, err := d.Select(text)
		require.NoError(t, err, text)
		require.Equal(t, want, command.Name, text)
	}
	for _, text := range []string{"", "status", "start-up-command[0]", "start-up-command[x]", "submit-batch/stdin-parser"} {
		_, _, err := d.Select(text)
		require.Error(t, err, text)
	}
	_, parser, err := d.Select("submit-batch[1]/stdout-parser")
	require.NoError(t, err)
	require.Equal(t, "stdout-parser", parser.Element)
	_, _, err = d.Select("start-up-command[3]")
	require.ErrorContains(t, err, "only 2")
}

func TestProbesAreReadAsWritten(t *testing.T) {
	source, err := os.ReadFile("check/testdata/diagnostics/probes.xml")
	require.NoError(t, err)
	definition, _ := check.Load("probes.xml", source, nil)
	require.Len(t, definition.Probes, 6)
	probe := definition.Probes[0]
	require.Equal(t, "good", probe.Name)
	require.Equal(t, config.ProbeCommand, probe.Element)
	require.Equal(t, `slurm ([\d.]+)`, probe.Version.Text)
	require.Equal(t, "20.11", probe.AtLeast)
	require.True(t, probe.Required)
	require.Equal(t, "jobs are lost", probe.Impact)
	require.Equal(t, "update", probe.Fix)
	require.Nil(t, definition.Probes[4].Version)
}

func TestOptionsOfAttributesAreArguments(t *testing.T) {
	definition, problems := check.Load("test.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test"><control-data>
		<attribute name="name" type="string" x:option="--name=" x:quote="double"/><attribute name="nodes" type="integer" x:option="-N "/>
		<attribute name="hold" type="boolean" x:option="--hold"/><attribute name="unset" type="string" x:option="--unset="/>
		<attribute name="no-option" type="string"/>
		<start-up-command name="s"><arg>submit</arg><arg x:options=""/><arg>${ptp_rm:no-option#value}</arg></start-up-command>
		</control-data></resource-manager-builder>`), nil)
	require.NoError(t, problems.Err())
	env := attribute.NewEnvironment()
	for name, value := range map[string]any{"name": "a b", "nodes": 2, "hold": true, "no-option": "last"} {
		env.SetVariable(name, value)
	}
	words, err := config.Scope{Environment: env}.Words(definition.Commands[0].Arguments)
	require.NoError(t, err)
	require.Equal(t, []string{"submit", "--name=a b", "-N", "2", "--hold", "last"}, words)
}
