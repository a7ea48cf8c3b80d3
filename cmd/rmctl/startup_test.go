package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the initialization of one package may allocate: about what one regular
// expression takes.
const (
	mostInitialBytes       = 6 << 10
	mostInitialAllocations = 60
)

var initialization = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

func TestPackagesInitializeQuickly(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	var trace strings.Builder
	version := exec.Command(program)
	version.Args = []string{"rmctl", "version"}
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	version.Stderr = &trace
	require.NoError(t, version.Run())
	ours := 0
	for _, found := range initialization.FindAllStringSubmatch(trace.String(), -1) {
		name, isOurs := strings.CutPrefix(found[1], "github.com/rmctl/rmctl/")
		if !isOurs || strings.HasPrefix(name, "cmd/rmctl") { // which has the variables of the tests
			continue
		}
		ours++
		bytes, err := strconv.Atoi(found[2])
		require.NoError(t, err)
		allocations, err := strconv.Atoi(found[3])
		require.NoError(t, err)
		const advice = "package %s initializes more at start-up than it may; use lazyregexp.New or sync.OnceValue"
		require.LessOrEqual(t, bytes, mostInitialBytes, advice, name)
		require.LessOrEqual(t, allocations, mostInitialAllocations, advice, name)
	}
	require.Greater(t, ours, 10, trace.String())
}
