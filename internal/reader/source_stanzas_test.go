package reader

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func TestStanzasHaveSeveralFieldsInALine(t *testing.T) {
	require.Equal(t, []string{
		`2: JobId="51" JobName="a JobState=F" JobState="RUNNING" CPUs_Task="1" Sid="" TRES="cpu=1,mem=2" Command="/x  y=z " OS="Linux" Free="1" without Reason`,
		`9: JobId="52" JobName=""`,
	}, shown(t, "Welcome\nJobId=51 JobName=a JobState=F\r\n   JobState=RUNNING Reason=(null)\tCPUs/Task=1 \n\n"+
		"Sid= TRES=cpu=1,mem=2\nno field JobState=X\n   Command=/x  y=z \n OS=Linux 6.1 #1  Free=1\nJobId=52 JobName=\n", scontrolStanzas()))
}

func TestARepeatedFieldDamagesTheStanza(t *testing.T) {
	for output, damage := range map[string]string{
		"JobId=51 JobName=a\nJobState=F\n   JobState=R\n":         "the field JobState occurs twice, in lines 2 and 3",
		"JobId=51 JobName=a\n   JobState=R\n\nJobState=F x=1\n":   "the field JobState occurs twice, in lines 2 and 4",
		"JobId=51 JobName=a\nJobState=N/A\n   JobState=R\n":       "the field JobState occurs twice, in lines 2 and 3",
		"JobId=51 JobName=a\nA=1\nA=1\nB=1\nB=1\n":                "the field A occurs twice, in lines 2 and 3",
		"JobId=51 JobName=a\n A=1 A=1\n":                          "the field A occurs twice, in lines 2 and 2",
		"JobId=51 JobName=a\n   CPUs/Task=1\n   CPUs:Task=1\n":    "the field CPUs_Task occurs twice, in lines 2 and 3",
		"JobId=51 JobName=a\nJobId=51\n":                          "the field JobId occurs twice, in lines 1 and 2",
		"JobId=50 JobName=a\nA=1\nJobId=51 JobName=b\nA=1\nA=2\n": "the field A occurs twice, in lines 4 and 5",
	} {
		records, err := textTest{definitions: []*config.Source{scontrolStanzas()}}.read(t, output, 9)
		require.NoError(t, err)
		require.Equal(t, damage, records[len(records)-1].Damage, "%q", output)
		for _, record := range records[:len(records)-1] {
			require.Empty(t, record.Damage)
		}
	}
}

func TestTheBeginningOfAStanzaMayBeAField(t *testing.T) {
	definition := &config.Source{Kind: config.Stanzas, Begin: pattern(`JobId=(\d+)`), Columns: []string{"JobId"}, Field: pattern(`(\w+)=(\S*)`)}
	require.Equal(t, []string{`1: JobId="51" A="1"`}, shown(t, "JobId=51 A=1\n", definition))
	require.Equal(t, []string{`1: JobId="51" JobId="51x" ! the field JobId occurs twice, in lines 1 and 1`}, shown(t, "JobId=51x\n", definition))

	rule := &config.Source{Kind: config.Stanzas, Begin: pattern(`={10,}`), Field: pattern(`(\w+) +(.*)`)}
	require.Equal(t, []string{`1: qname="main.q   " failed="0"`, `4: qname="a"`},
		shown(t, "==========\nqname   main.q   \nfailed  0\n==========\nqname a\n", rule))
}

func TestContinuedLinesContinueTheFieldBefore(t *testing.T) {
	output := "Job Id: 51.pbs01\n    comment = Not Run\n\tning: Que\r\n\tue\n    Error_Path = N/\n\tA\n\nline2,\n\tx\n" +
		"    Variable_List = A=b,\n\tC=d\n    job_state = F\n\nJob Id: 52.pbs01\n\tx\n    job_state = R\n"
	require.Equal(t, []string{
		`1: id="51.pbs01" comment="Not Running: Queue" Variable_List="A=b,C=d" without Error_Path`,
		`14: id="52.pbs01x" job_state="R"`,
	}, shown(t, output, foldedStanzas()))
}

