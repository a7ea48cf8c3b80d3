package schemas

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

func violationsOf(t *testing.T, source string) []Violation {
	t.Helper()
	document, err := xmltree.Read("", []byte(source))
	require.NoError(t, err)
	return Validate(document.Root)
}

func TestEveryNamespaceOfTheFormatIsAccepted(t *testing.T) {
	for _, declaration := range []string{`xmlns="http://eclipse.org/ptp/rm"`, `xmlns="http://org.eclipse.ptp/rm"`,
		`xmlns="org.eclipse.ptp"`, ``} {
		require.Empty(t, violationsOf(t, `<resource-manager-builder `+declaration+` name="n"><control-data/></resource-manager-builder>`))
	}
	require.Empty(t, violationsOf(t, `<o:resource-manager-builder xmlns:o="org.eclipse.ptp" xmlns:n="http://eclipse.org/ptp/rm">
		<n:control-data><attribute name="a"/></n:control-data></o:resource-manager-builder>`))
}

func TestForeignElementsAndAttributesAreIgnored(t *testing.T) {
	require.Empty(t, violationsOf(t, `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:f="urn:foreign"
		xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="nothing of ours" f:colour="red" xml:lang="en">
		<f:first><script/></f:first>
		<control-data>
			<script xsi:type="whatever"><f:between/><line><arg f:x="1">a<f:b>c</f:b></arg></line></script>
			<attribute xmlns="urn:foreign"/>
		</control-data>
	</resource-manager-builder>`))
}

func TestSpellingsOfEarlierGenerationsAreAccepted(t *testing.T) {
	require.Empty(t, violationsOf(t, `<resource-manager-builder>
		<control-data>
			<property name="a"/>
			<attribute name="b"/>
			<start-up-command name="s">
				<arg isUndefIfMatches="x">a</arg>
				<stdout-parser><target type="property" ref="a"><match/></target></stdout-parser>
			</start-up-command>
			<launch-tab>
				<dynamic>
					<title/>
					<widget type="envconfig" saveValueTo="a"/>
					<browse saveValueTo="a"/>
					<button-group saveValueTo="a"><button saveValueTo="b"/></button-group>
				</dynamic>
			</launch-tab>
		</control-data>
	</resource-manager-builder>`))
}

func TestLayoutOfTheMonitorIsOpaque(t *testing.T) {
	require.Empty(t, violationsOf(t, `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm"><monitor-data>
		<rm:layout xmlns="" xmlns:rm="http://eclipse.org/ptp/rm" gid="1"><tablelayout id="t"><column cid="1"/></tablelayout></rm:layout>
	</monitor-data></resource-manager-builder>`))
}

func TestBlanksAreAllowedWhereNothingMayStand(t *testing.T) {
	require.Empty(t, violationsOf(t, "<resource-manager-builder><monitor-data><workflow><step id='1'>\n</step></workflow></monitor-data></resource-manager-builder>"))
}

func TestExtensionsAreAcceptedInTheirPlaces(t *testing.T) {
	require.Empty(t, violationsOf(t, `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:y="urn:rmctl:definition:1" y:extends="slurm">
		<control-data>
			<attribute name="a" y:remove="true"/>
			<script><line y:after="exec" y:at="x"/></script>
			<get-job-status name="g" y:timeout="1m30s">
				<arg>squeue</arg>
				<stdout-parser><target><match/></target></stdout-parser>
				<y:fallback name="f" on="not-found finished" y:timeout="500ms"><arg>sacct</arg></y:fallback>
				<y:fallback name="g"><arg>scontrol</arg></y:fallback>
			</get-job-status>
			<launch-tab/>
			<y:outcome kind="not-found" exit="1 153" expression="Unknown Job" flags="CASE_INSENSITIVE"/>
			<y:find-job name="j"><arg>squeue</arg></y:find-job>
			<y:outcome kind="transient"/>
			<y:on-nodes name="n" processes="A=${ptp_rm:@jobId#name}  _B2=x=y C" from-nodes="true"><arg>srun</arg><environment name="E" value="v"/></y:on-nodes>
			<y:on-nodes name="o" y:timeout="5s"><arg>qrsh</arg></y:on-nodes>
			<y:on-nodes name="p"/>
			<y:on-nodes name="q" over="ssh" ids="\d+" signals="false"/>
			<y:probe name="p" version="slurm ([\d.]+)" at-least="20.11" required="false"><arg>sbatch</arg><arg>--version</arg></y:probe>
		</control-data>
		<monitor-data>
			<driver/>
			<y:list-queues name="q"><arg>sinfo</arg></y:list-queues>
			<y:list-nodes name="n"><arg>sinfo</arg></y:list-nodes>
			<y:list-jobs name="j"><arg>squeue</arg></y:list-jobs>
			<y:list-ended name="e"><arg>sacct</arg></y:list-ended>
		</monitor-data>
	</resource-manager-builder>`))
}

