package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// Each definition of testdata/diagnostics has its problems, as validate shows
// them, beside it.
func TestProblemsAreReportedWithTheirPositions(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".xml"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			_, problems := config.Load(filepath.Base(file), source)
			var text strings.Builder
			for _, problem := range problems {
				text.WriteString(problem.Excerpt(source) + "\n")
			}
			golden := strings.TrimSuffix(file, ".xml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text.String())
			require.NotEmpty(t, problems)
		})
	}
}

// Definitions that look suspicious and are right.
func TestNothingIsReportedOfWhatIsRight(t *testing.T) {
	shipped, err := filepath.Glob("../rms/*.xml")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/clean/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(append(files, shipped...), "../docs/example.xml") {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		_, problems := config.LoadWith(filepath.Base(file), source, config.Options{Base: readBase})
		require.Empty(t, problems)
	}
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

func TestDefinitionsFromTheFieldLoadWithoutErrors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, problems := config.Load(filepath.Base(file), source)
		require.NoError(t, problems.Err())
		require.NotEmpty(t, definition.Name, file)
	}
}

const sample = `<?xml version="1.0" encoding="UTF-8"?>
<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="Sample">
  <control-data>
    <attribute name="queue" type="string" visible="false" readOnly="1" min="2">
      <description>Where</description><choice>a,b</choice><default/>
      <validator><range greaterThan="0"/><error-message>positive</error-message></validator>
    </attribute>
    <managed-files>
      <file-staging-location>stage</file-staging-location>
      <file name="f" uniqueIdPrefix="true" mode="0700"><contents>text</contents></file>
    </managed-files>
    <script insertEnvironmentAfter="0" deleteAfterSubmit="false">
      <line><arg>#!/bin/sh</arg></line>
      <line><arg isUndefIfMatches="a" attribute="queue" resolve="false">${HOME}</arg></line>
    </script>
    <start-up-command name="one"><arg>one</arg></start-up-command>
    <start-up-command name="two"><arg>two</arg></start-up-command>
    <submit-batch name="submit" directory="d" waitForId="true" flags="ALLOCATE_PTY | NONE" x:timeout="90s">
      <arg>sub</arg><input>typed</input>
      <environment name="E" value="v" preserve="true"/>
      <stdout-parser delim="\n" all="true" save="3">
        <target ref="@jobId" matchAll="true">
          <match moveToTop="true">
            <expression flags="DOTALL">
				id=(.+)
			</expression>
            <append field="value" separator=","><entry valueGroup="1"/><entry value="x" keyIndex="1"/></append>
          </match>
          <test op="AND"><test><value>#value</value><value/></test><test op="GT"><value>1</value><value>2</value></test>
            <else><throw message="no"/></else></test>
          <else><set field="value"/></else>
        </target>
        <exit-on expression="STOP"/>
      </stdout-parser>
      <pre-launch-cmd exec="rm -f x" wait="false"/>
    </submit-batch>
    <get-job-status name="status"><arg>stat</arg>
      <x:fallback name="history" on="not-found finished"><arg>hist</arg></x:fallback>
    </get-job-status>
    <launch-tab>
      <dynamic includeWidgetValuesFrom="More"><title>Basic</title>
        <composite><widget attribute="queue"/><browse saveValueTo="old"/></composite></dynamic>
      <import title="Script"/>
    </launch-tab>
    <x:outcome kind="transient" exit="1 255" expression="refused"/>
  </control-data>
  <monitor-data schedulerType="PBS" refreshFrequencyInSeconds="15"/>
</resource-manager-builder>
`

func TestEverythingOfADefinitionIsRead(t *testing.T) {
	d, problems := config.Load("sample.xml", []byte(sample))
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
	require.Len(t, d.Expressions(), 3)
}

func TestSelectorsNameCommands(t *testing.T) {
	d, _ := config.Load("sample.xml", []byte(sample))
	for text, want := range map[string]string{
		"start-up-command":              "one",
		"start-up-command[2]":           "two",
		"start-up-command:two":          "two",
		"get-job-status":                "status",
		"submit-batch[1]/stdout-parser": "submit",
		"fallback:history":              "history",
	} {
		selector, err := config.ParseSelector(text)
		require.NoError(t, err, text)
		command, err := d.Select(selector)
		require.NoError(t, err, text)
		require.Equal(t, want, command.Name, text)
	}
	for _, text := range []string{"", "status", "start-up-command[0]", "start-up-command[x]", "submit-batch/stdin-parser"} {
		_, err := config.ParseSelector(text)
		require.Error(t, err, text)
	}
	selector, err := config.ParseSelector("start-up-command[3]")
	require.NoError(t, err)
	_, err = d.Select(selector)
	require.ErrorContains(t, err, "only 2")
}

func TestAFloodOfProblemsIsCutShort(t *testing.T) {
	source := "<resource-manager-builder name=\"x\"><control-data>" + strings.Repeat(`<attribute name="a"/>`, 5000) + "</control-data></resource-manager-builder>"
	_, problems := config.Load("flood.xml", []byte(source))
	require.Len(t, problems, 1001)
	require.Equal(t, "too-many-problems", problems[1000].Code)
	require.Error(t, problems.Err(), "what is not shown may be an error")
}

func TestProbesAreReadAsWritten(t *testing.T) {
	source, err := os.ReadFile("testdata/diagnostics/probes.xml")
	require.NoError(t, err)
	definition, _ := config.Load("probes.xml", source)
	require.Len(t, definition.Probes, 6)
	probe := definition.Probes[0]
	require.Equal(t, "good", probe.Name)
	require.Equal(t, config.ProbeCommand, probe.Element)
	require.Equal(t, `slurm ([\d.]+)`, probe.Version.Text)
	require.Equal(t, "20.11", probe.AtLeast)
	require.True(t, probe.Required)
	require.Equal(t, "jobs are lost", probe.Effect)
	require.Equal(t, "update", probe.Mend)
	require.Nil(t, definition.Probes[4].Version)
}
