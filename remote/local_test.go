package remote_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/remotetest"
)

// newLocal returns a connection whose patience suits tests.
func newLocal(t *testing.T) *remote.Local {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	local.Grace = 150 * time.Millisecond
	local.Linger = 100 * time.Millisecond
	return local
}

func TestLocalConforms(t *testing.T) {
	remotetest.Run(t, func(t *testing.T) remote.Connection { return newLocal(t) })
}
