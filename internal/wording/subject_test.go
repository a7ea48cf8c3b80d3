package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/wording"
)

func TestMessagesNameTheAgentOfATarget(t *testing.T) {
	require.Equal(t, `definition "slurm"`, wording.Subject("slurm", "/etc/slurm.xml", "SLURM"))
	require.Equal(t, `the agent of "pe"`, wording.Subject("agent", "pe", wording.AgentType))
}
