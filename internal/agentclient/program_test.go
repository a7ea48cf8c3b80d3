package agentclient_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// playAgent is the environment variable that makes this program an agent.
const playAgent = "play-agent"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playAgent {
		os.Exit(agenttest.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// programmed returns options to start this program as an agent that plays a script.
func programmed(t *testing.T, script string) func(*agentclient.Options) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	directory, err := os.Getwd()
	require.NoError(t, err)
	return func(o *agentclient.Options) {
		o.Agent, o.Directory = []string{program, playAgent, script}, directory
		o.Listen = func(ctx context.Context) (net.Listener, error) {
			return (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		}
	}
}

func TestAgentsArePrograms(t *testing.T) {
	place, err := remote.NewLocal()
	require.NoError(t, err)
	for _, way := range []string{agentclient.Stdio, agentclient.TCP} {
		t.Run(way, func(t *testing.T) {
			s := session(t, place, programmed(t, "testdata/job.txt"), func(o *agentclient.Options) { o.Proxy = way })
			require.NoError(t, s.Listed(t.Context()))
			accepted, err := s.Submit(t.Context(), proxy.Attributes{{ID: "execName", Value: "hello"}})
			require.NoError(t, err)
			require.NoError(t, s.Terminate(t.Context(), accepted.Job))
			require.EqualValues(t, "TERMINATED", get(t, s, model.Job, accepted.Job).State())
			require.Equal(t, "hello from rank 1\nhello from rank 0\n", output(t, s, accepted.Job, agentclient.Stdout))
			require.NoError(t, s.Close())
			require.NoError(t, s.Err())
		})
	}
}

func TestProcessesThatAreNotTheAgentAreRefused(t *testing.T) {
	place, err := remote.NewLocal()
	require.NoError(t, err)
	options := agentclient.Options{Connection: place, Proxy: agentclient.TCP, CheckPeer: func(context.Context, net.Conn) error {
		return errors.New("the process runs as user 1")
	}}
	programmed(t, "testdata/job.txt")(&options)
	_, err = agentclient.Start(t.Context(), options)
	require.ErrorIs(t, err, agentclient.ErrPeer)
	require.ErrorContains(t, err, "the process runs as user 1")
}

func TestAgentsThatFailAreQuoted(t *testing.T) {
	place, err := remote.NewLocal()
	require.NoError(t, err)
	for _, way := range []string{agentclient.Stdio, agentclient.TCP} {
		options := agentclient.Options{Connection: place, Proxy: way}
		programmed(t, "testdata/absent.txt")(&options)
		_, err = agentclient.Start(t.Context(), options)
		require.ErrorContains(t, err, "the agent exited with code 1")
		require.ErrorContains(t, err, "play-agent: open testdata/absent.txt")
	}
}
