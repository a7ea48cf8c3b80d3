package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// atOnce is the default of -parallel: most tests wait for jobs and hardly use the
// processor.
const atOnce = "8"

// The test binary is rmctl itself to the scripts that it runs.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(m, map[string]func(){
		"rmctl":         func() { os.Exit(rmctlCode()) },
		"rmctl_settled": func() { os.Exit(settledCode()) },
		"proxy_client":  func() { os.Exit(proxyClient()) },
		"delayed":       func() { os.Exit(delayed()) },
		"play-agent":    func() { os.Exit(agenttest.Main(os.Args[1:])) },
	})
}

// testSite is the configuration directory for all users in tests: no test reads that of the
// machine.
func testSite() string { return cmp.Or(os.Getenv("RMCTL_TEST_SITE"), os.DevNull+".none") }

// Each script of testdata/script is a conversation with rmctl, with a home
// directory of its own.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	rmctl, err := exec.LookPath("rmctl")
	require.NoError(t, err)
	rmctltest.NodeProgram(t, filepath.Dir(rmctl))
	rmctltest.ScriptsAtOnce(t, filepath.Join("testdata", "script"), nil, int64(runtime.GOMAXPROCS(0)))
}
