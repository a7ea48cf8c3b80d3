package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// exchange carries a command to the agent's side and its replies back; it returns what they complete.
func exchange(t *testing.T, client *ClientState, agent *AgentState, id CommandID, attributes ...Attribute) (command Command, completed []CommandID) {
	t.Helper()
	command, err := client.Begin(id, attributes)
	require.NoError(t, err)
	replies, _ := agent.Receive(ParseCommand(command.Frame()))
	for _, reply := range replies {
		update, err := ParseUpdate(reply.Frame())
		require.NoError(t, err)
		if answered, _ := client.Receive(update); answered != nil {
			completed = append(completed, answered.ID)
		}
	}
	return command, completed
}

// answer carries an answer of the agent to the client.
func answer(t *testing.T, client *ClientState, agent *AgentState, command Command) {
	t.Helper()
	require.True(t, agent.Complete(command.Transaction))
	answered, belongs := client.Receive(Update{Change: OK, Transaction: command.Transaction})
	require.True(t, belongs)
	require.Equal(t, command.ID, answered.ID)
}

// running returns both sides after START_EVENTS.
func running(t *testing.T) (client *ClientState, agent *AgentState, start Command) {
	t.Helper()
	client, agent = &ClientState{}, &AgentState{}
	_, completed := exchange(t, client, agent, Init, Attribute{"version", Version}, Attribute{"baseId", "16777216"})
	require.Equal(t, []CommandID{Init}, completed)
	define, _ := exchange(t, client, agent, ModelDefinition)
	answer(t, client, agent, define)
	start, completed = exchange(t, client, agent, StartEvents)
	require.Empty(t, completed)
	return client, agent, start
}

func TestEventsAreAnsweredOnceTheyStop(t *testing.T) {
	client, agent, start := running(t)
	transaction, isOpen := agent.Events()
	require.True(t, isOpen)
	require.Equal(t, start.Transaction, transaction)

	_, completed := exchange(t, client, agent, StopEvents)
	require.Equal(t, []CommandID{StartEvents, StopEvents}, completed)
	_, isOpen = agent.Events()
	require.False(t, isOpen)
}

func TestQuitEndsEventsAndThenTheSession(t *testing.T) {
	client, agent, _ := running(t)
	require.Error(t, client.Closed())
	_, completed := exchange(t, client, agent, Quit)
	require.Equal(t, []CommandID{StartEvents, Quit}, completed)
	require.NoError(t, client.Closed())
	_, err := client.Begin(SubmitJob, nil)
	require.Error(t, err)
}
