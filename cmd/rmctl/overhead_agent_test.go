package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkAgentSubmit measures complete processes that submit through another rmctl, over a
// session of the background process, alternating with the same submission on the target. The
// scheduler is a shell script, and both ends have their own record. A delayed agent is 50 ms
// away.
//
//	go test ./cmd/rmctl -run '^$' -bench AgentSubmit -benchtime 50x
func BenchmarkAgentSubmit(b *testing.B) {
	rmctl := buildRmctl(b)
	b.Run("here", func(b *testing.B) { reportAgent(b, rmctl, "") })
	b.Run("delayed", func(b *testing.B) { reportAgent(b, rmctl, "delayed 50ms ") })
}

// reportAgent compares submissions to an agent, which another program may start.
func reportAgent(b *testing.B, rmctl, starter string) {
	home := b.TempDir()
	there := filepath.Join(home, "there")
	require.NoError(b, os.Mkdir(there, 0o700))
	useFakeSlurm(b, home)
	b.Setenv("RMCTL_BACKGROUND", "")
	_, added := measure(b, []string{rmctl, "targets", "add", "far", "--agent", starter + rmctl + " agent -t slurm --proxy=stdio", "-e", "HOME=" + there, "-e", "XDG_STATE_HOME=" + there})
	require.True(b, added.Success())
	b.Cleanup(func() {
		output, err := exec.Command(rmctl, "conn", "close", "--all").CombinedOutput()
		require.NoError(b, err, "%s", output)
	})
	reportPairs(b, []string{rmctl, "submit", "-t", "slurm", "--", "true"}, []string{rmctl, "submit", "-t", "far", "--", "true"})
}

// delayed is a program that starts another one, and passes on each byte between it and this
// one's own input and output after a time.
func delayed() int {
	delay, err := time.ParseDuration(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program := exec.Command(os.Args[2], os.Args[3:]...)
	program.Stderr = os.Stderr
	input, inErr := program.StdinPipe()
	output, outErr := program.StdoutPipe()
	if err := cmp.Or(inErr, outErr, program.Start()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go passLater(input, os.Stdin, delay)
	passLater(os.Stdout, output, delay)
	if err := program.Wait(); err != nil {
		return 1
	}
	return 0
}

// passLater passes on its input after a delay.
func passLater(to io.WriteCloser, from io.Reader, delay time.Duration) {
	type chunk struct {
		due  time.Time
		text []byte
	}
	chunks := make(chan chunk, 1000)
	go func() {
		defer close(chunks)
		for {
			text := make([]byte, 64<<10)
			n, err := from.Read(text)
			chunks <- chunk{time.Now().Add(delay), text[:n]}
			if err != nil {
				return
			}
		}
	}()
	for next := range chunks {
		time.Sleep(time.Until(next.due))
		_, _ = to.Write(next.text) // a program that is gone reads nothing
	}
	_ = to.Close()
}

// useFakeSlurm writes fake programs of Slurm to a directory of the user.
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