func TestNumbersAreThoseOfTheirType(t *testing.T) {
	for value, valid := range map[string]bool{"0": true, " 12\n": true, "+1": true, "-2147483648": true, "2147483647": true,
		"2147483648": false, "": false, "1.0": false, "1e3": false, "0x1": false, "1_000": false, "١": false} {
		found := violationsOf(t, `<resource-manager-builder><monitor-data refreshFrequencyInSeconds="`+value+`"/></resource-manager-builder>`)
		require.Equal(t, valid, len(found) == 0, "%q: %v", value, found)
	}
	for value, valid := range map[string]bool{"9223372036854775807": true, "9223372036854775808": false} {
		found := violationsOf(t, `<resource-manager-builder><control-data><attribute name="a"><validator><file-info length="`+value+
			`"/></validator></attribute></control-data></resource-manager-builder>`)
		require.Equal(t, valid, len(found) == 0, "%q: %v", value, found)
	}
}

func TestTimeLimitsAreLengthsOfTime(t *testing.T) {
	for value, valid := range map[string]bool{"30s": true, "1m30s": true, "1.5h": true, "500ms": true, "0s": false, "0.0h": false,
		"30": false, "": false, "-1s": false, "1d": false, "1 m": false, "s": false, "1s\n": false} {
		found := violationsOf(t, `<resource-manager-builder xmlns:x="urn:rmctl:definition:1"><control-data><hold-job name="h" x:timeout="`+
			strings.ReplaceAll(value, "\n", "&#10;")+`"><arg>a</arg></hold-job></control-data></resource-manager-builder>`)
		require.Equal(t, valid, len(found) == 0, "%q: %v", value, found)
	}
}

func TestNamesFromTheDocumentAreCutInMessages(t *testing.T) {
	found := violationsOf(t, "<resource-manager-builder><"+strings.Repeat("é", 10_000)+"/></resource-manager-builder>")
	require.Len(t, found, 1)
	require.Less(t, len(found[0].Message), 300)
	found = violationsOf(t, `<resource-manager-builder nAmE="`+strings.Repeat("x", 10_000)+"\"/>")
	require.Equal(t, "name", found[0].Suggestion)
	found = violationsOf(t, `<resource-manager-builder><control-data><script deleteAfterSubmit="&#x9b;31m`+
		strings.Repeat("x", 10_000)+`"><line/></script></control-data></resource-manager-builder>`)
	require.Len(t, found, 1)
	require.Less(t, len(found[0].Message), 300)
	require.NotContains(t, found[0].Message, "\u009b")
}

func TestReportsAreBounded(t *testing.T) {
	for name, document := range map[string]string{
		"unknown":    "<resource-manager-builder><control-data>" + strings.Repeat("<wibble/>", 8_000) + "</control-data></resource-manager-builder>",
		"misspelled": "<resource-manager-builder><control-data>" + strings.Repeat("<atribute/>", 8_000) + "</control-data></resource-manager-builder>",
		"repeated":   "<resource-manager-builder><control-data>" + strings.Repeat("<script><line/></script>", 4_000) + "</control-data></resource-manager-builder>",
		"misplaced": "<resource-manager-builder><control-data><launch-tab/>" + strings.Repeat("<attribute name='a'/><script><line/></script>", 4_000) +
			"</control-data></resource-manager-builder>",
	} {
		t.Run(name, func(t *testing.T) {
			found := violationsOf(t, document)
			require.Len(t, found, maxViolations+1)
			require.Equal(t, tooManyProblems, found[maxViolations].Code)
		})
	}
}

// One mistake gives one report, and those after it are still found.
func TestMistakesAreReportedOnce(t *testing.T) {
	const document = `<resource-manager-builder xmlns:x="urn:rmctl:definition:1">
<control-data>
<attribute name="a"/>
%s
<terminate-job name="t"><arg>a</arg></terminate-job>
%s
</control-data>
%s
</resource-manager-builder>`
	anywhere := []string{`<wibble><deep/></wibble>`, `<monitor-data/>`, `<x:outcom kind="denied"/>`, `<validator/>`}
	early := []string{`stray text`, `<atribute name="b"/>`, `<attribute name="b" visible="maybe"/>`, `<attribute nome="b"/>`, `<script/>`}
	late := []string{`<button-action name="b"/>`, `<buton-action name="b"><arg/></buton-action>`, `<attribute name="b"/>`, `<script><line/></script>`}
	for _, first := range append(early, anywhere...) {
		for _, second := range append(late, anywhere...) {
			found := violationsOf(t, fmt.Sprintf(document, first, second, "<monitor/>"))
			lines := []int{}
			for _, v := range found {
				lines = append(lines, v.Line)
			}
			require.Equal(t, []int{4, 6, 8}, lines, "%s\n%s\n%s", first, second, listing(found))
		}
	}
}

// Whatever stands in a document, its violations have places in it.
func FuzzValidate(f *testing.F) {
	paths, err := filepath.Glob("testdata/violations/*.xml")
	require.NoError(f, err)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		document, err := xmltree.Read("", source)
		if err != nil {
			return
		}
		for _, v := range Validate(document.Root) {
			require.Positive(t, v.Line)
			require.LessOrEqual(t, v.Line, 1+strings.Count(document.Text, "\n"))
			require.Positive(t, v.Column)
			require.NotEqual(t, unusableSchema, v.Code)
		}
	})
}
