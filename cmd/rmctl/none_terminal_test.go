package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATerminalIsToldWhyNothingIsListed(t *testing.T) {
	t.Parallel()
	d := desk(t)
	for command, why := range map[string]string{
		"status":                   "no job is on record that has not ended; rmctl jobs lists the others",
		"jobs":                     "no job is on record; rmctl jobs --everyone lists what a scheduler has",
		"jobs --everyone -t local": "the scheduler lists no job; it may not list those that have ended",
		"config list":              "there are no launch configurations; rmctl config save makes one",
		"conn list":                "no connection is kept",
		"polls":                    "no scheduler was asked for jobs yet",
	} {
		arguments := strings.Fields(command)
		s := d.Sits(arguments...)
		s.Ends(exitDone)
		require.Equal(t, "rmctl: "+why+"\r\n", s.Screen, command)
		require.Empty(t, d.Does(arguments...), "%s, of which something else reads the output", command)

		s = d.Sits(append(arguments, "--json")...)
		s.Ends(exitDone)
		require.Empty(t, s.Screen, command)
	}
}
