package adapter_test

import (
	"fmt"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/adapter"
)

func TestOutputNamesItsRanks(t *testing.T) {
	f := &fleet{size: 4}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	for number := range 4 {
		f.on(number, func(r *rank) {
			r.print(debug.StreamOutput, fmt.Sprintf("half %d\n", number/2))
			r.print(debug.StreamErrors, "warning\n")
			r.notice(debug.Notice{Report: debug.ReportOmitted, Omitted: 7})
		})
	}
	e.output("stdout", "[0-1] half 0\n")
	e.output("stdout", "[2-3] half 1\n")
	e.output("stderr", "warning\n")
	e.output("console", "7 bytes of output omitted\n")
	f.on(1, func(r *rank) { r.print(debug.StreamOutput, "enter n: ") })
	e.output("stdout", "[1] enter n: \n")
}

func TestOutputComesBeforeTheEnd(t *testing.T) {
	f := &fleet{size: 1}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	f.on(0, func(r *rank) { r.print(debug.StreamOutput, "no line break"); r.exit(2) })
	require.Equal(t, 2, next[*dap.ExitedEvent](e).Body.ExitCode)
	_, printed := e.await(0, "output", func(m dap.Message) bool {
		output, isOutput := m.(*dap.OutputEvent)
		return isOutput && output.Body.Output == "no line break\n" && output.Body.Category == "stdout"
	})
	_, ended := e.await(0, "end", func(m dap.Message) bool { _, isEnd := m.(*dap.ExitedEvent); return isEnd })
	require.Less(t, printed, ended)
}

func TestDifferentBuildsAreReported(t *testing.T) {
	f := &fleet{size: 3, builds: func(rank int) string { return fmt.Sprint(rank / 2) }}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	e.output("important", "different builds on ranks 0-1 and rank 2")
}
