package onnodes

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/job"
)

// sessionOf returns a session that would start relays for a job on the nodes n2 and n1.
func sessionOf(t *testing.T, id, onNodes string) *session {
	t.Helper()
	definition, _ := config.Load("test.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test">
		<control-data>`+onNodes+`<x:ids form="([\w-]+)(?:[.\[](\d+)\]?)?(?:@\w+)?" columns="job task"/></control-data></resource-manager-builder>`), nil, nil)
	require.NotNil(t, definition)
	j := &Reachable{
		Job: job.Job{ID: id, Observation: job.Observation{Nodes: "n2,n1"}}, Definition: definition, Environment: attribute.NewEnvironment(),
	}
	_, err := j.nodeNames()
	require.NoError(t, err)
	s := &session{job: j, id: "session", program: "/home/ann/rmctl-node", directory: "/home/ann/job", problems: map[string]string{}}
	s.scope, err = j.scope()
	require.NoError(t, err)
	s.commands, err = j.commands()
	require.NoError(t, err)
	return s
}

// launchOn returns how the first command starts the relay of a node.
func (s *session) launchOn(t *testing.T, node string) tree.Launch {
	t.Helper()
	require.NotEmpty(t, s.commands)
	launch, err := s.launchOf(s.commands[0], node)
	require.NoError(t, err)
	return launch
}

func TestOverSSHRelaysGetTheValuesOfTheJobInWordsThatNoShellChanges(t *testing.T) {
	t.Parallel()
	s := sessionOf(t, "12[3]@server", `<x:on-nodes name="shell" over="ssh" processes="ID=${ptp_rm:@jobId#name} TASK=${ptp_rm:job.id.task#value}"/>`)
	match := rank.Selection{Variables: map[string]string{"ID": "12[3]@server", "TASK": "3"}}.Word()
	require.Equal(t, []string{
		"ssh", "-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ClearAllForwardings=yes", "-o", "LogLevel=ERROR", "--", "n1",
		"/home/ann/rmctl-node", "relay", "--job", "/home/ann/job", "--node", "n1", "--session", "session", "--match", match,
	}, s.launchOn(t, "n1").Words)
	_, err := base64.RawURLEncoding.DecodeString(match)
	require.NoError(t, err, "letters, digits, - and _")
	_, err = s.launchOf(s.commands[0], "-oProxyCommand=x")
	require.ErrorContains(t, err, "cannot be the name of a node")
}

func TestPartsOfTheIDAndThePositionOfTheNodeAreKnown(t *testing.T) {
	t.Parallel()
	const onNodes = `<x:on-nodes name="exec" processes="JOB=${ptp_rm:job.id.job#value} TASK=${ptp_rm:job.id.task#value}">
		<arg>exec --rank=${ptp_rm:node.index#value} ${ptp_rm:node.command#value}</arg>
		<environment name="TASK" value="none"/><environment name="TASK" value="${ptp_rm:job.id.task#value}"/>
	</x:on-nodes>`
	launch := sessionOf(t, "12.3", onNodes).launchOn(t, "n1")
	require.Equal(t, []string{"exec", "--rank=1"}, launch.Words[:2])
	require.Equal(t, "3", launch.Environment["TASK"])
	require.Contains(t, launch.Words, rank.Selection{Variables: map[string]string{"JOB": "12", "TASK": "3"}}.Word())

	launch = sessionOf(t, "12", onNodes).launchOn(t, "n2")
	require.Equal(t, []string{"exec", "--rank=0"}, launch.Words[:2])
	require.Equal(t, "none", launch.Environment["TASK"])
	require.Contains(t, launch.Words, rank.Selection{Variables: map[string]string{"JOB": "12"}}.Word(), "without the task")
}

func TestACommandIsForTheIDsThatItMatches(t *testing.T) {
	t.Parallel()
	const onNodes = `<x:on-nodes name="whole" over="ssh" ids="\d+"/><x:on-nodes name="task" over="ssh" ids="\d+\.\d+|-"/><x:on-nodes name="any" over="ssh"/>`
	for id, expected := range map[string][]string{"12": {"whole", "any"}, "12.3": {"task", "any"}, "a12.3b": {"any"}} {
		var names []string
		for _, each := range sessionOf(t, id, onNodes).commands {
			names = append(names, each.Name)
		}
		require.Equal(t, expected, names, id)
	}
	require.False(t, sessionOf(t, "12", onNodes).job.runsHere())
	require.True(t, sessionOf(t, "12", `<x:on-nodes name="here" processes="A=B"/>`).job.runsHere())
}
