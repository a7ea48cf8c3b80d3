package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/ranges"
)

const counting = `
int value;
static void count(int n) { value += n; }
int main(void) {
	for (int i = 0; i < 1000000000; i++)
		count(i);
	return 0;
}
`

// counts starts ranks of a program, and stops them in main.
func (d *debugging) counts(ranks int) {
	d.t.Helper()
	needPrograms(d.t, "gcc", "gdb")
	program := filepath.Join(d.programs, "counting")
	require.NoError(d.t, os.WriteFile(program+".c", []byte(counting), 0o600))
	output, err := exec.Command("gcc", "-g", "-O0", "-o", program, program+".c").CombinedOutput()
	require.NoError(d.t, err, "%s", output)
	file := d.writes(server.Pass{Arguments: []string{program}})
	var started []*exec.Cmd
	for rank := range ranks {
		command := exec.Command(d.node, "debug", "--pass", file)
		command.Env = append(os.Environ(), fmt.Sprintf("PMI_RANK=%d", rank), fmt.Sprintf("PMI_SIZE=%d", ranks))
		require.NoError(d.t, command.Start())
		started = append(started, command)
	}
	d.t.Cleanup(func() {
		for _, command := range started {
			_ = command.Process.Signal(syscall.SIGTERM) // it may have ended with the session
		}
		for _, command := range started {
			_ = command.Wait() // by the signal
		}
	})
	d.awaits(ranks, debug.Ready, "")
	d.session.Start(d.ctx, debug.Request{Stop: debug.StopAtMain})
	d.awaits(ranks, debug.Stopped, "main")
}

// BenchmarkPrint measures how long the value of an expression takes, from bare gdb, from one rank, and from 64.
func BenchmarkPrint(b *testing.B) {
	b.Run("gdb", func(b *testing.B) { benchmarkGDB(b, `-data-evaluate-expression "value + 1"`, "^done") })
	for _, count := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d ranks", count), func(b *testing.B) {
			d := newDebugging(b)
			d.counts(count)
			for b.Loop() {
				d.asks(debug.Request{Verb: debug.Evaluate, Text: "value + 1"})
			}
			b.StopTimer()
		})
	}
}

// BenchmarkStep measures a step of one rank of eight, and the same of bare gdb.
func BenchmarkStep(b *testing.B) {
	b.Run("gdb", func(b *testing.B) { benchmarkGDB(b, "-exec-next", "*stopped") })
	b.Run("rank", func(b *testing.B) {
		d := newDebugging(b)
		d.counts(8)
		one := ranges.Set{{First: 3, Last: 3}}
		d.session.Take()
		for b.Loop() {
			parts := d.session.Ask(d.ctx, debug.Question{Ranks: one, Request: debug.Request{Verb: debug.Step, Text: debug.StepOver, Count: 1}})
			require.Empty(b, parts[0].Problem)
			for isStopped := false; !isStopped; {
				updates, err := d.session.Next(d.ctx)
				require.NoError(b, err)
				isStopped = slices.ContainsFunc(updates, func(u debug.Update) bool { return u.Rank == 3 && u.Report == debug.ReportStopped })
			}
		}
		b.StopTimer()
	})
}

// benchmarkGDB measures a command of gdb alone, from its line to a record.
func benchmarkGDB(b *testing.B, command, record string) {
	b.Helper()
	needPrograms(b, "gcc", "gdb")
	program := filepath.Join(b.TempDir(), "counting")
	require.NoError(b, os.WriteFile(program+".c", []byte(counting), 0o600))
	output, err := exec.Command("gcc", "-g", "-O0", "-o", program, program+".c").CombinedOutput()
	require.NoError(b, err, "%s", output)
	gdb := exec.Command("gdb", "-nx", "-q", "--interpreter=mi", program)
	input, err := gdb.StdinPipe()
	require.NoError(b, err)
	pipe, err := gdb.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, gdb.Start())
	lines := bufio.NewScanner(pipe)
	ask := func(command, record string) {
		_, err := fmt.Fprintln(input, command)
		require.NoError(b, err)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), record) {
			continue
		}
		require.NoError(b, lines.Err())
	}
	ask("-exec-run --start", "*stopped")
	for b.Loop() {
		ask(command, record)
	}
	b.StopTimer()
	require.NoError(b, input.Close())
	require.NoError(b, gdb.Wait())
}
