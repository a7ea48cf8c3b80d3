package adapter_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The client that Microsoft tests debug adapters with debugs real ranks.
func TestForeignClient(t *testing.T) {
	needProgram(t, "node")
	needProgram(t, "npm")
	modules, err := exec.Command("npm", "root", "-g").Output()
	require.NoError(t, err)
	folder := strings.TrimSpace(string(modules))
	if _, err := os.Stat(filepath.Join(folder, "@vscode/debugadapter-testsupport")); err != nil {
		t.Skip("@vscode/debugadapter-testsupport is not installed: testdata/clusters/install.sh installs it where the registry of npm answers")
	}
	program, file := compileC(t, solver)
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "testdata/client.js", self, program, file, strconv.Itoa(lineOf(solver, "/* relaxed */")))
	command.Env = append(os.Environ(), "NODE_PATH="+folder)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
