package rmctltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodeBuilds are the folders with rmctl-node, each with the end of its build.
var nodeBuilds sync.Map

// NodeProgram builds rmctl-node for a folder, once in each process, and returns its path.
func NodeProgram(t testing.TB, folder string) string {
	t.Helper()
	build, _ := nodeBuilds.LoadOrStore(folder, sync.OnceValues(func() (string, error) { return buildNode(folder) }))
	output, err := build.(func() (string, error))()
	require.NoError(t, err, "building rmctl-node: %s", output)
	return filepath.Join(folder, "rmctl-node")
}

func buildNode(folder string) (output string, err error) {
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", folder, "github.com/rmctl/rmctl/cmd/rmctl-node")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := command.CombinedOutput()
	return string(said), err
}
