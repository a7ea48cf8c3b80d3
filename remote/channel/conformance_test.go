package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/channel"
	"github.com/rmctl/rmctl/remote/remotetest"
)

func TestConnectionsConform(t *testing.T) {
	// The figures are for the first; the others show that nothing else differs.
	few := remotetest.Options{Volume: 1 << 20, Commands: 20, Values: 250}
	places := []struct {
		name    string
		options remotetest.Options
		dialer  func(t *testing.T) *localDialer
	}{
		{"sh", remotetest.Options{}, func(t *testing.T) *localDialer { return loginShell(t, "sh") }},
		{"csh", few, func(t *testing.T) *localDialer { return loginShell(t, "csh") }},
		{"fish", few, func(t *testing.T) *localDialer { return loginShell(t, "fish") }},
		{"without SFTP", few, func(t *testing.T) *localDialer {
			dialer := loginShell(t, "sh")
			dialer.sftp = ""
			return dialer
		}},
		{"three channels", few, func(t *testing.T) *localDialer {
			dialer := loginShell(t, "sh")
			dialer.limit = 3
			return dialer
		}},
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			remotetest.RunWith(t, func(t *testing.T) remote.Connection {
				connection, err := channel.New(t.Context(), place.dialer(t), quick())
				require.NoError(t, err)
				return connection
			}, place.options)
		})
	}
}

func TestWorkWhosePlaceVanishesEnds(t *testing.T) {
	for name, sftp := range map[string]bool{"with SFTP": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			remotetest.RunLost(t, func(t *testing.T) (remote.Connection, func()) {
				dialer := loginShell(t, "sh")
				if !sftp {
					dialer.sftp = ""
				}
				connection, err := channel.New(t.Context(), dialer, quick())
				require.NoError(t, err)
				return connection, dialer.cut
			})
		})
	}
}

func TestAPlaceThatDoesNotAnswerHoldsNobody(t *testing.T) {
	remotetest.RunSilent(t, func(t *testing.T) (remote.Connection, func()) {
		dialer := loginShell(t, "sh")
		connection, err := channel.New(t.Context(), dialer, quick())
		require.NoError(t, err)
		return connection, dialer.silence
	})
}
