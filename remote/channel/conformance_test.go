package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/channel"
	"github.com/rmctl/rmctl/remote/remotetest"
)

func TestConnectionsConform(t *testing.T) {
	places := []struct {
		name   string
		dialer func(t *testing.T) *localDialer
	}{
		{"sh", func(t *testing.T) *localDialer { return loginShell(t, "sh") }},
		{"csh", func(t *testing.T) *localDialer { return loginShell(t, "csh") }},
		{"fish", func(t *testing.T) *localDialer { return loginShell(t, "fish") }},
		{"without SFTP", func(t *testing.T) *localDialer {
			dialer := loginShell(t, "sh")
			dialer.sftp = ""
			return dialer
		}},
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			remotetest.Run(t, func(t *testing.T) remote.Connection {
				connection, err := channel.New(t.Context(), place.dialer(t), quick())
				require.NoError(t, err)
				return connection
			})
		})
	}
}
