package command_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"
)

const (
	ids  = `<x:ids form="(\d+)(?:\.[a-z]+)?" columns="job"/>`
	read = `<x:read><x:table separator="|" columns="id word name"/>
		<x:states of="word"><x:state is="RUNNING" words="R"/><x:state is="COMPLETED" words="C"/></x:states><x:fact name="name" from="name"/></x:read>`
)

// reading returns a bench whose command acts on a job, and the attribute of that job.
func reading(t *testing.T, kind, script, children, id string) (*bench, *attribute.Attribute) {
	b := newBench(t, element(kind, script, "", children)+ids)
	compiled, err := reader.NewIDs(b.IDs)
	require.NoError(t, err)
	b.request.Reading = command.Reading{IDs: compiled, Job: id}
	b.env.SetVariable("key", nil)
	b.request.Scope.Job = "key"
	return b, b.env.Variable("key")
}

func TestASubmitAnswerMustHaveItsForm(t *testing.T) {
	const submit = `<x:read><x:lines expression="(\S+)" columns="id"/></x:read>`
	for script, want := range map[string]string{
		`echo 12.srv; echo 3.5G now`: "12.srv", `echo 12.srv; echo 3.5G`: "12.srv", `echo motd; echo 7`: "7", `echo motd`: "key", `printf 12`: "key",
	} {
		b, j := reading(t, "submit-batch", script, submit, "")
		b.succeeds(t, config.SubmitBatch)
		require.Equal(t, want, j.Text(attribute.FieldName), script)
		if want != "key" {
			require.Equal(t, string(job.Submitted), attribute.Text(j.Value()))
		}
	}
	b, j := reading(t, "submit-batch", `echo 12; echo 13`, submit, "")
	require.ErrorContains(t, b.fails(t, config.SubmitBatch), `it printed several ids, such as "12" and "13"`)
	require.Equal(t, "key", j.Text(attribute.FieldName))
}

func TestAStatusAnswerMustBeAboutItsJob(t *testing.T) {
	for script, want := range map[string]struct {
		state   string
		outcome config.OutcomeKind
	}{
		`echo "5|C|x"; echo "7|R|y"`:          {"RUNNING", ""},
		`echo "7.srv|R|y"`:                    {"RUNNING", ""},
		`echo "5|C|x"`:                        {"", ""},
		`echo "7|R|y"; echo "7|C|y"`:          {"", config.Unreadable},
		`echo "7|R|y|z"`:                      {"", config.Unreadable},
		`printf "7|R|y"`:                      {"", config.Unreadable},
		`echo garbage`:                        {"", config.Unreadable},
		`echo "7|R|y"; echo garbage; exit 35`: {"RUNNING", ""},
		`echo "7|?|y"`:                        {"", ""},
	} {
		b, j := reading(t, "get-job-status", script, read, "7")
		b.Command(config.GetJobStatus).Exits = []int{35}
		b.request.Origins = "state"
		result := b.succeeds(t, config.GetJobStatus)
		require.Equal(t, want.state, attribute.Text(j.Value()), script)
		require.Equal(t, want.outcome, result.Outcome, script)
		if want.state != "" {
			require.Equal(t, "y", b.env.Text("job.name"))
			require.NotNil(t, j.Origin)
			require.Contains(t, j.Origin.Text, "R|y")
		}
	}
	b, _ := reading(t, "get-job-status", `echo "7|R|y"; exit 3`, read, "7")
	require.Equal(t, 3, b.fails(t, config.GetJobStatus).ExitCode)
}

// A command that always exits with 0 has succeeded only if it names the job.
func TestAControlCommandWithAReaderConfirmsItsJob(t *testing.T) {
	const confirmed = `<x:read><x:lines expression="(\d+) gone" columns="id"/></x:read>`
	for _, kind := range []string{"terminate-job", "suspend-job", "resume-job", "hold-job", "release-job"} {
		b, _ := reading(t, kind, `echo "7 gone"`, confirmed, "7.srv")
		b.succeeds(t, config.CommandElement(kind))
	}
	for _, script := range []string{`:`, `echo "8 gone"`, `echo "7 stays"`, `printf "7 gone"`} {
		b, _ := reading(t, "terminate-job", script, confirmed, "7")
		require.ErrorContains(t, b.fails(t, config.TerminateJob), "the output does not confirm it for job 7", script)
	}
	b, _ := reading(t, "terminate-job", `exit 3`, confirmed, "7")
	require.Equal(t, 3, b.fails(t, config.TerminateJob).ExitCode)
}

func TestAFailedJoinWithExitCode0IsAFailure(t *testing.T) {
	const joining = `<x:read><x:table columns="id word"/><x:join name="more" by="id"><arg>/bin/sh -c 'echo cannot connect &gt;&amp;2'</arg>
		<x:table columns="id more"/></x:join><x:fact name="reason" from="more/more"/></x:read>`
	for kind, fails := range map[config.OutcomeKind]bool{config.Transient: true, config.Doubtful: true, config.Denied: true, config.NotFound: false} {
		b, _ := reading(t, "get-job-status", `echo "7 R"`, joining, "7")
		b.request.Outcomes = []*config.Outcome{{Kind: kind, ExitCodes: []int{0}, Expression: &config.Expression{Text: "cannot connect"}}}
		if !fails {
			b.succeeds(t, config.GetJobStatus)
			continue
		}
		require.ErrorContains(t, b.fails(t, config.GetJobStatus), "more: cannot connect", kind)
	}
}

func TestACommandRunsOnceForEachBatchOfIDs(t *testing.T) {
	const children = `<x:for batch="2" separator=","><arg>/bin/sh -c 'printf "1\n2\n3\n"'</arg><x:lines expression="(\d+)" columns="id"/></x:for>` + read
	b := newBench(t, element("get-job-status", "unused", "", ""))
	definition := define(t, `<get-job-status name="s"><arg>/bin/sh -c 'for id in $(echo $0 | tr , " "); do echo "$id|R|of $0"; done' ${ptp_rm:query.ids#value}</arg>`+children+`</get-job-status>`)
	b.request.Command = definition.Command(config.GetJobStatus)
	b.request.Scope.Environment = environment(definition)
	b.request.Scope.Environment.SetVariable("query.ids", "")
	var rows []string
	b.request.Rows = func(row command.Row) { rows = append(rows, row.ID+" "+row.Fact("state")+" "+row.Fact("name")) }
	invocation, err := b.request.Resolve()
	require.NoError(t, err)
	result, err := command.Run(t.Context(), b.connection, b.request, invocation)
	require.NoError(t, err)
	require.Equal(t, []string{"1 RUNNING of 1,2", "2 RUNNING of 1,2", "3 RUNNING of 3"}, rows)
	require.Len(t, slices.Collect(result.Answer.All()), 3)
	require.Equal(t, 3, result.Listed.Rows)
}
