// Package outages_test breaks the schedulers that rmctl works with: daemons that are
// away, nodes that fail, accounting that is late, and hours of work on end.
package outages_test

import (
	"os"
	"testing"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The documented exit codes of rmctl.
const (
	exitDone      = 0
	exitFailed    = 1
	exitScheduler = 3
)

func TestMain(m *testing.M) { os.Exit(rmctltest.Main(m)) }
