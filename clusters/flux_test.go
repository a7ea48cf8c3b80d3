package clusters_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// fluxQueues configures the named queues of a Flux.
const fluxQueues = `
[policy.jobspec.defaults.system]
queue = "batch"
duration = "1h"
[queues.batch]
policy.limits.duration = "8h"
[queues.short]
policy.limits.duration = "30m"
[queues.closed]
`

// Each script of testdata/script-flux runs rmctl with a real Flux of four brokers, and
// compares it with flux jobs.
func TestFlux(t *testing.T) {
	t.Parallel()
	instance := rmctltest.Flux(t, fluxQueues, "hosta0", "hosta1", "gpu08", "gpu09")
	sees, err := filepath.Abs(filepath.Join("testdata", "flux-sees.sh"))
	require.NoError(t, err)
	instance.Environment["SEES"] = sees
	rmctltest.Scripts(t, filepath.Join("testdata", "script-flux"), instance.Environment)
}
