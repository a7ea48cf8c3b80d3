// Package openpbs_test runs rmctl against a real OpenPBS, wherever it is installed: in no
// package of Debian. Its tests have a host of their own.
//
//	PATH=$PATH:/opt/pbs/sbin go test ./clusters/openpbs    # as root
package openpbs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

func TestMain(m *testing.M) { os.Exit(rmctltest.OpenPBSMain(m, filepath.Join("..", ".."))) }

// Each script is a conversation with a real OpenPBS, which says itself, through qstat, what
// rmctl has to say.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "script", rmctltest.OpenPBS(t, "scripts"))
}

// The server of these scripts forgets ended jobs, as does an unconfigured one.
func TestForgetful(t *testing.T) {
	t.Parallel()
	runScripts(t, "forgetful", rmctltest.OpenPBS(t, "forgetful", "RMCTL_OPENPBS_HISTORY=False"))
}

func runScripts(t *testing.T, folder string, server *rmctltest.OpenPBSServer) {
	t.Helper()
	sees, err := filepath.Abs(filepath.Join("testdata", "sees.sh"))
	require.NoError(t, err)
	server.Environment["SEES"] = sees
	rmctltest.Scripts(t, filepath.Join("testdata", folder), server.Environment)
}
