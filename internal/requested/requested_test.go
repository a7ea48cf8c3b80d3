package requested_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/job"
)

func recorded(t *testing.T, s job.Submission) job.Job {
	t.Helper()
	text, err := requested.Encode("slurm", s)
	require.NoError(t, err)
	return job.Job{ID: "7", Request: text}
}

var asked = job.Submission{
	Executable: "./simulate", Arguments: []string{"a b", ""}, Directory: "/work", Tab: "Basic", Debug: true,
	Values:      []job.Assignment{{Name: "nodes", Value: "2"}, {Name: "time", Value: "5"}},
	Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "x\ny"}}},
}

// definition links the portable name wallTime to its attribute time.
var definition = &config.Definition{Portable: []*config.PortableLink{{Name: "wallTime", Attribute: "time"}}}

func TestAJobIsSubmittedAgainAsItWas(t *testing.T) {
	again, err := requested.Again(recorded(t, asked), job.Submission{}, definition)
	require.NoError(t, err)
	require.Equal(t, asked, again)
}

func TestChangesReplaceSingleValues(t *testing.T) {
	again, err := requested.Again(recorded(t, asked), job.Submission{
		Executable: "./other", Values: []job.Assignment{{Name: "time", Value: "9"}},
		Environment: job.Environment{Variables: []job.Variable{{Name: "B", Value: "1"}}},
	}, definition)
	require.NoError(t, err)
	require.Equal(t, job.Submission{
		Executable: "./other", Directory: "/work", Tab: "Basic", Debug: true,
		Values:      []job.Assignment{{Name: "nodes", Value: "2"}, {Name: "time", Value: "9"}},
		Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "x\ny"}, {Name: "B", Value: "1"}}},
	}, again)
}

func TestAPortableNameReplacesTheAttributeThatItIsLinkedTo(t *testing.T) {
	for _, names := range [][2]string{{"time", "wallTime"}, {"wallTime", "time"}} {
		before := job.Submission{Executable: "true", Values: []job.Assignment{{Name: names[0], Value: "5"}, {Name: "nodes", Value: "2"}}}
		again, err := requested.Again(recorded(t, before), job.Submission{Values: []job.Assignment{{Name: names[1], Value: "9"}}}, definition)
		require.NoError(t, err)
		require.Equal(t, []job.Assignment{{Name: "nodes", Value: "2"}, {Name: names[1], Value: "9"}}, again.Values)
	}
}

func TestAScriptIsReplacedByAProgram(t *testing.T) {
	again, err := requested.Again(recorded(t, job.Submission{Script: "/work/job.sh"}), job.Submission{Executable: "true"}, definition)
	require.NoError(t, err)
	require.Equal(t, job.Submission{Executable: "true"}, again)
}

func TestOnlyRecordedBatchJobsCanBeSubmittedAgain(t *testing.T) {
	_, err := requested.Again(job.Job{ID: "7"}, job.Submission{}, definition)
	require.EqualError(t, err, `the submission of job "7" is not on record`)
	interactive := recorded(t, asked)
	interactive.Interactive = true
	_, err = requested.Again(interactive, job.Submission{}, definition)
	require.EqualError(t, err, `cannot resubmit job "7": it is interactive`)
}

func TestARequestThatCannotBeReadBackIsNotEncoded(t *testing.T) {
	_, err := requested.Encode("slurm", job.Submission{Executable: "\xff"})
	require.Error(t, err)
}
