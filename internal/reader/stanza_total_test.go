package reader_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
)

const steps = `<x:ids form="([a-z]\w*\.\d+)(?:\.(\d+))?" columns="job task" drop="(?:\.\w*[a-z]\w*)+" ignore-case="true"/>
	<x:reader name="steps">
		<x:stanzas begin="= (\S+)" columns="id" field=" *(State|Made): (.*)" total="(\d+) steps"/>
		<x:states of="State">
			<x:state is="FAILED" words="Skipped" beside="COMPLETED"/>
			<x:state is="RUNNING" words="Running"/><x:state is="COMPLETED" words="Done"/><x:state is="CANCELED" words="Canceled"/>
		</x:states>
		<x:fact name="submitted" from="Made" as="time" format="1/2/2006 3:04 PM"/>
		<x:fact name="identity" from="Made" as="time" format="1/2/2006 3:04 PM" to="01-02T15:04"/>
	</x:reader>`

// step returns the stanza of a step.
func step(id, state string) string { return "= " + id + "\n  State: " + state + "\n" }

func TestTheNumberOfStanzasIsChecked(t *testing.T) {
	one, two := step("a.1.0", "Running"), step("a.1.0", "Running")+step("a.2.0", "Done")
	for output, damage := range map[string]string{
		one + "1 steps\n":                     "",
		one + "1 steps\r\n":                   "",
		"1 steps\n" + one:                     "",
		"2 steps\n" + two + "1 steps\n" + one: "",
		"0 steps\n":                           "",
		"":                                    "the output ends before the line with the number of records",
		"cannot connect\n":                    "the output ends before the line with the number of records",
		one:                                   "the output ends before the line with the number of records",
		one + "1 steps":                       "the output ends before the line with the number of records",
		one + "2 steps\n":                     "the output has 1 records instead of 2",
		two + "1 steps\n":                     "the output has 2 records instead of 1",
		"2 steps\n" + one + "1 steps\n" + two: "the output has 1 records instead of 2",
		one + "1 steps\n" + one + "1 steps\n": "a record follows the line with their number",
		one + "1 steps\n1 steps\n":            "the output has two lines with the number of records",
		one + "99999999999999999999 steps\n":  "the output has 1 records instead of 9223372036854775807",
	} {
		answer := read(t, steps, output, reader.Query{})
		if damage == "" {
			require.Nil(t, answer.Damage, output)
			continue
		}
		require.NotNil(t, answer.Damage, output)
		require.Equal(t, damage, answer.Damage.What, output)
		for each := range answer.All() {
			require.Equal(t, damage, each.Unreadable)
		}
	}
}

func TestAnOutputWithoutTextMayHaveNoRecords(t *testing.T) {
	mayBeEmpty := strings.Replace(steps, `total=`, `may-be-empty="true" total=`, 1)
	for output, isDamaged := range map[string]bool{"": false, "\n \n": false, "cannot connect\n": true, step("a.1.0", "Running"): true} {
		require.Equal(t, isDamaged, read(t, mayBeEmpty, output, reader.Query{}).Damage != nil, output)
	}
}

func TestARecordWithoutAnIDDamagesAnOutputWithATotal(t *testing.T) {
	output := step("a.1.0", "Done") + step("?", "Running") + "2 steps\n"
	require.Equal(t, "a.1 unreadable: unusable record: invalid job id \"?\"\n", shown(read(t, steps, output, reader.Query{Job: "a.1"})))
	withoutTotal := strings.Replace(steps, `total="(\d+) steps"`, "", 1)
	require.Equal(t, "COMPLETED", read(t, withoutTotal, output, reader.Query{Job: "a.1"}).Find("a.1").State)
}

func TestAFactMayWordTheState(t *testing.T) {
	worded := strings.Replace(steps, `<x:fact name="submitted"`, `<x:fact name="native" from="Made"/><x:fact name="submitted"`, 1)
	output := step("a.1.0", "Running") + "  Made: up\n" + step("a.2.0", "Done") + step("a.3.0", "Odd") + "  Made: too\n3 steps\n"
	require.Equal(t, "a.1 native=up state=RUNNING tasks=of=;RUNNING:0\na.2 native=Done state=COMPLETED tasks=of=;COMPLETED:0\na.3 native=too tasks=of=;UNDETERMINED:0\n",
		shown(read(t, worded, output, reader.Query{})))
	asked := strings.Replace(worded, `words="Running"`, `words="Running" ask="true"`, 1)
	require.True(t, strings.HasPrefix(shown(read(t, asked, output, reader.Query{})), "a.1 tasks="), "a row that says only that the job is there has no word")
}

