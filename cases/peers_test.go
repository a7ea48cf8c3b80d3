package cases_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/job"
)

// peers returns the folder of outputs that other projects recorded, which are
// read where they are and belong to these projects.
func peers(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared"), "captures-peers")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the outputs that other projects recorded are not here (%v); RMCTL_SHARED names the folder that holds them", err)
	}
	return folder
}

func readPeer(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(peers(t), name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// What Slurm's words for states mean, as far as other projects recorded them.
var meaning = map[string]job.Detail{
	"PENDING": "QUEUED_ACTIVE", "RUNNING": "RUNNING", "COMPLETED": "COMPLETED", "FAILED": "FAILED", "TIMEOUT": "FAILED",
	"OUT_OF_MEMORY": "FAILED", "NODE_FAIL": "FAILED", "CANCELLED": "CANCELED",
}

func TestSlurmIsReadAsOtherProjectsRecordedIt(t *testing.T) {
	var recorded map[string]string
	readPeer(t, "toil/slurm-scontrol_info.json", &recorded)
	require.NotEmpty(t, recorded)
	native := regexp.MustCompile(`(?m)^ {3}JobState=(\w+)`)
	for id, stdout := range recorded {
		t.Run(id, func(t *testing.T) {
			word := native.FindStringSubmatch(stdout)
			require.NotNil(t, word, stdout)
			answer := evaluated(t, &cases.Case{Definition: "slurm", Command: "get-job-status", Job: id, Stdout: []byte(stdout)})
			require.Equal(t, "OK", answer.Status.State, answer.Status.Message)
			require.NotNil(t, answer.Job, stdout)
			require.Equal(t, meaning[word[1]], answer.Job.Detail, stdout)
		})
	}
}

// The recordings are YAML of one shape: JSON in single quotes, folded.
var (
	submission = regexp.MustCompile(`(?s)- parse_submit_kwargs: '(.*?)'\n  submission_result_ref: '(.*?)'\n`)
	folding    = regexp.MustCompile(`\n +`)
	byRelease  = regexp.MustCompile(`^Submitted batch job (\d+)\n$`)
)

func TestSlurmGivesNoOtherIDThanOtherProjectsFind(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(peers(t), "qtoolkit/slurm-parse_submit_output_inout.yaml"))
	require.NoError(t, err)
	recorded := submission.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(recorded), 5)
	unfold := func(quoted string, into any) {
		unquoted := strings.ReplaceAll(folding.ReplaceAllString(quoted, " "), "''", "'")
		require.NoError(t, json.Unmarshal([]byte(unquoted), into), unquoted)
	}
	for _, one := range recorded {
		var given struct {
			Exit   int    `json:"exit_code"`
			Stdout string `json:"stdout"`
			Stderr string `json:"stderr"`
		}
		var found struct {
			ID *string `json:"job_id"`
		}
		unfold(one[1], &given)
		unfold(one[2], &found)
		answer := evaluated(t, &cases.Case{Definition: "slurm", Command: "submit-batch", Exit: given.Exit, Stdout: []byte(given.Stdout), Stderr: []byte(given.Stderr)})
		if answer.Job != nil && answer.Job.ID != "" {
			require.NotNil(t, found.ID, one[1])
			require.Equal(t, *found.ID, answer.Job.ID, one[1])
		}
		if plain := byRelease.FindStringSubmatch(given.Stdout); plain != nil && given.Exit == 0 {
			require.NotNil(t, answer.Job, one[1])
			require.Equal(t, plain[1], answer.Job.ID, one[1])
		}
	}
}

func evaluated(t *testing.T, c *cases.Case) *cases.Answer {
	t.Helper()
	answer, err := (&cases.Runner{}).Evaluate(t.Context(), c)
	require.NoError(t, err)
	return answer
}
