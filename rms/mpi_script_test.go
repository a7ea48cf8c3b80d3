package rms_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/rms"
)

// mpi.sh refuses what would run on fewer nodes than were requested, and starts everything else as it is.
func TestRanksAreStartedOnAsManyNodesAsRequested(t *testing.T) {
	definition, _ := rms.Source("mpich")
	program, shipped := rms.Beside("mpich.xml", definition, "mpi.sh")
	require.True(t, shipped)
	// This mpiexec prints its arguments; with the pattern for hosts it notes them, and prints what the ranks print.
	const mpiexec = `#!/bin/sh
case " $* " in
*" @%h: "*) printf '<%s>' "$@" >"$NOTE"; [ -z "$FAILS" ] || exit "$FAILS"; for host in $HOSTS; do echo "@$host:"; done ;;
*) printf '<%s>' "$@"; exit 7 ;;
esac
`
	const notFilled = "5 tasks do not fill 4 nodes: with 2 on each node they use 3; request nodes=3 or tasks=8\n"
	for what, c := range map[string]struct {
		arguments     []string
		hosts, fails  string
		code          int
		started       string
		probe, refuse string
	}{
		"tasks fill the nodes":    {arguments: []string{"2", "3", "2", "MPI", "-n", "3", "a b", "-n", "1"}, code: 7, started: "<-n><3><a b><-n><1>"},
		"tasks do not fill them":  {arguments: []string{"4", "5", "2", "MPI", "-n", "5", "true"}, code: 2, refuse: notFilled},
		"nor with hosts":          {arguments: []string{"--hosts", "4", "5", "2", "MPI", "-n", "5", "true"}, code: 2, refuse: notFilled},
		"one node needs no probe": {arguments: []string{"--hosts", "1", "2", "2", "MPI", "-ppn", "2", "-n", "2", "true"}, code: 7, started: "<-ppn><2><-n><2><true>"},
		"there are enough hosts": {
			arguments: []string{"--hosts", "2", "4", "2", "MPI", "-f", "my file", "-ppn", "2", "-prepend-pattern", "[%r] ", "-bind-to", "core", "-n", "4", "a b", "-ppn"},
			hosts:     "a b", code: 7,
			started: "<-f><my file><-ppn><2><-prepend-pattern><[%r] ><-bind-to><core><-n><4><a b><-ppn>",
			probe:   `<-f><my file><-bind-to><core><-prepend-pattern><@%h:><-ppn><1><-n><2><sh><-c><[ "${PMI_RANK:-$PMIX_RANK}" != 0 ] || cat; echo>`,
		},
		"a host counts once": {
			arguments: []string{"--hosts", "3", "3", "1", "MPI", "-n", "3", "true"}, hosts: "a b a", code: 2,
			refuse: "fewer hosts than nodes: 2 for nodes=3; request fewer nodes, or name more hosts\n",
		},
		"no host at all": {
			arguments: []string{"--hosts", "2", "2", "1", "MPI", "-n", "2", "true"}, code: 2,
			refuse: "fewer hosts than nodes: 0 for nodes=2; request fewer nodes, or name more hosts\n",
		},
		"mpiexec fails": {arguments: []string{"--hosts", "2", "2", "1", "MPI", "-n", "2", "true"}, fails: "255", code: 255},
	} {
		for _, shell := range []string{"dash", "bash", "busybox"} {
			interpreter, err := exec.LookPath(shell)
			if err != nil {
				continue // onEveryShell of the tests of local.sh reports it
			}
			t.Run(shell+"/"+what, func(t *testing.T) {
				folder := t.TempDir()
				script, launcher, note := filepath.Join(folder, "mpi.sh"), filepath.Join(folder, "mpiexec"), filepath.Join(folder, "note")
				require.NoError(t, os.WriteFile(script, program, 0o600))
				require.NoError(t, exec.Command("sh", "-c", `printf %s "$1" >"$2" && chmod 700 "$2"`, "sh", mpiexec, launcher).Run())
				require.NoError(t, os.Symlink(interpreter, filepath.Join(folder, "sh")))
				arguments := []string{script}
				for _, each := range c.arguments {
					if each == "MPI" {
						each = launcher
					}
					arguments = append(arguments, each)
				}
				command := exec.CommandContext(t.Context(), filepath.Join(folder, "sh"), arguments...)
				command.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "NOTE=" + note, "HOSTS=" + c.hosts, "FAILS=" + c.fails}
				printed, err := command.Output()
				var failed *exec.ExitError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, c.code, failed.ExitCode(), "%s", failed.Stderr)
				require.Equal(t, c.started, string(printed))
				require.Equal(t, c.refuse, string(failed.Stderr))
				if c.probe != "" {
					noted, err := os.ReadFile(note)
					require.NoError(t, err)
					require.Equal(t, c.probe, string(noted))
				} else if c.hosts+c.fails == "" && c.refuse == "" {
					_, err := os.Stat(note)
					require.True(t, errors.Is(err, os.ErrNotExist), "no rank is started before the job")
				}
			})
		}
	}
}