func TestAFactOfAUseReplacesTheReadersFact(t *testing.T) {
	definition := definitionWith(t, steps+`<get-job-status name="s"><arg>s</arg><x:read reader="steps"><x:fact name="identity" from="State"/></x:read></get-job-status>`)
	var identities []string
	for _, fact := range definition.Commands[0].Read.Facts {
		if fact.Name == "identity" {
			identities = append(identities, fact.From.Text)
		}
	}
	require.Equal(t, []string{"State"}, identities)
}

func TestIDsIgnoreCaseAndDomain(t *testing.T) {
	answer := read(t, steps, step("LL1.Example.org.1.0", "Running")+step("ll2.1.0", "Done")+"2 steps\n", reader.Query{})
	require.Equal(t, "ll1.1 native=Running state=RUNNING tasks=of=;RUNNING:0\nll2.1 native=Done state=COMPLETED tasks=of=;COMPLETED:0\n", shown(answer))
	found := read(t, steps, step("ll1.1.0", "Running")+step("ll1.1.3", "Done")+"2 steps\n", reader.Query{Job: "LL1.example.org.1.3"})
	require.Equal(t, "ll1.1 native=Done state=COMPLETED\n", shown(found))
}

func TestATaskThatWasNotToRunDoesNotFailItsJob(t *testing.T) {
	skipped := step("a.1.0", "Skipped")
	for output, state := range map[string]string{
		skipped:                                                    "FAILED",
		skipped + step("a.1.1", "Done"):                            "COMPLETED",
		step("a.1.1", "Done") + skipped:                            "COMPLETED",
		skipped + step("a.1.1", "Canceled"):                        "CANCELED",
		skipped + step("a.1.1", "Running"):                         "RUNNING",
		skipped + step("a.1.1", "Skipped"):                         "FAILED",
		step("a.2.0", "Done") + skipped:                            "FAILED",
		skipped + step("a.1.1", "Done") + step("a.1.2", "Skipped"): "COMPLETED",
	} {
		query := reader.Query{Job: "a.1"}
		e := read(t, steps, output+[]string{"", "1 steps\n", "2 steps\n", "3 steps\n"}[strings.Count(output, "=")], query).Find("a.1")
		require.Equal(t, state, e.State, output)
		if state != "FAILED" {
			require.NotEqual(t, "Skipped", e.Fact("native"), "another step decides")
		}
	}
	// The other step has been forgotten.
	query := reader.Query{Job: "a.1", Memory: reader.Memory{Tasks: map[job.Detail]ranges.Set{job.Completed: {{First: 1, Last: 1}}}}}
	require.Equal(t, "COMPLETED", read(t, steps, skipped+"1 steps\n", query).Find("a.1").State)
}

func TestATimeIsInOneOfSeveralLayouts(t *testing.T) {
	several := strings.ReplaceAll(steps, `format="1/2/2006 3:04 PM"`, `format="1/2/2006 3:04 PM|2 Jan 2006 15:04"`)
	for text, submitted := range map[string]string{"2/3/2027 1:05 PM": "2027-02-03T13:05:00", "3 Feb 2027 13:05": "2027-02-03T13:05:00", "soon": ""} {
		answer := read(t, several, "= a.1.0\nMade: "+text+"\nState: Running\n1 steps\n", reader.Query{Job: "a.1"})
		require.Equal(t, submitted, answer.Find("a.1").Fact("submitted"))
	}
}

func TestATimeIsWrittenInALayout(t *testing.T) {
	answer := read(t, steps, "= a.1.0\nMade: 2/3/2027 12:05 AM\nState: Running\n1 steps\n", reader.Query{})
	require.Equal(t, "a.1 identity=02-03T00:05 native=Running state=RUNNING submitted=2027-02-03T00:05:00 tasks=of=02-03T00:05;RUNNING:0\n", shown(answer))
}
