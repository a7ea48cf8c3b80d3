package coverage

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
)

const covered = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="site"><control-data>
<attribute name="word" visible="false"/><attribute name="which" visible="false"/>
<attribute name="seen.r" visible="false"><description>RUNNING</description></attribute>
<attribute name="seen.c" visible="false"><description>COMPLETED</description></attribute>
<submit-batch name="submit" waitForId="true"><arg>sub</arg><stdout-parser delim="\n"><target ref="@jobId">
<match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser></submit-batch>
<get-job-status name="status"><arg>stat</arg><stdout-parser delim="\n">
<target ref="word"><match><expression>(Q|R|C|X)</expression><set field="value"><entry valueGroup="1"/></set></match>
<test><value>#value</value><value>X</value><throw message="X"/></test>
<test><value>Q</value><value>#value</value></test><else><set field="value"><entry value="none"/></set></else></target>
<target ref="@jobId"><match><expression>job .*</expression><set field="status"><entry value="known"/></set></match>
<test><value>1</value><value>1</value></test>
<test><value>${ptp_rm:word#value}</value><value>Q</value><set field="value"><entry value="QUEUED_ACTIVE"/></set>
<else><set field="value"><entry value="${ptp_rm:${ptp_rm:which#value}#description}"/></set></else></test></target>
<target ref="which"><match><expression>which (.*)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
<exit-on expression="end"/></stdout-parser></get-job-status>
<terminate-job name="cancel"><arg>del</arg></terminate-job>
</control-data></resource-manager-builder>`

// exercised returns what outputs of the command status exercise.
func exercised(t *testing.T, outputs ...string) Report {
	t.Helper()
	root := t.TempDir()
	definition := filepath.Join(root, "site.xml")
	require.NoError(t, os.WriteFile(definition, []byte(covered), 0o600))
	var counter Counter
	runner := &cases.Runner{}
	loaded, err := runner.Load(definition, "")
	require.NoError(t, err)
	counter.thingsOf(loaded)
	counter.Watch(runner)
	for _, output := range outputs {
		_, err := runner.Evaluate(t.Context(), &cases.Case{Definition: definition, Command: "get-job-status", Job: "7", Stdout: []byte(output)})
		require.NoError(t, err)
	}
	reports := counter.Reports()
	require.Len(t, reports, 1)
	return reports[0]
}

// missed returns what a report says was never exercised, as line and text.
func missed(report Report) []string {
	list := []string{}
	for _, thing := range report.Missed {
		list = append(list, fmt.Sprintf("%d %s", thing.Line, thing.What))
	}
	return list
}

var neverWithoutCases = []string{
	`3 the state RUNNING of attribute "seen.r"`,
	`4 the state COMPLETED of attribute "seen.c"`,
	`5 the command submit-batch "submit"`,
	`6 the expression job (\d+)`,
	`6 the action set of the field name`,
	`7 the command get-job-status "status"`,
	`8 the else of the target`,
	`8 the expression (Q|R|C|X)`,
	`8 the action set of the field value`,
	`9 the test EQ of "#value" and "X" being true`,
	`9 the test EQ of "#value" and "X" being false`,
	`9 the action throw`,
	`10 the test EQ of "Q" and "#value" being true`,
	`10 the test EQ of "Q" and "#value" being false`,
	`10 the action set of the field value`,
	`11 the expression job .*`,
	`11 the action set of the field status`,
	`12 the test EQ of "1" and "1" being true`,
	`13 the test EQ of "${ptp_rm:word#value}" and "Q" being true`,
	`13 the test EQ of "${ptp_rm:word#value}" and "Q" being false`,
	`13 the action set of the field value`,
	`13 the state QUEUED_ACTIVE`,
	`14 the action set of the field value`,
	`15 the expression which (.*)`,
	`15 the action set of the field value`,
	`16 the expression end, which ends the reading`,
}

func TestWithoutCasesEverythingIsNamedWithItsPosition(t *testing.T) {
	report := exercised(t)
	require.Equal(t, neverWithoutCases, missed(report))
	require.Equal(t, len(neverWithoutCases), report.Total)
	require.Zero(t, report.Percent)
	require.Equal(t, "site", report.Definition)
	sum := 0
	for i, count := range report.Kinds {
		require.Equal(t, []string{"command", "expression", "action", "test", "else", "state", "row", "fact"}[i], count.Kind)
		sum += count.Total
	}
	require.Equal(t, report.Total, sum)
}

func TestCoverageNamesWhatNoCaseMakesHappen(t *testing.T) {
	first := exercised(t, "Q\njob 7\n")
	require.Equal(t, 11, first.Covered)
	require.NotContains(t, missed(first), "13 the state QUEUED_ACTIVE")
	require.Contains(t, missed(first), `3 the state RUNNING of attribute "seen.r"`)

	all := exercised(t, "Q\njob 7\n", "R\nwhich seen.r\njob 7\n", "nothing\nend\n", "X\n")
	require.Equal(t, []string{
		`4 the state COMPLETED of attribute "seen.c"`,
		`5 the command submit-batch "submit"`,
		`6 the expression job (\d+)`,
		`6 the action set of the field name`,
	}, missed(all))
	require.Equal(t, all.Total-4, all.Covered)
}

func TestACoverageOfNothingIsWhole(t *testing.T) {
	require.Equal(t, 100.0, percent(0, 0))
	require.Equal(t, 50.0, percent(1, 2))
}
