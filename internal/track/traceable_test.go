package track_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

func TestATraceableProgramHasItsProcessNameAndArguments(t *testing.T) {
	node := rmctltest.NodeProgram(t, t.TempDir())
	command := exec.Command(node, "traceable", "/bin/sh", "sh", "-c", `echo "$$ $0 $1"; exit 3`, "zero", "a b")
	output, err := command.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 3, exit.ExitCode())
	require.Equal(t, fmt.Sprintf("%d zero a b\n", command.Process.Pid), string(output), "it is the same process")

	output, err = exec.Command(node, "traceable", "/nonexistent/program", "program").CombinedOutput()
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 127, exit.ExitCode())
	require.Equal(t, "rmctl-node: starting \"/nonexistent/program\": no such file or directory\n", string(output))
}
