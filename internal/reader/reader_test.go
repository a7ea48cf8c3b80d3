package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
)

// definitionWith returns a definition whose control-data has some elements.
func definitionWith(t testing.TB, elements string) *config.Definition {
	t.Helper()
	definition, err := config.Read("test.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test">
		<control-data>`+elements+`</control-data></resource-manager-builder>`), nil)
	require.NoError(t, err)
	return definition
}

// read reads an output with the last reader of a definition.
func read(t testing.TB, elements, output string, query reader.Query) *reader.Answer {
	t.Helper()
	definition := definitionWith(t, elements)
	if definition.IDs != nil {
		var err error
		query.IDs, err = reader.NewIDs(definition.IDs)
		require.NoError(t, err)
	}
	r, err := reader.New(definition.Readers[len(definition.Readers)-1], query)
	require.NoError(t, err)
	_, err = r.Write([]byte(output))
	require.NoError(t, err)
	answer, err := r.Close()
	require.NoError(t, err)
	return answer
}

// shown returns what an answer says, an element a line.
func shown(answer *reader.Answer) string {
	var text strings.Builder
	for e := range answer.All() {
		fmt.Fprintf(&text, "%s", e.ID)
		for i, name := range e.Names {
			if e.Values[i] != "" {
				fmt.Fprintf(&text, " %s=%s", name, e.Values[i])
			}
		}
		if e.Unreadable != "" {
			fmt.Fprintf(&text, " unreadable: %s", e.Unreadable)
		}
		if e.Incomplete != "" {
			fmt.Fprintf(&text, " incomplete: %s", e.Incomplete)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

const squeue = `<x:ids form="(\d+)(?:[_+]\[?([\d,:-]+)\]?)?" columns="job task" drop="%\d+"/>
	<x:reader name="squeue" none="None N/A">
		<x:table separator="mark" columns="id state reason nodes start end code name"/>
		<x:id from="id"/>
		<x:states of="state">
			<x:state is="USER_ON_HOLD" words="PENDING" test="reason='JobHeldUser'"/>
			<x:state is="QUEUED_ACTIVE" words="PENDING"/>
			<x:state is="RUNNING" words="RUNNING COMPLETING"/>
			<x:state is="COMPLETED" words="COMPLETED"/>
			<x:state is="CANCELED" words="CANCELLED" ask="true"/>
			<x:state is="FAILED" words="FAILED"/>
		</x:states>
		<x:fact name="reason" from="reason"/>
		<x:fact name="nodes" from="nodes"/>
		<x:fact name="started" from="start" as="time" when="string-length(nodes) > 0"/>
		<x:fact name="ended" from="end" as="time"/>
		<x:fact name="exitCode" from="code" as="wait-status"/>
		<x:fact name="name" from="name"/>
	</x:reader>`

// rows returns rows of squeue, whose columns are separated by blanks.
func rows(lines ...string) string {
	var text strings.Builder
	for _, line := range lines {
		for column := range strings.FieldsSeq(line) {
			text.WriteString(strings.ReplaceAll(column, "~", " ") + "@mark")
		}
		text.WriteString("\n")
	}
	return text.String()
}

func TestRowsBecomeJobs(t *testing.T) {
	answer := read(t, squeue, rows(
		"1 PENDING JobHeldUser N/A 2026-01-01T00:00:00 N/A 0 held",
		"2 PENDING Priority N/A 2026-01-01T00:00:00 N/A 0 waits",
		"3 RUNNING None n[1-2] 2026-01-01T00:00:00 2026-01-02T00:00:00 0 runs",
		"4 COMPLETED None n1 2026-01-01T00:00:00 2026-01-02T00:00:00 0 done",
		"5 FAILED NonZeroExitCode n1 2026-01-01T00:00:00 2026-01-02T00:00:00 768 three",
		"6 FAILED RaisedSignal n1 2026-01-01T00:00:00 2026-01-02T00:00:00 11 signal",
		"7 CANCELLED None n1 2026-01-01T00:00:00 2026-01-02T00:00:00 15 asks",
		"8 BLOCKED None n1 2026-01-01T00:00:00 2026-01-02T00:00:00 0 new~word",
	), reader.Query{Mark: "@mark"})
	require.Equal(t, `1 name=held native=PENDING reason=JobHeldUser state=USER_ON_HOLD
2 name=waits native=PENDING reason=Priority state=QUEUED_ACTIVE
3 name=runs native=RUNNING nodes=n[1-2] started=2026-01-01T00:00:00 state=RUNNING
4 ended=2026-01-02T00:00:00 exitCode=0 name=done native=COMPLETED nodes=n1 started=2026-01-01T00:00:00 state=COMPLETED
5 ended=2026-01-02T00:00:00 exitCode=3 name=three native=FAILED nodes=n1 reason=NonZeroExitCode started=2026-01-01T00:00:00 state=FAILED
6 ended=2026-01-02T00:00:00 name=signal native=FAILED nodes=n1 reason=RaisedSignal signal=11 started=2026-01-01T00:00:00 state=FAILED
7 ended=2026-01-02T00:00:00 name=asks nodes=n1 signal=15 started=2026-01-01T00:00:00
8 name=new word native=BLOCKED nodes=n1
`, shown(answer))
	require.Zero(t, answer.Rejections)
}

func TestUserTextsCannotForgeColumnsOrRows(t *testing.T) {
	forged := "1@mark RUNNING@mark@mark@mark@mark@mark@mark innocent\n2@other COMPLETED\n"
	row := strings.Join([]string{"9", "PENDING", "Priority", "N/A", "N/A", "N/A", "0", strings.ReplaceAll(forged, "@mark", "@mork")}, "@mark") + "@mark\n"
	answer := read(t, squeue, "Welcome to the cluster\n"+row+rows("10 RUNNING None n1 N/A N/A 0 x"), reader.Query{Mark: "@mark"})
	jobs := slices.Collect(answer.All())
	require.Len(t, jobs, 2)
	require.Equal(t, "QUEUED_ACTIVE", jobs[0].State)
	require.Equal(t, "9", jobs[0].ID)
	require.NotContains(t, jobs[0].Fact("name"), "\n")
	require.Equal(t, "10", jobs[1].ID)
}

func TestAnEndlessIDAffectsNoOtherRecords(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	answer := read(t, `<x:reader name="nodes"><x:json each="/nodes/*"/><x:id from="id"/><x:fact name="name" from="name"/></x:reader>`,
		`{"nodes":[{"id":`+long+`},{"id":7,"name":"x"}]}`, reader.Query{})
	require.Equal(t, "7 name=x\n", shown(answer))
	require.Equal(t, []reader.Rejection{{Line: 1, Why: "the id has 1048576 bytes, more than 1024"}}, answer.Rejected)
}

func TestDamagedRowsAffectNoOtherRecords(t *testing.T) {
	answer := read(t, squeue, rows(
		"1 RUNNING None n1 N/A N/A 0 a",
		"2 RUNNING None n1 N/A 0 short",
		"4 RUNNING None n1 N/A N/A 0 c",
		"3 RUNNING None n1 N/A N/A 0 b too long",
		"4x RUNNING None n1 N/A N/A 0 c",
		"5 RUNNING None n1 N/A N/A 0 d",
	)+"6@markRUNN", reader.Query{Mark: "@mark"})
	require.Equal(t, `1 name=a native=RUNNING nodes=n1 state=RUNNING
2 unreadable: the record has 7 columns instead of 8
4 name=c native=RUNNING nodes=n1 state=RUNNING
3 unreadable: the record has more than 8 columns
5 name=d native=RUNNING nodes=n1 state=RUNNING
6 unreadable: the output ends within the record
`, shown(answer))
	require.Equal(t, 4, answer.Rejections)
	require.Equal(t, reader.Rejection{Line: 5, ID: "4x", Why: `invalid job id "4x"`}, answer.Rejected[2])
}

func TestTasksOfAnArrayAreOneJob(t *testing.T) {
	query := reader.Query{Mark: "@mark", Job: "38"}
	for name, c := range map[string]struct {
		memory, want string
		rows         []string
	}{
		"one runs": {"", "38 native=RUNNING nodes=n1,n2 started=2026-01-01T00:00:00 state=RUNNING", []string{
			"38_1 COMPLETED None n1 2026-01-01T00:00:00 2026-01-02T00:00:00 0 a", "38_2 RUNNING None n2 2026-01-03T00:00:00 N/A 0 a", "38_[3-4%1] PENDING None N/A N/A N/A 0 a"}},
		"others wait":            {"", "38 native=PENDING state=QUEUED_ACTIVE", []string{"38_1 COMPLETED None N/A N/A N/A 0 a", "38_[3-4%1] PENDING None N/A N/A N/A 0 a"}},
		"all ended":              {"", "38 exitCode=0 name=a native=COMPLETED state=COMPLETED", []string{"38_1 COMPLETED None N/A N/A N/A 0 a"}},
		"the failed one decides": {"", "38 exitCode=2 native=FAILED state=FAILED", []string{"38_1 COMPLETED None N/A N/A N/A 0 a", "38_2 FAILED None N/A N/A N/A 512 a"}},
		"of two that failed the first decides": {"", "38 exitCode=2 native=FAILED state=FAILED", []string{
			"38_3 FAILED None N/A N/A N/A 768 a", "38_10 FAILED None N/A N/A N/A 1024 a", "38_2 FAILED None N/A N/A N/A 512 a"}},
		"one that failed is remembered":          {"of=;FAILED:2", "38 name=a native=COMPLETED state=FAILED", []string{"38_1 COMPLETED None N/A N/A N/A 0 a"}},
		"one that ran is missing":                {"of=;RUNNING:2-3", "38 name=a incomplete: the end of task 2-3 is unknown", []string{"38_1 COMPLETED None N/A N/A N/A 0 a"}},
		"of rows that do not name the job":       {"of=2025;RUNNING:2", "38 name=a incomplete: the end of task 2 is unknown", []string{"38_1 COMPLETED None N/A N/A N/A 0 a"}},
		"a word that is not understood keeps it": {"", "38 native=NEW", []string{"38_1 COMPLETED None N/A N/A N/A 0 a", "38_2 NEW None N/A N/A N/A 0 a"}},
		"a task twice":                           {"", "38 unreadable: conflicting states in lines 1 and 2", []string{"38_1 COMPLETED None N/A N/A N/A 0 a", "38_1 FAILED None N/A N/A N/A 0 a"}},
		"of another job":                         {"", "", []string{"39_1 COMPLETED None N/A N/A N/A 0 a"}},
	} {
		t.Run(name, func(t *testing.T) {
			query.Memory = reader.ParseMemory(c.memory)
			text := shown(read(t, squeue, rows(c.rows...), query))
			text = strings.ReplaceAll(text, " name=a native=RUNNING", " native=RUNNING")
			for _, part := range strings.Fields(c.want) {
				require.Contains(t, text, part)
			}
			require.Equal(t, c.want == "", text == "", text)
			require.NotContains(t, text, "Path=")
		})
	}
}

func TestAQueryForATaskUsesOnlyItsRecord(t *testing.T) {
	output := rows("38_1 COMPLETED None N/A N/A N/A 0 a", "38_2 RUNNING None n2 N/A N/A 0 a", "38_[3-4%1] PENDING None N/A N/A N/A 0 a")
	for id, want := range map[string]string{"38_1": "COMPLETED", "38_2": "RUNNING", "38_3": "QUEUED_ACTIVE", "38_[3-4%1]": "QUEUED_ACTIVE"} {
		found := read(t, squeue, output, reader.Query{Mark: "@mark", Job: id}).Find("38")
		require.NotNil(t, found, id)
		require.Equal(t, want, found.State, id)
	}
	require.Nil(t, read(t, squeue, output, reader.Query{Mark: "@mark", Job: "38_7"}).Find("38"))
}

func TestMemoriesSurviveFormattingAndParsing(t *testing.T) {
	text := "of=2026-01-01T00:00:00;COMPLETED:1-5,8;RUNNING:6"
	require.Equal(t, text, reader.ParseMemory(text).String())
	require.Empty(t, reader.ParseMemory("").String())
	require.Empty(t, reader.ParseMemory("nonsense;COMPLETED:1").String())
	require.Equal(t, "of=x", strings.TrimSuffix(reader.ParseMemory("of=x;NOSTATE:1;COMPLETED:x;RUNNING:2").String(), ";RUNNING:2"))
}

const qstat = `<x:ids form="(\d+)(?:\[([\d,:-]*)\])?(?:\.[\w.-]+)?" columns="job task"/>
	<x:reader name="qstat" needs="job_state project|history">
		<x:stanzas begin="Job Id: (\S+)" columns="id" field=" {4}(\S+) = (.*)"/>
		<x:states of="job_state">
			<x:state is="RUNNING" words="R"/>
			<x:state is="COMPLETED" words="F" test="Exit_status=0"/>
			<x:state is="CANCELED" words="F" test="Exit_status=271 and contains(comment,' terminated by ')"/>
			<x:state is="FAILED" words="F"/>
		</x:states>
		<x:fact name="reason" from="comment"/>
		<x:fact name="reason" from="'output files could not be delivered'" when="Stageout_status=0" append="; "/>
		<x:fact name="owner" from="substring-before(Job_Owner,'@')"/>
		<x:fact name="submitted" from="ctime" as="time"/>
		<x:fact name="exitCode" from="Exit_status" as="exit-status" signal-base="128 256"/>
		<x:fact name="identity" from="Submit_arguments" as="tag"/>
		<x:fact name="outputPath" from="Output_Path" as="path"/>
	</x:reader>`

func stanza(id string, fields ...string) string {
	text := "Job Id: " + id + "\n"
	for _, field := range fields {
		text += "    " + field + "\n"
	}
	return text + "\n"
}

func TestATimeMayHaveAnOffsetAfterTheYear(t *testing.T) {
	const times = `<x:ids form="(\d+)" columns="job"/><x:reader name="tested"><x:table separator="|" columns="id made"/>
		<x:fact name="submitted" from="made" as="time"/><x:fact name="identity" from="made" as="time" to="2006-01-02T15:04"/></x:reader>`
	for made, want := range map[string]string{
		"Thu Jan 14 17:20:11 2027 -0600 (CST)": "7 identity=2027-01-14T17:20 submitted=2027-01-14T17:20:11-06:00\n",
		"Fri Jan  1 07:20:11 2027 +0530":       "7 identity=2027-01-01T07:20 submitted=2027-01-01T07:20:11+05:30\n",
		"Thu Jan 14 17:20:11 2027":             "7 identity=2027-01-14T17:20 submitted=Thu Jan 14 17:20:11 2027\n",
		"Thu Jan 14 17:20:11 2027 (CST) -0600": "7\n",
		"Thu Jan 14 17:20:11 2027 -06":         "7\n",
	} {
		require.Equal(t, want, shown(read(t, times, "7|"+made+"\n", reader.Query{})), made)
	}
}

func TestStanzasBecomeJobs(t *testing.T) {
	tag := "9e053800-5f8d-4c5b-9102-0b2c4581d4f0"
	answer := read(t, qstat, "Last login: today\n"+stanza("12.pbs", "job_state = R", "project = p", "Job_Owner = alice@node", "ctime = Fri Jul  3 12:00:00 2026",
		"Output_Path = node:/home/alice/x.o12", "Submit_arguments = -f /home/alice/.rmctl/"+tag+"script", "comment = fine")+
		stanza("13.pbs", "job_state = F", "project = p", "Exit_status = 271", "comment = x terminated by y", "Stageout_status = 0")+
		stanza("14.pbs", "job_state = F", "project = p", "Exit_status = 137", "Output_Path = node:/home/alice/x.o^array_index^")+
		stanza("15.pbs", "job_state = R", "job_state = F", "project = p")+
		stanza("16.pbs", "job_state = R"), reader.Query{})
	require.Equal(t, `12.pbs identity=`+tag+` native=R outputPath=/home/alice/x.o12 owner=alice reason=fine state=RUNNING submitted=Fri Jul  3 12:00:00 2026
13.pbs exitCode=271 native=F reason=x terminated by y; output files could not be delivered signal=15 state=CANCELED
14.pbs exitCode=137 native=F signal=9 state=FAILED
15 unreadable: the field job_state occurs twice, in lines 25 and 26
16 unreadable: the record is truncated: the field project|history is missing
`, shown(answer))
}

func TestAQueryUsesTheNewestSubmissionOrItsOwn(t *testing.T) {
	output := stanza("12.a", "job_state = F", "project = p", "Exit_status = 0", "ctime = Fri Jul  3 12:00:00 2026", "Submit_arguments = /x/9e053800-5f8d-4c5b-9102-0b2c4581d4f0") +
		stanza("12.b", "job_state = R", "project = p", "ctime = Fri Jul  3 13:00:00 2026", "Submit_arguments = /x/11111111-5f8d-4c5b-9102-0b2c4581d4f0")
	require.Equal(t, "RUNNING", read(t, qstat, output, reader.Query{Job: "12"}).Find("12").State)
	require.Equal(t, "COMPLETED", read(t, qstat, output, reader.Query{Job: "12", Identity: "9e053800-5f8d-4c5b-9102-0b2c4581d4f0"}).Find("12").State)
	require.Nil(t, read(t, qstat, output, reader.Query{Job: "12", Identity: "22222222-5f8d-4c5b-9102-0b2c4581d4f0"}).Find("12"))
}

func TestFoldedLinesAndSeveralFieldsPerLine(t *testing.T) {
	const scontrol = `<x:reader name="scontrol">
		<x:stanzas begin="JobId=\d+ " field="([A-Za-z][\w:/]*)=(\S*)" rest="JobName Comment"/>
		<x:id from="JobId"/>
		<x:states of="JobState"><x:state is="RUNNING" words="RUNNING"/></x:states>
		<x:fact name="name" from="JobName"/><x:fact name="reason" from="Reason"/><x:fact name="cpus" from="CPUs_Task" as="integer"/>
	</x:reader>`
	answer := read(t, scontrol, "JobId=5 JobName=a JobState=FAILED b\n   UserId=me(1) GroupId=x\n   JobState=RUNNING Reason=None CPUs/Task=4\n   Comment=x\n", reader.Query{})
	require.Equal(t, "5 cpus=4 name=a JobState=FAILED b native=RUNNING reason=None state=RUNNING\n", shown(answer))
	answer = read(t, scontrol, "JobId=5 JobName=a\n   JobState=RUNNING\n   Comment=x\n   JobState=FAILED\n", reader.Query{})
	require.Contains(t, shown(answer), "unreadable: the field JobState occurs twice")

	const folded = `<x:reader name="folded">
		<x:stanzas begin="Job Id: (\S+)" columns="id" field=" {4}(\S+) = (.*)" continued="\t" until="Variable_List"/>
		<x:fact name="name" from="Job_Name"/><x:fact name="reason" from="comment"/>
	</x:reader>`
	answer = read(t, folded, "Job Id: 7\n    Job_Name = long\n\ter name\n    Variable_List = A=1,\n\tB=2\n    comment = forged\n", reader.Query{})
	require.Equal(t, "7 name=longer name\n", shown(answer))
}

func TestLinesAndAttributes(t *testing.T) {
	const submit = `<x:ids form="(\d+)" columns="job"/><x:reader name="submit">
		<x:lines expression="(?:sbatch: )?Submitted batch job (\d+)(?: on cluster \S+)?\s*|(\d+);[\w.-]+\s*" columns="id id"/>
		<x:lines expression="(\d+)\s*" columns="id" only="true"/>
	</x:reader>`
	for output, want := range map[string]string{
		"Submitted batch job 12\n": "12\n", "12;cluster\n": "12\n", "12\n": "12\n", "12": "", "\n12\n\n": "12\n",
		"motd 2024\nSubmitted batch job 12\n2024 news\n": "12\n",
		"2024\nSubmitted batch job 12\n":                 "12\n",
		"12\nmotd\n":                                     "", "": "", "Submitted batch job 12 or so\n": "",
		"Submitted batch job 12\nSubmitted batch job 13\n": "12\n13\n",
	} {
		require.Equal(t, want, shown(read(t, submit, output, reader.Query{})), "%q", output)
	}
	const queues = `<x:reader name="queues"><x:table header="true" where="starts-with(STATUS,'Open:')"/><x:fact attribute="queues" from="QUEUE_NAME"/></x:reader>`
	answer := read(t, queues, "QUEUE_NAME PRIO STATUS\nnormal 30 Open:Active\nold 1 Closed:Active\nlong 20 Open:Inact\n", reader.Query{})
	require.Equal(t, []reader.AttributeValues{{Name: "queues", Values: []string{"normal", "long"}}}, answer.Attributes)
}

func TestSilenceProvesNothing(t *testing.T) {
	const bjobs = `<x:reader name="bjobs"><x:json each="/RECORDS/*" total="JOBS"/><x:id from="JOBID"/><x:absent within="1h"/></x:reader>`
	const bhist = `<x:reader name="bhist"><x:log begin="Job (\d+)" columns="id" end="Summary.*"><x:line expression="x"/></x:log></x:reader>`
	require.Equal(t, "nothing was printed", read(t, bjobs, "", reader.Query{}).Absence.Doubt)
	require.Empty(t, read(t, bjobs, `{"JOBS":0,"RECORDS":[]}`, reader.Query{}).Absence.Doubt)
	require.Empty(t, read(t, bjobs, "", reader.Query{HasNone: true}).Absence.Doubt)
	require.ErrorContains(t, read(t, bhist, "", reader.Query{}).Damage, "nothing was printed")
	require.Nil(t, read(t, bhist, "", reader.Query{HasNone: true}).Damage)
}

func TestPlaceholdersOfAFolderAreReplaced(t *testing.T) {
	const paths = `<x:reader name="paths"><x:table columns="id folder file"/>
		<x:fact name="outputPath" from="file" as="path" base="folder" words="$HOME='/home/user' %J=id"/></x:reader>`
	for row, want := range map[string]string{
		"7 $HOME/work o.%J": "/home/user/work/o.7", "7 /work $HOME/o": "/home/user/o", "7 /work/%J o": "/work/7/o", "7 $WORK o": "7",
	} {
		require.Equal(t, want, strings.TrimPrefix(strings.TrimSpace(shown(read(t, paths, row+"\n", reader.Query{}))), "7 outputPath="), row)
	}
}

func TestItemsOfAListCountOnce(t *testing.T) {
	const list = `<x:reader name="list"><x:table columns="id hosts"/><x:fact name="nodes" from="replace(hosts,'[0-9]+[*]','')" split=":"/></x:reader>`
	require.Equal(t, "7 nodes=a,b,c\n", shown(read(t, list, "7 a:4*b:2*a:c\n", reader.Query{})))
}

func TestDocumentsBecomeJobs(t *testing.T) {
	const bjobs = `<x:reader name="bjobs" none="-">
		<x:json each="RECORDS/*" total="JOBS" where="not(ERROR)"/>
		<x:id from="JOBID"/>
		<x:states of="STAT"><x:state is="RUNNING" words="RUN"/></x:states>
		<x:fact name="name" from="NAME"/><x:fact name="cpus" from="N" as="text"/><x:fact name="nodes" from="HOSTS/*"/>
	</x:reader>`
	answer := read(t, bjobs, "Please wait ...\n"+`{"COMMAND":"bjobs","JOBS":2,"RECORDS":[
		{"JOBID":"1","STAT":"RUN","NAME":"a\nb","N":9007199254740993,"HOSTS":["n1","n2"],"X":{"NAME":"inner"}},
		{"JOBID":2,"STAT":"-","NAME":null,"ERROR":false}]}`+"\n", reader.Query{})
	require.Nil(t, answer.Damage)
	require.Equal(t, "1 cpus=9007199254740993 name=a b native=RUN nodes=n1,n2 state=RUNNING\n", shown(answer))
	for output, want := range map[string]string{
		`{"JOBS":1,"RECORDS":[{"JOBID":"1","STAT":"RUN"},{"JOBID":"2"}]}`: "the document has 2 records instead of \"1\"",
		`{"JOBS":1,"RECORDS":[{"JOBID":"1","STAT":"RUN"}`:                 "the document ends early",
		`{"JOBS":1,"RECORDS":[{"JOBID":"1","JOBID":"2"}]}`:                "duplicate",
		"nothing to see\n": "the output has no document",
		`{"JOBS":1,"RECORDS":` + strings.Repeat("[", 2000): "the document is nested too deeply",
	} {
		damaged := read(t, bjobs, output, reader.Query{})
		require.NotNil(t, damaged.Damage, output)
		require.Contains(t, damaged.Damage.What, want, output)
		for each := range damaged.All() {
			require.Empty(t, each.State)
		}
	}
	require.Nil(t, read(t, bjobs, "", reader.Query{}).Damage)

	const torque = `<x:reader name="torque">
		<x:xml each="Data/Job[not(contains(Job_Id,'[]'))]"/>
		<x:id from="Job_Id"/>
		<x:states of="job_state"><x:state is="RUNNING" words="R"/></x:states>
		<x:fact name="name" from="Job_Name"/><x:fact name="cpus" from="sum(Resource/ncpus)" as="integer"/><x:fact name="owner" from="@who"/>
	</x:reader>`
	text := "<?xml version='1.0'?>\n<Data>\n<Job who='me'><Job_Id>1.srv</Job_Id><job_state>R</job_state><Job_Name>a&lt;b\x01</Job_Name><Resource><ncpus>2</ncpus></Resource></Job>\n<Job><Job_Id>2[].srv</Job_Id></Job></Data>\n"
	require.Equal(t, "1.srv cpus=2 name=a<b\uFFFD native=R owner=me state=RUNNING\n", shown(read(t, torque, text, reader.Query{})))
	require.Equal(t, "the document ends early", read(t, torque, text[:len(text)-9], reader.Query{}).Damage.What)
	require.Contains(t, read(t, torque, "<!DOCTYPE x [<!ENTITY a 'b'>]><Data/>", reader.Query{}).Damage.What, "document type")
	require.Contains(t, read(t, torque, "<Data>&a;</Data>", reader.Query{}).Damage.What, "entity")
}

func TestTheFieldsBelowAFieldAreOneFact(t *testing.T) {
	const nodes = `<x:reader name="nodes"><x:json each="/*"/><x:id from="id"/><x:fact name="attributes" from="more" as="fields"/></x:reader>`
	text := `[{"id":"n1","more":{"gpus":4,"modules":["gcc","mpi"],"none":null,"empty":""}},{"id":"n2","more":{}},{"id":"n3"}]`
	require.Equal(t, `n1 attributes={"gpus":"4","modules":["gcc","mpi"]}`+"\nn2\nn3\n", shown(read(t, nodes, text, reader.Query{})))
}

func TestReadersExtendOthers(t *testing.T) {
	answer := read(t, squeue+`<x:reader name="sacct" extends="squeue" repeats="last">
		<x:table separator="|" columns="id state code name"/>
		<x:fact name="exitCode" from="code" as="integer"/>
	</x:reader>`, "7|FAILED|2|x\n7|RUNNING|0|x\n", reader.Query{})
	require.Equal(t, "7 name=x native=RUNNING state=RUNNING\n", shown(answer))

	answer = read(t, squeue+`<x:reader name="other" extends="squeue"><x:table separator="|" columns="id state"/>
		<x:states><x:state is="FAILED" words="COMPLETED" test="id='8'"/></x:states></x:reader>`, "7|COMPLETED\n8|COMPLETED\n", reader.Query{})
	require.Equal(t, "7 native=COMPLETED state=COMPLETED\n8 native=COMPLETED state=FAILED\n", shown(answer))
}

func TestGroupsAndJoins(t *testing.T) {
	const nodes = `<x:reader name="nodes">
		<x:table separator="|" columns="name partition state" group="name"/>
		<x:id from="name"/>
		<x:join name="load" by="host"><arg>uptime</arg><x:table columns="host load"/></x:join>
		<x:states of="state"><x:state is="UP" matches="idle[*~]*"/></x:states>
		<x:fact name="queues" from="row/partition"/><x:fact name="load" from="load/load" as="number"/>
	</x:reader>`
	definition := definitionWith(t, nodes)
	join := func(join *config.Join) (reader.Joined, error) {
		j, err := reader.NewJoinReader(join, reader.Query{})
		require.NoError(t, err)
		_, err = j.Write([]byte("n1 0.5\nn3 1\nn2 7\n"))
		require.NoError(t, err)
		return j.Close()
	}
	r, err := reader.New(definition.Readers[0], reader.Query{Join: join})
	require.NoError(t, err)
	_, err = r.Write([]byte("n1|a|idle*\nn2|a|idle\nn1|b|idle*\n"))
	require.NoError(t, err)
	answer, err := r.Close()
	require.NoError(t, err)
	require.Equal(t, "n1 load=0.5 native=idle* queues=a,b state=UP\nn2 load=7 native=idle queues=a state=UP\n", shown(answer))
}

func TestListsBecomeRecords(t *testing.T) {
	const nodes = `<x:reader name="nodes">
		<x:table separator="|" columns="state ranks names reason" expand="names ranks" where="not(names='n07')"/>
		<x:id from="names"/>
		<x:states of="state"><x:state is="UP" words="avail"/></x:states>
		<x:fact name="rank" from="ranks" as="integer"/><x:fact name="reason" from="reason"/>
	</x:reader>`
	require.Equal(t, "n08 native=avail rank=1 state=UP\nn09 native=avail rank=2 state=UP\nlogin native=avail rank=5 state=UP\nn1 native=down rank=7 reason=x y\n",
		shown(read(t, nodes, "avail|0-2,5|n[07-09],login|\ndown|7|n1|x y\n", reader.Query{})))
	for output, why := range map[string]string{
		"avail|0-2|n[1-2]|\n":  "the field ranks has 3 items, and the field names 2",
		"avail|0-2|n[1-2|\n":   `the field names: invalid list "n[1-2"`,
		"avail|0-2|n[3-1]|\n":  `the field names: invalid list "n[3-1]"`,
		"avail||n[1-2]|\n":     "the field ranks has 0 items, and the field names 2",
		"avail|0-2||nothing\n": "the field ranks has 3 items, and the field names 0",
	} {
		answer := read(t, nodes, output+"avail|9|n9|\n", reader.Query{})
		require.Len(t, answer.Rejected, 1, output)
		require.Equal(t, why, answer.Rejected[0].Why, output)
		require.Contains(t, shown(answer), "n9 native=avail rank=9 state=UP\n", "it harms no other")
	}
	require.Empty(t, shown(read(t, nodes, "avail|||of no node\n", reader.Query{})))
	const lacking = `<x:reader name="nodes"><x:json each="/R/*" expand="name rank"/><x:id from="name"/></x:reader>`
	answer := read(t, lacking, `{"R": [{"name": "n[1-2]"}, {"rank": "0-1"}, {"name": "n7", "rank": 0}]}`, reader.Query{})
	require.Equal(t, []string{"the record lacks the field rank", "the record has no id"}, []string{answer.Rejected[0].Why, answer.Rejected[1].Why})
	require.Contains(t, shown(answer), "n7\n")
	r, err := reader.New(definitionWith(t, nodes).Readers[0], reader.Query{})
	require.NoError(t, err)
	_, err = r.Write([]byte("avail|0-999999999|n[0-999999999]|\n"))
	require.ErrorContains(t, err, "more than 200,000 items")
}

func TestListsOfAJoinBecomeRecords(t *testing.T) {
	const join = `<x:reader name="nodes"><x:table columns="ranks names" expand="names ranks"/><x:id from="names"/>
		<x:join name="all" by="rank" with="ranks"><arg>R</arg><x:json each="/R/*" expand="rank"/></x:join>
		<x:fact name="cpus" from="all/core" as="count"/></x:reader>`
	r, err := reader.New(definitionWith(t, join).Readers[0], reader.Query{Join: func(join *config.Join) (reader.Joined, error) {
		j, err := reader.NewJoinReader(join, reader.Query{})
		require.NoError(t, err)
		_, err = j.Write([]byte(`{"R": [{"rank": "0,2-3", "core": "0-7,16-23"}, {"rank": "1", "core": "5"}]}`))
		require.NoError(t, err)
		return j.Close()
	}})
	require.NoError(t, err)
	_, err = r.Write([]byte("0-2,4 n[1-4]\n"))
	require.NoError(t, err)
	answer, err := r.Close()
	require.NoError(t, err)
	require.Equal(t, "n1 cpus=16\nn2 cpus=1\nn3 cpus=16\nn4\n", shown(answer))
}

func TestPathsWithUnknownPlaceholdersAreDropped(t *testing.T) {
	const paths = `<x:reader name="paths"><x:table columns="id path"/><x:fact name="outputPath" from="path" as="path" words="{{id}}=id"/></x:reader>`
	require.Equal(t, "1 outputPath=/a/1.out\n2\n3\n4\n5 outputPath=/a/{b}\n", shown(read(t, paths, "1 /a/{{id}}.out\n2 /a/{{node.id}}\n3 /a/%j\n4 /$HOME\n5 /a/{b}\n", reader.Query{})))
}

func TestAFactMayCopyAnotherOnACondition(t *testing.T) {
	const paths = `<x:reader name="paths"><x:table columns="id joined path"/><x:fact name="outputPath" from="path" as="path"/>
		<x:fact name="errorPath" same-as="outputPath" when="joined='y'"/></x:reader>`
	require.Equal(t, "1 errorPath=/a outputPath=/a\n2 outputPath=/b\n", shown(read(t, paths, "1 y /a\n2 n /b\n", reader.Query{})))
}

func TestIDsMayBeWrittenInAnotherWay(t *testing.T) {
	ids, err := reader.NewIDs(definitionWith(t, `<x:ids form="(f\w+|\d+)" columns="job" drop="^ƒ" replacement="f"/>`).IDs)
	require.NoError(t, err)
	for id, want := range map[string]string{"f3Rt1": "f3Rt1", "ƒ3Rt1": "f3Rt1", "12": "12", "3Rt1": "", "fƒ3": ""} {
		job, _, isID := ids.Split(id)
		require.Equal(t, want, job, id)
		require.Equal(t, want != "", isID, id)
	}
	require.Equal(t, "f3Rt1", ids.Clean("ƒ3Rt1"))
}

// bulk reads jobs that are reported in addition to their tasks.
const bulk = `<x:ids form="(\d+)(?:\[(\d+)\]|_(\d+))?" columns="job task task" own="\d+_\d+"/>
	<x:reader name="bulk">
		<x:table columns="id state kind"/>
		<x:tasks with-whole="kind='bulk'"/>
		<x:states of="state">
			<x:state is="RUNNING" words="RUN"/>
			<x:state is="QUEUED_ACTIVE" words="QUE"/>
			<x:state is="COMPLETED" words="EXT"/>
			<x:state is="FAILED" words="BAD"/>
		</x:states>
	</x:reader>`

func TestAJobReportedWithItsTasksEndsWithBoth(t *testing.T) {
	for output, want := range map[string]string{
		"7 EXT bulk\n7[0] EXT bulk\n7[1] BAD bulk\n": "7 native=BAD state=FAILED tasks=of=;COMPLETED:0;FAILED:1\n",
		"7 RUN bulk\n7[0] EXT bulk\n":                "7 native=RUN state=RUNNING tasks=of=;COMPLETED:0\n",
		"7 RUN bulk\n7[0] QUE bulk\n":                "7 native=QUE state=QUEUED_ACTIVE tasks=of=;QUEUED_ACTIVE:0\n",
		"7 RUN bulk\n7[0] NEW bulk\n":                "7 native=RUN state=RUNNING tasks=of=;UNDETERMINED:0\n",
		"7 NEW bulk\n7[0] EXT bulk\n":                "7 native=NEW tasks=of=;COMPLETED:0\n",
		"7 RUN bulk\n":                               "7 native=RUN state=RUNNING\n",
		"7[0] RUN bulk\n":                            "7 native=RUN state=RUNNING tasks=of=;RUNNING:0\n",
		"7[0] EXT bulk\n":                            "7 tasks=of=;COMPLETED:0 incomplete: the whole job is not reported\n",
		"7 EXT bulk\n":                               "7 incomplete: none of its tasks is reported\n",
		"7 EXT one\n":                                "7 native=EXT state=COMPLETED\n",
		"7 EXT one\n7[0] BAD bulk\n":                 "7 unreadable: line 2 belongs to a task, but line 1 says that the job has no tasks\n",
		"7[0] BAD one\n7 EXT bulk\n":                 "7 unreadable: line 1 belongs to a task, but line 1 says that the job has no tasks\n",
	} {
		require.Equal(t, want, shown(read(t, bulk, output, reader.Query{Job: "7"})), output)
	}
	require.Equal(t, "7 native=EXT state=COMPLETED\n", shown(read(t, bulk, "7[0] EXT one\n7[1] RUN bulk\n", reader.Query{Job: "7[0]"})))
}

func TestAnInvalidLineDamagesTheRowsAfterAHeading(t *testing.T) {
	const jobs = `<x:ids form="(\d+)" columns="job"/><x:reader name="jobs"><x:table separator="," columns="id state" heading="ID,ST"/>
		<x:states of="state"><x:state is="RUNNING" words="R"/></x:states></x:reader>`
	for output, want := range map[string]string{
		"Welcome\nID,ST\n7,R\n\n8,R\n": "7 native=R state=RUNNING\n",
		"ID,ST\n7,R\nWelcome\n":        "7 unreadable: the record has 1 columns instead of 2\n",
		"ID,ST\n7,R\n,R\n":             "7 unreadable: invalid job id \"\"\n",
		"ID,ST\n7,R\n8,R,R\n":          "7 native=R state=RUNNING\n",
	} {
		require.Equal(t, want, shown(read(t, jobs, output, reader.Query{Job: "7"})), output)
	}
	require.Equal(t, "7 native=R state=RUNNING\n8 unreadable: the record has more than 2 columns\n", shown(read(t, jobs, "ID,ST\n7,R\nWelcome\n8,R,R\n", reader.Query{})))
}

func TestATaskMayBeASeparateJob(t *testing.T) {
	const output = "7_0 EXT one\n7_1 RUN one\n8[0] RUN bulk\n7_2 RUN\n"
	require.Equal(t, "7_0 native=EXT state=COMPLETED\n7_1 native=RUN state=RUNNING\n8 native=RUN state=RUNNING tasks=of=;RUNNING:0\n"+
		"7_2 unreadable: the record has 2 columns instead of 3\n", shown(read(t, bulk, output, reader.Query{})))
	require.Equal(t, "7 native=EXT state=COMPLETED\n", shown(read(t, bulk, "7_0 EXT one\n7_1 RUN one\n", reader.Query{Job: "7_0"})))
	ids, err := reader.NewIDs(definitionWith(t, bulk).IDs)
	require.NoError(t, err)
	for id, want := range map[string][2]string{"7": {"7", ""}, "7[2]": {"7", "2"}, "7_3": {"7", "3"}, "7[2": {}, "7_3]": {}} {
		job, task, isID := ids.Split(id)
		require.Equal(t, want, [2]string{job, task}, id)
		require.Equal(t, want[0] != "", isID, id)
	}
}

func TestEventsOfALogAreOneRecord(t *testing.T) {
	const bhist = `<x:ids form="(\d+)" columns="job"/><x:reader name="bhist">
		<x:log begin="Job &lt;(\d+)>.*" columns="id" continued=" {21}" time="(\w{3} \w{3} +\d+ [\d:]+ \d{4}): +">
			<x:line expression="Dispatched .*" time="begun" clears="word code"/>
			<x:line expression="(Done) successfully\..*" columns="word" time="finished"/>
			<x:line expression="(Exited) with exit code (\d+).*" columns="word code" time="finished"/>
		</x:log>
		<x:states of="word"><x:state is="COMPLETED" words="Done"/><x:state is="FAILED" words="Exited"/></x:states>
		<x:fact name="started" from="begun" as="time"/><x:fact name="exitCode" from="code" as="integer"/>
	</x:reader>`
	text := "Job <5>, User <me>\nFri Jul  3 12:00:00 2026: Dispatched to <n1>\nFri Jul  3 12:01:00 2026: Exited with exit\n" + strings.Repeat(" ", 21) + " code 3. The CPU\nFri Jul  3 12:02:00 2026: Dispatched to <n2>\n"
	require.Equal(t, "5 started=Fri Jul  3 12:02:00 2026\n", shown(read(t, bhist, text, reader.Query{})))
	require.Equal(t, "5 native=Done started=Fri Jul  3 12:02:00 2026 state=COMPLETED\n", shown(read(t, bhist, text+"Fri Jul  3 12:03:00 2026: Done successfully. x\n", reader.Query{})))
}

func TestAListingDoesNotDecideWhoCanceledAJob(t *testing.T) {
	const elements = `<x:ids form="(\d+)" columns="job"/><x:reader name="jobs"><x:table columns="id word"/><x:states of="word">
		<x:state is="RUNNING" words="R"/><x:state is="CANCELED" words="gone" test="@job.canceled='true'"/><x:state is="FAILED" words="gone"/>
		</x:states></x:reader>`
	isCanceled := func(name string) (string, bool) { return "true", name == "job.canceled" }
	require.Equal(t, "1 native=R state=RUNNING\n2\n", shown(read(t, elements, "1 R\n2 gone\n", reader.Query{})))
	require.Equal(t, "2 native=gone state=FAILED\n", shown(read(t, elements, "1 R\n2 gone\n", reader.Query{Job: "2"})))
	require.Equal(t, "2 native=gone state=CANCELED\n", shown(read(t, elements, "1 R\n2 gone\n", reader.Query{Job: "2", Attribute: isCanceled})))
}

func TestARecordMayBeAValueWithoutFields(t *testing.T) {
	const elements = `<x:reader name="jobs"><x:json each="/ids/*"/><x:id from="."/></x:reader>`
	require.Equal(t, "7\n8\n", shown(read(t, elements, `{"ids": [7, "8"]}`, reader.Query{})))
	const inXML = `<x:reader name="jobs"><x:xml each="/ids/id"/><x:id from="."/></x:reader>`
	require.Equal(t, "7\n8\n", shown(read(t, inXML, "<ids>\n<id>7</id><id> 8 </id></ids>", reader.Query{})))
}

func TestAFactIsCopiedIfItsConditionHolds(t *testing.T) {
	const elements = `<x:reader name="jobs"><x:table columns="id out joined"/><x:fact name="outputPath" from="out"/>
		<x:fact name="errorPath" same-as="outputPath" when="joined='yes'"/></x:reader>`
	require.Equal(t, "1 errorPath=a outputPath=a\n2 outputPath=b\n", shown(read(t, elements, "1 a yes\n2 b no\n", reader.Query{})))
}
