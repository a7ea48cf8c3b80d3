package control_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

const ruledForm = `
	<attribute name="useMemory" type="boolean"/>
	<attribute name="memory"><default>1g</default></attribute>
	<attribute name="queue"><default>q</default></attribute>
	<attribute name="extra"><default>e</default></attribute>` +
	`<script><line><arg>#!/bin/sh</arg></line></script><submit-batch name="s"><arg>show</arg><arg>"${ptp_rm:memory#value}"</arg><arg>"${ptp_rm:queue#value}"</arg><arg>"${ptp_rm:all#value}"</arg></submit-batch>` + `
	<launch-tab>
		<dynamic><title>Basic</title>
			<widget type="checkbox" buttonId="more" attribute="useMemory"/>
			<widget attribute="memory"><control-state><enable-if button="more"/></control-state></widget>
		</dynamic>
		<dynamic><title>Table</title>
			<viewer name="all" initialAllChecked="false"><items allPredefined="true"/><value pattern="@name=@value"/></viewer>
		</dynamic>
		<import title="Script"><export-for-override><items><include>queue</include></items></export-for-override></import>
	</launch-tab>`

func TestTheChosenTabDecidesWhichAttributesCount(t *testing.T) {
	script := filepath.Join(t.TempDir(), "job.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
	for name, c := range map[string]struct {
		submission job.Submission
		want       []string
	}{
		"the first one, where a box is not checked":        {job.Submission{}, []string{"show", "", "", ""}},
		"a box that is given is checked":                   {job.Submission{Values: values("useMemory", "yes")}, []string{"show", "1g", "", ""}},
		"what is given counts though its control is off":   {job.Submission{Values: values("memory", "2g")}, []string{"show", "2g", "", ""}},
		"a table without a choice":                         {job.Submission{Tab: "Table"}, []string{"show", "", "", ""}},
		"a table with the given values as the choice":      {job.Submission{Tab: "table", Values: values("queue", "long")}, []string{"show", "", "long", "queue=long"}},
		"a script of the user comes from the tab for it":   {job.Submission{Script: script}, []string{"show", "", "q", ""}},
		"a script of the user and a tab that was chosen":   {job.Submission{Script: script, Tab: "Basic"}, []string{"show", "", "", ""}},
		"the tab for scripts, but no script: as any other": {job.Submission{Tab: "Script"}, []string{"show", "", "q", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			c.submission.Executable = "x"
			rendering, err := newRenderer(t, define(t, ruledForm)).Render(c.submission)
			require.NoError(t, err)
			require.Equal(t, c.want, rendering.Commands[0].Arguments)
		})
	}
	_, err := newRenderer(t, define(t, ruledForm)).Render(job.Submission{Executable: "x", Tab: "Tabel"})
	var unknown *form.UnknownPageError
	require.ErrorAs(t, err, &unknown)
	require.ErrorContains(t, err, `did you mean "Table"?`)
}
