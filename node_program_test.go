package rmctl_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostBytesOfNodeProgram bounds rmctl-node: it is copied to each target.
const mostBytesOfNodeProgram = 8_000_000

// forbiddenOnNodes are packages that rmctl-node must not contain, with the reason.
var forbiddenOnNodes = map[string]string{
	"encoding/xml":                 "definitions are read where rmctl runs",
	module + "/internal/xmltree":   "definitions are read where rmctl runs",
	module + "/config":             "definitions are read where rmctl runs",
	"modernc.org/sqlite":           "the record is kept where rmctl runs",
	module + "/jobstore":           "the record is kept where rmctl runs",
	"net/http":                     "nodes serve no pages, and it costs 4 MB",
	"github.com/spf13/cobra":       "users do not call the program; package flag is enough",
	"runtime/cgo":                  "nodes may have another C library than the machine that built it",
	"testing":                      "it is for tests only",
	module + "/internal/rmctltest": "it is for tests only",
}

// nodePlatforms are the architectures that rmctl-node is built for, all with Linux.
var nodePlatforms = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

func TestTheProgramForNodesIsSmallAndStatic(t *testing.T) {
	for architecture, machine := range nodePlatforms {
		t.Run(architecture, func(t *testing.T) {
			t.Parallel()
			for imported := range strings.FieldsSeq(string(runGoFor(t, architecture, "list", "-deps", "./cmd/rmctl-node"))) {
				reason, isForbidden := forbiddenOnNodes[imported]
				require.False(t, isForbidden, "rmctl-node contains %s: %s", imported, reason)
			}
			program := filepath.Join(t.TempDir(), "rmctl-node")
			runGoFor(t, architecture, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/rmctl-node")
			info, err := os.Stat(program)
			require.NoError(t, err)
			require.Less(t, info.Size(), int64(mostBytesOfNodeProgram))
			t.Logf("rmctl-node for %s has %d bytes", architecture, info.Size())

			file, err := elf.Open(program)
			require.NoError(t, err)
			defer file.Close()
			require.Equal(t, machine, file.Machine)
			isDynamic := slices.ContainsFunc(file.Progs, func(part *elf.Prog) bool { return part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC })
			require.False(t, isDynamic, "it needs a loader that a node may lack")
		})
	}
}

// runGoFor runs the go command for Linux on an architecture, without a C compiler, and returns what it prints.
func runGoFor(t *testing.T, architecture string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+architecture, "CGO_ENABLED=0")
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	require.NoError(t, err, problems.String())
	return printed
}
