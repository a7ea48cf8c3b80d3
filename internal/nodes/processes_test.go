package nodes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

func TestOnlyWhatIsNewOfProcessesIsRead(t *testing.T) {
	t.Parallel()
	directory := open(t, filepath.Join(t.TempDir(), "node"))
	job, err := directory.Prepare(t.Context(), "tag")
	require.NoError(t, err)
	other, err := directory.Prepare(t.Context(), "other")
	require.NoError(t, err)
	command := exec.Command(rmctltest.NodeProgram(t, installation), "track", "--job", job, "--", "sh", "-c", "echo hello; exit 3")
	command.Env = append(os.Environ(), "PMI_RANK=1")
	require.Error(t, command.Run())

	reports, err := directory.Processes(t.Context(), map[string]string{job: "", other: ""})
	require.NoError(t, err)
	require.Len(t, reports, 2)
	if reports[0].Directory != job {
		reports[0], reports[1] = reports[1], reports[0]
	}
	require.Empty(t, reports[1].Processes)
	require.Len(t, reports[0].Processes, 1)
	process := reports[0].Processes[0]
	require.Equal(t, 1, process.Rank)
	require.Equal(t, 3, *process.ExitCode)
	require.Equal(t, "hello\n", process.Output)

	known := map[string]string{job: reports[0].Checksum, other: reports[1].Checksum}
	reports, err = directory.Processes(t.Context(), known)
	require.NoError(t, err)
	require.Empty(t, reports)

	program, err := directory.Program(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Remove(program))
	require.NoError(t, os.WriteFile(filepath.Join(job, "processes", "n2.json"), []byte("{"), 0o600))
	reports, err = directory.Processes(t.Context(), known)
	require.NoError(t, err, "the program is staged again")
	require.Len(t, reports, 1)
	require.Len(t, reports[0].Processes, 1, "a damaged file of one node hides no other node")
	require.Len(t, reports[0].Problems, 1)

	require.NoError(t, directory.RemoveJobs(t.Context(), []string{job}))
	require.NoDirExists(t, job)
	require.Error(t, directory.RemoveJobs(t.Context(), []string{filepath.Dir(program)}), "nothing but directories of jobs is removed")
	require.FileExists(t, program)
}

func FuzzParseReports(f *testing.F) {
	f.Add(`{"directory":"/d","checksum":"0","processes":[{"rank":0,"node":"n1","state":"RUNNING"}]}` + "\n")
	f.Add(`{"directory":"/d","processes":[{"rank":-1}]}`)
	f.Add("[")
	f.Fuzz(func(t *testing.T, printed string) {
		reports, err := nodes.ParseReports(printed, map[string]string{"/d": ""})
		for _, report := range reports {
			require.Equal(t, "/d", report.Directory)
			for _, process := range report.Processes {
				require.GreaterOrEqual(t, process.Rank, 0)
				require.Contains(t, []string{"RUNNING", "EXITED", "EXITED_SIGNALLED", "ERROR", "UNKNOWN"}, string(process.State))
			}
		}
		if err != nil {
			require.NotContains(t, err.Error(), "\x1b")
		}
	})
}
