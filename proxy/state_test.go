package proxy

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// begin begins a command that the session allows.
func begin(t *testing.T, client *ClientState, id CommandID) Command {
	t.Helper()
	command, err := client.Begin(id, nil)
	require.NoError(t, err)
	return command
}

func TestCommandsWaitForThePhaseThatAllowsThem(t *testing.T) {
	client := &ClientState{}
	for _, id := range []CommandID{ModelDefinition, StartEvents, StopEvents, SubmitJob} {
		_, err := client.Begin(id, nil)
		require.ErrorIs(t, err, errNotInitialized, id)
	}
	initialize := begin(t, client, Init)
	_, err := client.Begin(Init, nil)
	require.ErrorIs(t, err, errInitialized)
	client.Receive(Update{Change: OK, Transaction: initialize.Transaction})
	_, err = client.Begin(StartEvents, nil)
	require.ErrorIs(t, err, errNotDefined)
	define := begin(t, client, ModelDefinition)
	client.Receive(Update{Change: OK, Transaction: define.Transaction})
	begin(t, client, StartEvents)
	_, err = client.Begin(StartEvents, nil)
	require.ErrorIs(t, err, errStarted)
	begin(t, client, SubmitJob)
}

func TestAnErrorDoesNotInitializeTheSession(t *testing.T) {
	client := &ClientState{}
	initialize := begin(t, client, Init)
	answered, belongs := client.Receive(Update{Change: Error, Transaction: initialize.Transaction})
	require.True(t, belongs)
	require.Equal(t, Init, answered.ID)
	_, err := client.Begin(ModelDefinition, nil)
	require.ErrorIs(t, err, errNotInitialized)
}

func TestStartEventsMayFollowStopEventsBeforeItsAnswer(t *testing.T) {
	client, agent, first := running(t)
	stop, second := begin(t, client, StopEvents), begin(t, client, StartEvents)
	for _, answered := range []Command{first, stop} {
		completed, _ := client.Receive(Update{Change: OK, Transaction: answered.Transaction})
		require.Equal(t, answered.ID, completed.ID)
	}
	_, belongs := client.Receive(Update{Change: New, Kind: model.Job, Transaction: first.Transaction})
	require.False(t, belongs)
	_, belongs = client.Receive(Update{Change: New, Kind: model.Job, Transaction: second.Transaction})
	require.True(t, belongs)

	replies, _ := agent.Receive(stop)
	require.Equal(t, []Update{{Change: OK, Transaction: first.Transaction}, {Change: OK, Transaction: stop.Transaction}}, replies)
	_, isAccepted := agent.Receive(second)
	require.True(t, isAccepted)
	transaction, isOpen := agent.Events()
	require.True(t, isOpen)
	require.Equal(t, second.Transaction, transaction)
}

func TestUnknownTransactionsAndUpdatesAreCounted(t *testing.T) {
	client, _, start := running(t)
	for _, change := range []Change{OK, Error, SubmitError, TerminateError, New, Changed, Removed, RemovedAll, Defined} {
		answered, belongs := client.Receive(Update{Change: change, Kind: model.Job, Transaction: 4711})
		require.Nil(t, answered)
		require.False(t, belongs)
	}
	require.Equal(t, 9, client.Discarded)
	_, belongs := client.Receive(Update{Change: Unknown, Code: 0xfc, Transaction: start.Transaction})
	require.False(t, belongs)
	require.Equal(t, 1, client.Unknown)
	_, belongs = client.Receive(Update{Change: Message, Transaction: 4711})
	require.True(t, belongs)
}

func TestRefusalsCompleteOnlyWhatTheyRefuse(t *testing.T) {
	client, _, _ := running(t)
	submit, terminate := begin(t, client, SubmitJob), begin(t, client, TerminateJob)
	_, belongs := client.Receive(Update{Change: TerminateError, Transaction: submit.Transaction})
	require.False(t, belongs)
	answered, _ := client.Receive(Update{Change: SubmitError, Transaction: submit.Transaction})
	require.Equal(t, SubmitJob, answered.ID)
	answered, _ = client.Receive(Update{Change: Error, Transaction: terminate.Transaction})
	require.Equal(t, TerminateJob, answered.ID)
}

func TestTheBrokenAnswerOfCAgentsCompletesNothing(t *testing.T) {
	client := &ClientState{}
	initialize := begin(t, client, Init)
	require.Equal(t, uint32(1), initialize.Transaction)
	answered, _ := client.Receive(Update{Change: OK, Transaction: 1, Arguments: []string{"3"}})
	require.Nil(t, answered)
	answered, _ = client.Receive(Update{Change: OK, Transaction: 1})
	require.NotNil(t, answered)
}

