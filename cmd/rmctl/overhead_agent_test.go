package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkAgentSubmit measures whole processes that submit through another rmctl, whose session the
// background process keeps, beside the same submission on the target, in turn. The scheduler is a
// program of the shell, and both ends have a record of their own.
//
//	go test ./cmd/rmctl -run '^$' -bench AgentSubmit -benchtime 50x
func BenchmarkAgentSubmit(b *testing.B) {
	rmctl := buildRmctl(b)
	home := b.TempDir()
	there := filepath.Join(home, "there")
	require.NoError(b, os.Mkdir(there, 0o700))
	useFakeSlurm(b, home)
	b.Setenv("RMCTL_BACKGROUND", "")
	add := []string{rmctl, "targets", "add", "far", "--agent", rmctl + " agent -t slurm --proxy=stdio", "-e", "HOME=" + there, "-e", "XDG_STATE_HOME=" + there}
	_, ended := measure(b, add)
	require.True(b, ended.Success())
	b.Cleanup(func() {
		output, err := exec.Command(rmctl, "conn", "close", "--all").CombinedOutput()
		require.NoError(b, err, "%s", output)
	})
	direct, through := []string{rmctl, "submit", "-t", "slurm", "--", "true"}, []string{rmctl, "submit", "-t", "far", "--", "true"}
	reportPairs(b, direct, through)
}

// useFakeSlurm puts programs of Slurm into a folder, which becomes that of the user.
func useFakeSlurm(b *testing.B, home string) {
	b.Setenv("HOME", home)
	b.Setenv("XDG_STATE_HOME", home)
	b.Setenv("PATH", home+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, program := range map[string]string{
		"sinfo": `echo debug`,
		"squeue": `all="$*"
mark=${all##*Name:}
for job in "$HOME"/*.job; do
	[ ! -e "$job" ] || read -r submitted <"$job"
	id=${job##*/}
	printf "%s$mark" "${id%.job}" PENDING Priority debug "" "$submitted" N/A N/A root 1 0 true true
	echo
done`,
		"sbatch": `date +%FT%T >"$HOME/$$.job"; echo "Submitted batch job $$"`,
		"scontrol": `read -r submitted <"$HOME/$3.job"
echo "JobId=$3 JobName=true"
echo "   JobState=PENDING Reason=Priority Dependency=(null)"
echo "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0"
echo "   SubmitTime=$submitted EligibleTime=$submitted"
echo "   StartTime=Unknown EndTime=Unknown Deadline=N/A"
echo "   Partition=debug AllocNode:Sid=here:1"
echo "   NodeList=(null)"`,
	} {
		require.NoError(b, os.WriteFile(filepath.Join(home, name), []byte("#!/bin/sh\n"+program+"\n"), 0o700))
	}
}
