package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

const outcomes = `
	<x:outcome kind="not-found" expression="(?i)invalid job id"/>
	<x:outcome kind="denied" exit="1 13" expression="denied"/>
	<x:outcome kind="transient" exit="7"/>
	<x:outcome kind="finished" exit="0" expression="^gone$" flags="MULTILINE"/>
	<x:outcome kind="finished" exit="1"/>`

func TestOutcomesAreRecognizedByExitCodeAndText(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   config.OutcomeKind
	}{
		"by an expression in stderr":                {`echo "error: Invalid job id 7" >&2; exit 1`, config.NotFound},
		"by an expression in stdout":                {`echo "Invalid job id 7"; exit 1`, config.NotFound},
		"the first that fits counts":                {`echo "invalid job id: denied" >&2; exit 13`, config.NotFound},
		"by code and expression":                    {`echo "access denied" >&2; exit 13`, config.Denied},
		"an expression alone is not for exit 0":     {`echo "Invalid job id 7" >&2`, ""},
		"by code alone":                             {`exit 7`, config.Transient},
		"a code whose expression is not found":      {`exit 13`, ""},
		"a later one may fit the same code":         {`exit 1`, config.Finished},
		"exit 0 where the definition says so":       {`echo row; echo gone`, config.Finished},
		"exit 0 without the text is no outcome":     {`echo going`, ""},
		"a code that no outcome names has no class": {`exit 99`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, outcomes+shell(c.script, "", ""))
			result, err := b.run(t, t.Context(), config.StartUpCommand)
			require.Equal(t, c.want, result.Outcome)
			if err != nil {
				var failed *command.Error
				require.ErrorAs(t, err, &failed)
				require.Equal(t, c.want, failed.Outcome)
			}
		})
	}
}

func TestOutcomesAreRecognizedThoughTheExitStatusIsIgnored(t *testing.T) {
	b := newBench(t, outcomes+shell(`echo "Invalid job id 7" >&2; exit 1`, `ignoreExitStatus="true"`, ""))
	require.Equal(t, config.NotFound, b.succeeds(t, config.StartUpCommand).Outcome)
}

func TestAnOutcomeMayMeanThatTheCommandSucceeded(t *testing.T) {
	b := newBench(t, `<x:outcome kind="done" exit="1" expression="cleared"/>`+shell(`echo "job 7 cleared"; exit 1`, "", ""))
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, 1, result.ExitCode)
	require.Empty(t, result.Outcome)

	b = newBench(t, `<x:outcome kind="done" exit="1" expression="cleared"/>`+shell(`echo "no job 7"; exit 1`, "", ""))
	require.Equal(t, command.BadExit, b.fails(t, config.StartUpCommand).Failure)
}

func TestAnEmptyAnswerIsReadAsOneWithoutRecords(t *testing.T) {
	const (
		empty  = `<x:outcome kind="empty" exit="0 255" expression="No job found"/>`
		listed = `<x:read><x:json each="/jobs/*"/><x:id from="id"/></x:read>`
	)
	for script, isEmpty := range map[string]bool{
		`echo "No job found" >&2; exit 255`:          true,
		`echo "No job found"`:                        true,
		`echo "{\"jobs\":[{\"id\":7}]}"`:             false,
		`echo "{\"jobs\":[{\"id\":7}"; echo cut >&2`: false,
		`echo "another failure" >&2; exit 255`:       false,
		`echo "No job found" >&2; echo "[]"; exit 3`: false,
	} {
		b, _ := reading(t, "get-job-status", script, listed+"", "7")
		b.request.Outcomes = define(t, empty).Outcomes
		result, err := b.run(t, t.Context(), config.GetJobStatus)
		wasEmpty := err == nil && result.Answer != nil && result.Answer.Find("7") == nil && result.Answer.Damage == nil
		require.Equal(t, isEmpty, wasEmpty, script)
		if isEmpty {
			require.Empty(t, result.Outcome)
		}
	}
}
