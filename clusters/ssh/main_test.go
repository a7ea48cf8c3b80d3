// Package ssh_test runs rmctl against real SSH daemons, and schedulers behind them.
package ssh_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The documented exit codes of rmctl.
const (
	exitDone        = 0
	exitFailed      = 1
	exitScheduler   = 3
	exitUnreachable = 5
)

// interactive holds definitions of programs that have terminals.
var interactive = filepath.Join("..", "testdata", "interactive")

func TestMain(m *testing.M) { os.Exit(rmctltest.Main(m)) }