func TestUpdatesBelongToTheCommandsThatAskForThem(t *testing.T) {
	client, _, start := running(t)
	define, submit, terminate := begin(t, client, ModelDefinition), begin(t, client, SubmitJob), begin(t, client, TerminateJob)
	for _, each := range []struct {
		change  Change
		of      Command
		belongs bool
	}{
		{Defined, define, true}, {Defined, start, true}, {Defined, submit, false},
		{New, define, false}, {New, start, true}, {New, submit, false}, {SubmitError, terminate, false},
	} {
		answered, belongs := client.Receive(Update{Change: each.change, Kind: model.Job, Transaction: each.of.Transaction})
		require.Nil(t, answered)
		require.Equal(t, each.belongs, belongs, "%v of %s", each.change, each.of.Name())
	}
}

func TestAnAgentThatEndsAnswersOnlyQuit(t *testing.T) {
	client, _, _ := running(t)
	submit := begin(t, client, SubmitJob)
	answered, belongs := client.Receive(Update{Change: ShutDown, Transaction: submit.Transaction})
	require.Nil(t, answered)
	require.True(t, belongs)
	require.NoError(t, client.Closed())
}

func TestNothingFollowsQuit(t *testing.T) {
	client := &ClientState{}
	initialize := begin(t, client, Init)
	begin(t, client, Quit)
	answered, _ := client.Receive(Update{Change: OK, Transaction: initialize.Transaction})
	require.Equal(t, Init, answered.ID)
	_, err := client.Begin(ModelDefinition, nil)
	require.ErrorIs(t, err, errQuitting)
}

func TestAbandonedCommandsAreNotAnswered(t *testing.T) {
	client, _, start := running(t)
	stop := begin(t, client, StopEvents)
	require.Len(t, client.Open(), 2)
	client.Abandon(stop.Transaction)
	require.Equal(t, start.ID, client.Open()[0].ID)
	answered, belongs := client.Receive(Update{Change: OK, Transaction: stop.Transaction})
	require.Nil(t, answered)
	require.False(t, belongs)
}

func TestTheFifthUndecodableUpdateEndsTheSession(t *testing.T) {
	client := &ClientState{}
	_, undecodable := ParseUpdate(Frame{ID: 0xdc})
	for range 4 {
		require.NoError(t, client.Tolerate(undecodable))
	}
	require.ErrorIs(t, client.Tolerate(undecodable), undecodable)
	client = &ClientState{}
	_, endless := ParseIDs("0-1000000")
	require.ErrorIs(t, client.Tolerate(endless), endless)
	require.ErrorIs(t, client.Tolerate(io.EOF), io.EOF)
}

func TestTransactionsStayPositiveForJavaAndAreNotReusedWhileOpen(t *testing.T) {
	client, _, start := running(t)
	client.last = 1<<31 - 2
	require.Equal(t, uint32(1<<31-1), begin(t, client, SubmitJob).Transaction)
	require.Equal(t, uint32(1), begin(t, client, SubmitJob).Transaction)
	client.last = start.Transaction - 1
	require.NotEqual(t, start.Transaction, begin(t, client, SubmitJob).Transaction)
}

func TestQuitIsAllowedInEveryPhase(t *testing.T) {
	for commands := range 5 {
		agent := &AgentState{}
		for transaction, command := range []Command{
			{ID: Init, Attributes: Attributes{{"version", "4.0"}, {"baseId", "0"}}}, {ID: ModelDefinition}, {ID: StartEvents}, {ID: StopEvents},
		}[:commands] {
			command.Transaction = uint32(transaction)
			_, isAccepted := agent.Receive(command)
			require.True(t, isAccepted)
			if command.ID == ModelDefinition {
				require.True(t, agent.Complete(command.Transaction))
			}
		}
		_, isOpen := agent.Events()
		replies, isAccepted := agent.Receive(Command{ID: Quit, Transaction: 99})
		require.True(t, isAccepted)
		if isOpen {
			require.Equal(t, Update{Change: OK, Transaction: 2}, replies[0])
			replies = replies[1:]
		}
		require.Equal(t, []Update{{Change: ShutDown, Transaction: 99}}, replies)
		replies, isAccepted = agent.Receive(Command{ID: SubmitJob, Transaction: 100})
		require.Empty(t, replies)
		require.False(t, isAccepted)

		client := &ClientState{phase: clientPhase(min(commands, int(clientRuns)))}
		begin(t, client, Quit)
		require.NoError(t, client.Closed())
	}
}

