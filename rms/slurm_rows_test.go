package rms_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

// The scripts of the fallbacks are run for real, on programs in place of
// Slurm's: what they print is what the parsers count on.
func TestSlurmFallbacksCountTheRowsThatTheyPrint(t *testing.T) {
	const (
		printsRows  = "printf 'a banner\\nCOMPLETED|None|p|n1|t|t|t|\\nFAILED|x|p|n1|t|t|t|\\n'"
		squeuesRows = "a banner\nCOMPLETED|None|p|n1|t|t|t|\nFAILED|x|p|n1|t|t|t|\n"
		noAccounts  = "echo disabled >&2; exit 1"
		printsEnds  = "printf 'COMPLETED|0:0|p|n1|t|t|t\\nCANCELLED by 1000|0:15|p|n1|t|t|t\\n'"
	)
	for what, c := range map[string]struct {
		selector, squeue, sacct string
		stdout                  string
		exit                    int
	}{
		"rows":                  {"fallback:get-job-status-from-squeue", printsRows, noAccounts, squeuesRows + "rows: xx\n", 0},
		"no row":                {"fallback:get-job-status-from-squeue", "", noAccounts, "\nrows: \n", 0},
		"no row but accounting": {"fallback:get-job-status-from-squeue", "", "echo FAILED", "\nrows: \n", 0},
		"fails after a row":     {"fallback:get-job-status-from-squeue", printsRows + "; exit 3", noAccounts, "", 3},
		"with accounting": {
			"fallback:get-job-status-from-squeue", printsRows, "printf 'FAILED\\nRUNNING\\nCANCELLED by 1000\\nFAILED\\nNEW_WORD\\n'",
			"CANCELLED|||||||\nFAILED|||||||\n" + squeuesRows + "rows: xxxx\n", 0,
		},
		"accounting": {
			"fallback:get-job-status-from-sacct", "", printsEnds,
			"COMPLETED|0:0|p|n1|t|t|t\nCANCELLED by 1000|0:15|p|n1|t|t|t\nrows: xx\n", 0,
		},
		"accounting without a row":    {"fallback:get-job-status-from-sacct", "", "", "", 1},
		"accounting fails":            {"fallback:get-job-status-from-sacct", "", noAccounts, "", 1},
		"accounting fails with a row": {"fallback:get-job-status-from-sacct", "", printsEnds + "; exit 4", "", 4},
	} {
		t.Run(what, func(t *testing.T) {
			programs := t.TempDir()
			for name, script := range map[string]string{"squeue": c.squeue, "sacct": c.sacct} {
				// asked for the array, not for a range of its tasks
				text := "#!/bin/sh\ncase \"$*\" in *--jobs=7|*--jobs=7\\ *) ;; *) exit 9;; esac\n" + script + "\n"
				require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700))
			}
			run := exec.CommandContext(t.Context(), "sh", argumentsOf(t, "slurm", c.selector, "7_[1-3%2]")[1:]...)
			run.Env = append(os.Environ(), "LC_ALL=C", "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
			stdout, err := run.Output()
			require.Equal(t, c.exit, run.ProcessState.ExitCode(), "%v", err)
			require.Equal(t, c.stdout, string(stdout))
		})
	}
}

// argumentsOf returns the words that a definition runs for a job.
func argumentsOf(t *testing.T, name, selector, job string) []string {
	definition := shippedDefinition(t, name)
	parsed, err := config.ParseSelector(selector)
	require.NoError(t, err)
	selected, err := definition.Select(parsed)
	require.NoError(t, err)
	env := definedEnvironment(definition)
	env.SetVariable(job, nil)
	require.NoError(t, env.Variable(job).Set(attribute.FieldName, job))
	var words []string
	runner := command.Runner{Connection: listening{words: &words}}
	_, err = runner.Run(t.Context(), command.Request{Command: selected, Scope: command.Scope{Environment: env, Job: job}})
	var failed *command.Error
	if err != nil { // a look-up that prints nothing has not answered
		require.ErrorAs(t, err, &failed)
		require.Equal(t, command.ParserFailed, failed.Failure)
	}
	return words
}

// listening is a connection on which every command succeeds and is written down.
type listening struct {
	remote.Connection
	words *[]string
}

func (l listening) Start(_ context.Context, start remote.Command) (remote.Process, error) {
	*l.words = start.Arguments
	return endedProcess(0), nil
}
