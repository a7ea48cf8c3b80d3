package rmctltest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fluxPrograms are what a Flux of this machine needs. No package of Debian has them.
var fluxPrograms = []string{"flux"}

// A FluxInstance is a real Flux of this machine, with a broker for each of its nodes.
type FluxInstance struct {
	Environment map[string]string // what Flux's programs need
}

// Flux starts a Flux whose nodes have some names, with four cores each and a configuration
// in TOML, and starts its queues. It ends with the test. Without Flux the test is skipped.
func Flux(t testing.TB, configuration string, nodes ...string) *FluxInstance {
	t.Helper()
	needPrograms(t, fluxPrograms...)
	hosts := strings.Join(nodes, ",")
	folder, err := os.MkdirTemp("", "rmctl-flux-") // below the name of the test it would be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	encode := exec.Command("flux", "R", "encode", "--ranks", fmt.Sprintf("0-%d", len(nodes)-1), "--cores", "0-3", "--hosts", hosts)
	resources, err := encode.Output()
	require.NoError(t, err)
	path := filepath.Join(folder, "R.json")
	require.NoError(t, os.WriteFile(path, resources, 0o600))
	configuration += fmt.Sprintf("\n[resource]\npath = %q\nnoverify = true\n", path)
	file := filepath.Join(folder, "flux.toml")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))

	// It ends with its input, so that none is left behind by a test that is killed.
	program := "flux queue start --all >/dev/null && flux getattr local-uri && exec cat >/dev/null"
	command := exec.Command("flux", "start", fmt.Sprintf("--test-size=%d", len(nodes)), "--test-hosts="+hosts, "--config-path="+file, "sh", "-c", program)
	var complaints strings.Builder
	command.Stderr = &complaints
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		require.NoError(t, input.Close())
		_, _ = io.Copy(io.Discard, output) // up to its end
		_ = command.Wait()                 // jobs that are still there make it fail
	})
	uri, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err, "%s", &complaints)
	return &FluxInstance{Environment: map[string]string{"FLUX_URI": strings.TrimSpace(uri)}}
}

// needPrograms skips a test unless programs are on the PATH.
func needPrograms(t testing.TB, programs ...string) {
	t.Helper()
	if !hasPrograms(programs...) {
		t.Skipf("needs %s on the PATH", strings.Join(programs, " and "))
	}
}

// hasPrograms reports whether all programs are on the PATH.
func hasPrograms(programs ...string) bool {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	return true
}
