package agentclient_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// session starts a session with an agent in a goroutine, and ends it with the test.
func session(t *testing.T, place remote.Connection, change ...func(*agentclient.Options)) *agentclient.Session {
	t.Helper()
	options := agentclient.Options{Connection: place, Agent: []string{"agent"}, Session: "7f3a2c41-0000-4000-8000-000000000000"}
	for _, each := range change {
		each(&options)
	}
	s, err := agentclient.Start(context.Background(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// ids returns the ids of the elements of a kind.
func ids(s *agentclient.Session, kind model.Kind) []string {
	manager, _ := s.Model().Snapshot().Manager(s.Manager())
	var all []string
	for element := range manager.All(kind) {
		all = append(all, element.ID())
	}
	return all
}

func played(t *testing.T, path string) *agenttest.Place {
	t.Helper()
	script, err := agenttest.Read(path)
	require.NoError(t, err)
	return agenttest.Playing(script)
}

func TestCapturedPEAgentIsFollowed(t *testing.T) {
	path := agenttest.Capture(t, "pe-agent.txt")
	synctest.Test(t, func(t *testing.T) {
		s := session(t, played(t, path))
		require.NoError(t, s.Listed(t.Context()))
		require.Equal(t, []string{"default"}, ids(s, model.Machine), "its parent is 0, which is nobody's id")
		require.Equal(t, []string{"default"}, ids(s, model.Queue))
		require.Len(t, s.Definitions(), 57)
	})
}

func TestCapturedPBSAgentIsFollowed(t *testing.T) {
	path := agenttest.Capture(t, "pbs-java-agent.txt")
	synctest.Test(t, func(t *testing.T) {
		s := session(t, played(t, path))
		require.NoError(t, s.Listed(t.Context()))
		require.Equal(t, []string{"n01", "n02"}, ids(s, model.Node))
		require.Equal(t, []string{"batch", "express", "parallel", "serial", "short"}, ids(s, model.Queue))
		require.Len(t, ids(s, model.Job), 7)
	})
}