func TestTheAgentRefusesWhatThePhaseDoesNotAllow(t *testing.T) {
	initialize := func(attributes ...Attribute) Command { return Command{ID: Init, Attributes: attributes} }
	version, base := Attribute{"version", "2.0"}, Attribute{"baseId", "1000"}
	for _, each := range []struct {
		before  []Command
		command Command
		code    string
		reason  string
	}{
		{nil, Command{ID: SubmitJob}, "2", "SUBMIT_JOB before INIT"},
		{nil, initialize(Attribute{"version", "1.0"}, base), "1200", `version "1.0" is not supported, only 2.0`},
		{nil, initialize(version), "1200", "No base ID supplied"},
		{nil, initialize(version, Attribute{"baseId", "x"}), "1200", `base ID "x" is not a number`},
		{[]Command{initialize(version, base)}, initialize(version, base), "1200", "Proxy already initialized"},
		{[]Command{initialize(version, base)}, Command{ID: StartEvents}, "2", "START_EVENTS before MODEL_DEF"},
		{[]Command{initialize(version, base), {ID: ModelDefinition}, {ID: StartEvents}}, Command{ID: StartEvents}, "2", "events have been started already"},
		{[]Command{initialize(version, base)}, Command{ID: UnknownCommand, Code: 9}, "2", "unknown command 0009"},
	} {
		agent := &AgentState{}
		for i, command := range append(each.before, each.command) {
			command.Transaction = uint32(i)
			replies, isAccepted := agent.Receive(command)
			require.Equal(t, i < len(each.before), isAccepted)
			if !isAccepted {
				require.Equal(t, []Update{{Change: Error, Transaction: uint32(i), Attributes: Attributes{{"errorCode", each.code}, {"errorMsg", each.reason}}}}, replies)
			}
		}
	}
}

func TestOpenTransactionsAreNotReusedAndBounded(t *testing.T) {
	_, agent, start := running(t)
	replies, isAccepted := agent.Receive(Command{ID: SubmitJob, Transaction: start.Transaction})
	require.Empty(t, replies)
	require.False(t, isAccepted)
	require.Equal(t, 1, agent.Discarded)
	for transaction := range uint32(mostOpen - 1) {
		_, isAccepted = agent.Receive(Command{ID: SubmitJob, Transaction: 1000 + transaction})
		require.True(t, isAccepted)
	}
	replies, isAccepted = agent.Receive(Command{ID: SubmitJob, Transaction: 999})
	require.False(t, isAccepted)
	require.Equal(t, Error, replies[0].Change)
	require.True(t, agent.Complete(1000))
	require.False(t, agent.Complete(1000))
	require.False(t, agent.Complete(start.Transaction))
}

func TestCommandsWithoutAnAnswerHoldFewBytes(t *testing.T) {
	_, agent, _ := running(t)
	large := func(transaction uint32) Command {
		return Command{ID: SubmitJob, Transaction: transaction, Attributes: Attributes{{"jobSubId", "JOB_1"}, {"progArgs", strings.Repeat("x", 10<<20)}}}
	}
	_, isAccepted := agent.Receive(large(100))
	require.True(t, isAccepted)
	replies, isAccepted := agent.Receive(large(101))
	require.False(t, isAccepted)
	require.Equal(t, SubmitError, replies[0].Change)
	require.True(t, agent.Complete(100))
	_, isAccepted = agent.Receive(large(102))
	require.True(t, isAccepted)
}

func TestOtherCommandsStartNoEvents(t *testing.T) {
	agent := &AgentState{}
	agent.Receive(Command{ID: Init, Transaction: 7, Attributes: Attributes{{"version", "2.0"}, {"baseId", "1"}}})
	agent.Receive(Command{ID: ModelDefinition, Transaction: 0})
	_, isOpen := agent.Events()
	require.False(t, isOpen)
}

func TestRefusalsNameWhatTheyRefuse(t *testing.T) {
	submit := Command{ID: SubmitJob, Transaction: 5, Attributes: Attributes{{"jobSubId", "JOB_1"}}}
	require.Equal(t, Update{Change: SubmitError, Transaction: 5, Attributes: Attributes{{"jobSubId", "JOB_1"}, {"errorCode", "7"}, {"errorMsg", "no"}}}, submit.Refuse(7, "no"))
	terminate := Command{ID: TerminateJob, Attributes: Attributes{{"jobId", "4"}}}
	require.Equal(t, TerminateError, terminate.Refuse(7, "no").Change)
	submit.Attributes = nil
	require.Equal(t, Error, submit.Refuse(7, "no").Change)
	require.Equal(t, Error, Command{ID: ModelDefinition}.Refuse(7, "no").Change)
	submit.Attributes = Attributes{{"jobSubId", strings.Repeat("x", longestSubject+1)}}
	long := submit.Refuse(7, strings.Repeat("é", longestReason))
	require.Equal(t, Error, long.Change)
	require.Less(t, long.Attributes.size(), longestReason+100)
}