func TestTextAfterTheLastFieldOfAStanzaIsIgnored(t *testing.T) {
	output := "Job Id: 51.pbs01\n    job_state = R\n    Variable_List = A=b,\n    job_state = F\nC=d,\n    job_state = F\n"
	require.Equal(t, []string{`1: id="51.pbs01" job_state="R" Variable_List="A=b,"`}, shown(t, output, foldedStanzas()))
}

func TestAnIncompleteLastStanzaIsTruncated(t *testing.T) {
	output := "Job Id: 51.pbs01\n    job_state = R\n"
	for length := 1; length < len(output); length++ {
		lines := shown(t, output+output[:length], qstatStanzas())
		if output[length-1] == '\n' {
			require.Equal(t, []string{`1: id="51.pbs01" job_state="R"`, `3: id="51.pbs01"`}, lines)
			continue
		}
		require.Contains(t, lines[len(lines)-1], "! the output ends within the record", "%q", output[:length])
		require.NotContains(t, lines[len(lines)-1], `job_state=""`)
		require.NotContains(t, lines[len(lines)-1], `id="5"`)
	}
	require.Equal(t, []string{`1: ! the output ends within the record`}, shown(t, "Job I", qstatStanzas()))
}

func TestAStanzaThatIsTooLongHasItsID(t *testing.T) {
	test := textTest{definitions: []*config.Source{qstatStanzas()}, longest: 100}
	for _, size := range []int{1, 1000} {
		records, err := test.read(t, "Job Id: 51.pbs01\n    job_state = R\n    Job_Name = "+strings.Repeat("x", 100)+"\n    substate = 1\n"+
			"Job Id: 52.pbs01\n"+strings.Repeat("    A = b\n", 10)+"Job Id: 53.pbs01\n    job_state = F\n"+strings.Repeat("x", 200), size)
		require.NoError(t, err)
		lines := show(records)
		require.Equal(t, `1: id="51.pbs01" job_state="R" ! the record is longer than 16 MiB`, lines[0])
		require.Equal(t, `16: id="53.pbs01" job_state="F" ! the record is longer than 16 MiB`, lines[2])
		require.Contains(t, lines[1], `5: id="52.pbs01" A="b"`)
		require.Contains(t, lines[1], "! the record is longer than 16 MiB")
		for _, record := range records {
			require.LessOrEqual(t, len(record.Raw), 100)
		}
	}
}

func TestFieldsOfAStanzaAreBounded(t *testing.T) {
	var output strings.Builder
	output.WriteString("JobId=51 JobName=\n")
	for i := range mostFields {
		output.WriteString("F" + strconv.Itoa(i) + "=x\n")
	}
	records, err := textTest{definitions: []*config.Source{scontrolStanzas()}}.read(t, output.String(), 1000)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "the record has more than 10000 fields", records[0].Damage)
	require.Len(t, records[0].Root.Children, mostFields)
}

func TestWordsBetweenFieldsAreBounded(t *testing.T) {
	line := func(words int) string { return "JobId=51 A=1" + strings.Repeat(" word", words) + " B=2\n" }
	require.Equal(t, []string{`1: JobId="51" A="1" B="2"`}, shown(t, line(mostSkipped-1), scontrolStanzas()))
	require.Equal(t, []string{`1: JobId="51" A="1"`}, shown(t, line(mostSkipped+1), scontrolStanzas()))
}

func TestKeysOfEarlierStanzasAreForgotten(t *testing.T) {
	source, err := newTextSource([]*config.Source{scontrolStanzas()}, nil, "", func(record *Record) error {
		require.Empty(t, record.Damage)
		return nil
	})
	require.NoError(t, err)
	for i := range 10 {
		output := []byte("JobId=51 JobName=\n")
		for j := range 5_000 {
			output = fmt.Appendf(output, "F%d_%d=x\n", i, j)
		}
		_, err := source.Write(output)
		require.NoError(t, err)
	}
	require.NoError(t, source.Close())
	require.Less(t, len(source.(*stanzasSource).stanza.known.fields), 2*mostFields)
}
