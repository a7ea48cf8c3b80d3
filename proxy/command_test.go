package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArraysHaveAnAttributeForEachElement(t *testing.T) {
	command := ParseCommand(Frame{ID: 5, Arguments: []string{"progArgs=-a", "jobSubId=JOB_1", "progArgs=2", "progArgs="}})
	require.Equal(t, []string{"-a", "2", ""}, command.Attributes.Values("progArgs"))
	require.Empty(t, command.Attributes.Values("env"))
	first, has := command.Attributes.Value("progArgs")
	require.True(t, has)
	require.Equal(t, "-a", first)
}

func TestTheCommandsWithTheIDSevenDifferByTheirAttributes(t *testing.T) {
	for _, each := range []struct {
		arguments []string
		id        CommandID
	}{
		{[]string{"jobId=1", "queueId=2"}, MoveJob}, {[]string{"id=1"}, FilterEvents}, {[]string{"filterChildren=true"}, FilterEvents},
		{[]string{"jobId=1"}, UnknownCommand}, {[]string{"queueId=1"}, UnknownCommand}, {nil, UnknownCommand},
	} {
		require.Equal(t, each.id, ParseCommand(Frame{ID: 7, Arguments: each.arguments}).ID, each.arguments)
	}
}
