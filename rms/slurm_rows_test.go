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
		printsRows  = "printf 'a banner\\n7_1|COMPLETED|None|p|n1|2026-11-22T10:00:00|t|t|\\n7_2|FAILED|x|p|n1|2026-11-22T10:00:00|t|t|\\n'"
		squeuesRows = "a banner\nCOMPLETED|None|p|n1|2026-11-22T10:00:00|t|t|\nFAILED|x|p|n1|2026-11-22T10:00:00|t|t|\n"
		printsOpen  = "printf '7_1|COMPLETED|None|p|n1|2026-11-22T10:00:00|t|t|\\n7_2|RUNNING|x|p|n1|2026-11-22T10:00:00|t|t|\\n'"
		openRows    = "COMPLETED|None|p|n1|2026-11-22T10:00:00|t|t|\nRUNNING|x|p|n1|2026-11-22T10:00:00|t|t|\n"
		noAccounts  = "echo Slurm accounting storage is disabled >&2; exit 1"
		// what accounting has of the array, of an older one with its id, and of a task that was given back to the queue
		submitted = `printf '7_3|2026-11-22T10:00:00|sbatch /x/s.sh\n7_1|2026-11-22T10:05:00|sbatch /x/s.sh\n7_9|2026-11-20T10:00:00|sbatch /x/old.sh\n'`
		isTold    = "case $* in *SubmitLine*) " + submitted + `;; *) printf '7_3|2026-11-22T10:00:00|CANCELLED by 1000\n7_1|2026-11-22T10:05:00|COMPLETED\n7_9|2026-11-20T10:00:00|TIMEOUT\n';; esac`
		isOpen    = "case $* in *SubmitLine*) " + submitted + `;; *) printf '7_3|2026-11-22T10:00:00|RUNNING\n7_1|2026-11-22T10:05:00|RUNNING\n';; esac`
		onlyOld   = `case $* in *SubmitLine*) echo '7_9|2026-11-20T10:00:00|sbatch /x/s.sh';; *) echo '7_9|2026-11-20T10:00:00|FAILED';; esac`
		ends      = `printf '2026-11-22T10:00:00|COMPLETED|0:0|p|n1|t|t|t\n2026-11-22T10:05:00|CANCELLED by 1000|0:15|p|n1|t|t|t\n2026-11-20T10:00:00|FAILED|9:0|p|n1|t|t|t\n'`
		isEnded   = "case $* in *SubmitLine*) " + submitted + ";; *) " + ends + ";; esac"
		isForged  = `case $* in *SubmitLine*) printf '7|2026-11-22T10:00:00|sbatch -J x\n7|2099-01-01T00:00:00|forged\n';; *) ` + ends + ";; esac"
		noLines   = "case $* in *SubmitLine*) echo Invalid field requested >&2; exit 1;; *Cluster*) printf '7|2026-11-22T10:00:00|here\\n7|2026-11-20T10:00:00|here\\n';; *) " + ends + ";; esac"
		behind    = "echo 'DBD Agent queue size: 12'"
		upToDate  = "echo 'DBD Agent queue size: 0'"
	)
	for what, c := range map[string]struct {
		selector, squeue, sacct, sdiag string
		stdout                         string
		exit                           int
	}{
		"rows":                   {"fallback:get-job-status-from-squeue", printsRows, noAccounts, "", squeuesRows + "rows: xx\n", 0},
		"no row":                 {"fallback:get-job-status-from-squeue", "", noAccounts, "", "\nrows: \n", 0},
		"no row but accounting":  {"fallback:get-job-status-from-squeue", "", "exit 9", "", "\nrows: \n", 0},
		"fails after a row":      {"fallback:get-job-status-from-squeue", printsRows + "; exit 3", noAccounts, "", "", 3},
		"no accounting":          {"fallback:get-job-status-from-squeue", printsRows, "exit 127", "", squeuesRows + "rows: xx\n", 0},
		"with accounting":        {"fallback:get-job-status-from-squeue", printsRows, isTold, upToDate, "CANCELLED|||||||\nCOMPLETED|||||||\n" + squeuesRows + "rows: xxxx\n", 0},
		"an end is not told yet": {"fallback:get-job-status-from-squeue", printsRows, isOpen, upToDate, "", 1},
		"accounting is behind":   {"fallback:get-job-status-from-squeue", printsRows, isTold, behind, "", 1},
		"an older array only":    {"fallback:get-job-status-from-squeue", printsRows, onlyOld, upToDate, "", 1},
		"the database is down":   {"fallback:get-job-status-from-squeue", printsRows, "echo Connection refused >&2; exit 1", "", "", 1},
		"nobody asks accounting": {"fallback:get-job-status-from-squeue", printsOpen, "exit 9", behind, openRows + "rows: xx\n", 0},
		"accounting": {
			"fallback:get-job-status-from-sacct", "", isEnded, upToDate,
			"COMPLETED|0:0|p|n1|t|t|t\nCANCELLED by 1000|0:15|p|n1|t|t|t\nrows: xx\n", 0,
		},
		"accounting of an old release": {
			"fallback:get-job-status-from-sacct", "", noLines, upToDate,
			"FAILED|9:0|p|n1|t|t|t\nCOMPLETED|0:0|p|n1|t|t|t\nCANCELLED by 1000|0:15|p|n1|t|t|t\nrows: xxx\n", 0,
		},
		"accounting of a part, behind": {"fallback:get-job-status-from-sacct", "", isEnded, behind, "", 1},
		"accounting that is forged":    {"fallback:get-job-status-from-sacct", "", isForged, upToDate, "", 1},
		"accounting without a row":     {"fallback:get-job-status-from-sacct", "", "", "", "", 1},
		"accounting fails":             {"fallback:get-job-status-from-sacct", "", noAccounts, "", "", 1},
		"accounting fails with a row":  {"fallback:get-job-status-from-sacct", "", isEnded + "; exit 4", "", "", 4},
	} {
		t.Run(what, func(t *testing.T) {
			programs := t.TempDir()
			for name, script := range map[string]string{"squeue": c.squeue, "sacct": c.sacct} {
				// asked for the array, not for a range of its tasks
				text := "#!/bin/sh\ncase \"$*\" in *--jobs=7|*--jobs=7\\ *) ;; *) exit 9;; esac\n" + script + "\n"
				require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700))
			}
			require.NoError(t, os.WriteFile(filepath.Join(programs, "sdiag"), []byte("#!/bin/sh\n"+c.sdiag+"\n"), 0o700))
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
	return argumentsWith(t, name, selector, job, nil)
}

// argumentsWith is argumentsOf where attributes have values.
func argumentsWith(t *testing.T, name, selector, job string, values map[string]string) []string {
	definition := shippedDefinition(t, name)
	selected, _, err := definition.Select(selector)
	require.NoError(t, err)
	env := definedEnvironment(definition)
	env.SetVariable(job, nil)
	require.NoError(t, env.Variable(job).Set(attribute.FieldName, job))
	for attributeName, value := range values {
		env.Variable(attributeName).SetValue(value)
	}
	var words []string
	request := command.Request{Command: selected, Scope: config.Scope{Environment: env, Job: job}}
	invocation, err := request.Resolve()
	require.NoError(t, err)
	_, err = command.Run(t.Context(), listening{words: &words}, request, invocation)
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

func (l listening) Start(_ context.Context, start remote.Command) (remote.Handle, error) {
	*l.words = start.Arguments
	return endedProcess(0), nil
}
