package collect_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/stacks/collect"
)

// rankOf reads the rank as launchers name it.
func rankOf(environment map[string]string) (int, bool) {
	rank, err := strconv.Atoi(environment["PMI_RANK"])
	return rank, err == nil
}

// writeCore writes the core file of a program that runs with some variables.
func writeCore(t *testing.T, program, path string, variables ...string) {
	t.Helper()
	words := append([]string{"-i", "PATH=/usr/bin:/bin"}, variables...)
	process := start(t, "env", append(words, program, "2", "1")...).Process
	output, err := exec.Command("gdb", "-batch", "-nx", "-p", strconv.Itoa(process.Pid), "-ex", "generate-core-file "+path).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.FileExists(t, path, "%s", output)
}

// readCores returns the results by rank.
func readCores(t *testing.T, patterns ...string) map[int]collect.Result {
	t.Helper()
	results := map[int]collect.Result{}
	require.NoError(t, collect.Cores(t.Context(), options(), stacks.Request{Cores: patterns}, rankOf, func(result collect.Result) { results[result.Rank] = result }))
	return results
}

func TestCoresNameTheirRanks(t *testing.T) {
	program, folder := compile(t, waiting), t.TempDir()
	for i, rank := range []int{7, 3} {
		writeCore(t, program, filepath.Join(folder, fmt.Sprintf("core.%d", i)), fmt.Sprintf("PMI_RANK=%d", rank), "A=b=c")
	}
	results := readCores(t, filepath.Join(folder, "core.*"), filepath.Join(folder, "core.1"))
	require.Len(t, results, 2)
	for _, rank := range []int{7, 3} {
		require.Contains(t, functions(decode(t, results[rank]).Threads[0]), "main recurse recurse recurse")
		require.Len(t, decode(t, results[rank]).Threads, 2)
	}

	require.NoError(t, os.WriteFile(filepath.Join(folder, "core.2"), []byte("nonsense"), 0o600))
	writeCore(t, program, filepath.Join(folder, "core.10"))
	results = readCores(t, filepath.Join(folder, "core.*"))
	require.Len(t, results, 4, "without ranks they are numbered")
	require.Equal(t, "core.2: not a core file", results[2].Problem)
	require.Contains(t, functions(decode(t, results[3]).Threads[0]), "main", "core.10 comes last")

	odd := filepath.Join(folder, "a \"b'\\\n-exec quit\n$x")
	require.NoError(t, os.Rename(filepath.Join(folder, "core.1"), odd))
	require.Contains(t, functions(decode(t, readCores(t, filepath.Join(folder, "a*"))[3]).Threads[0]), "main recurse")
	require.NoError(t, os.Remove(program))
	results = readCores(t, filepath.Join(folder, "core.0"))
	require.Contains(t, results[7].Problem, "core.0: the executable is missing: "+program)
}

func TestPatternsOfCoresAreChecked(t *testing.T) {
	for _, pattern := range []string{"/nonexistent/core.*", "["} {
		err := collect.Cores(t.Context(), options(), stacks.Request{Cores: []string{pattern}}, rankOf, func(collect.Result) {})
		require.ErrorContains(t, err, pattern)
	}
}
