package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEmptyListingsGiveAReasonOnTerminals(t *testing.T) {
	t.Parallel()
	d := desk(t)
	for command, why := range map[string]string{
		"status":                   "no active jobs on record\nrun rmctl jobs to list ended ones",
		"jobs":                     "no jobs on record\nrun rmctl jobs --everyone to list the jobs of the scheduler",
		"jobs --everyone -t local": "the scheduler lists no jobs",
		"config list":              "no saved submissions\nrun rmctl config save to create one",
		"conn list":                "no open connections",
		"polls":                    "no queries yet",
	} {
		arguments := strings.Fields(command)
		s := d.Sits(arguments...)
		s.Ends(exitDone)
		require.Equal(t, "rmctl: "+strings.ReplaceAll(why, "\n", "\r\n")+"\r\n", s.Screen, command)
		require.Empty(t, d.Does(arguments...), "%s without a terminal", command)

		s = d.Sits(append(arguments, "--json")...)
		s.Ends(exitDone)
		require.Empty(t, s.Screen, command)
	}
}
