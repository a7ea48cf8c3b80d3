package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func TestAnOverlaidSubmissionReplacesSettings(t *testing.T) {
	below := job.Submission{
		Executable: "saved", Arguments: []string{"1"}, Directory: "/saved", Script: "saved.sh", Tab: "saved",
		Values:      []job.Assignment{{"a", "1"}, {"list", "x"}, {"list", "y"}, {"off", ""}},
		Environment: job.Environment{Variables: []job.Variable{{"A", "saved"}, {"B", "saved"}}},
	}
	s := job.Submission{
		Executable: "given", Values: []job.Assignment{{"list", "z"}}, Tag: "tag",
		Environment: job.Environment{Variables: []job.Variable{{"A", "given"}}},
	}.Over(below)
	require.Equal(t, job.Submission{
		Executable: "given", Directory: "/saved", Tab: "saved", Tag: "tag",
		Values:      []job.Assignment{{"a", "1"}, {"off", ""}, {"list", "z"}},
		Environment: job.Environment{Variables: []job.Variable{{"B", "saved"}, {"A", "given"}}},
	}, s)
	s = job.Submission{Script: "given.sh"}.Over(below)
	require.Equal(t, "given.sh", s.Script)
	require.Empty(t, s.Executable)
	require.Equal(t, below, job.Submission{}.Over(below))
}

func TestFlagsCanExpressAnySubmission(t *testing.T) {
	require.Equal(t, []string{"--tab", "T", "-s", "a=b=c", "-e", "A=", "-d", "/d", "--script", "s", "--debug", "--", "x", "-y"}, job.Submission{
		Tab: "T", Values: []job.Assignment{{"a", "b=c"}}, Environment: job.Environment{Variables: []job.Variable{{"A", ""}}},
		Directory: "/d", Script: "s", Debug: true, Executable: "x", Arguments: []string{"-y"},
	}.Flags())
}
