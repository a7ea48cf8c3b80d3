package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/job"
)

// describing is a definition whose start-up finds an attribute and the number of nodes.
var describing = `<attribute name="digits"><validator><regex expression="\d+"/></validator></attribute>
	<attribute name="fixed" readOnly="true"/>
	<attribute name="nodes" type="integer" max="2"/>` +
	running("start-up-command", `echo x >>starts; echo most=8; echo found`, "", `<stdout-parser delim="\n">
		<target ref="nodes"><match><expression>most=(\d+)</expression><set field="max"><entry valueGroup="1"/></set></match></target>
		<target><match><expression>(found)</expression><set field="name"><entry valueGroup="1"/></set></match></target>
	</stdout-parser>`) +
	submitting(`echo job 7`, "")

func TestInvalidValuesAreReportedBeforeASessionStarts(t *testing.T) {
	s := newSite(t, define(t, describing))
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x", Values: values("digits", "x", "fixed", "y", "found", "z", "nodes", "4")})
	var invalid *attribute.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.ErrorContains(t, err, `attribute "digits"`)
	require.ErrorContains(t, err, `attribute "fixed"`, "all that is refused is said")
	require.NotContains(t, err.Error(), "found", "a command may find that")
	require.Zero(t, s.count(t, "starts"))
}

func TestValuesThatDependOnCommandsAreCheckedInTheSession(t *testing.T) {
	s := newSite(t, define(t, describing))
	for range 2 { // a session is started, and is there
		_, err := s.Submit(t.Context(), job.Submission{Executable: "x", Values: values("nodes", "9", "lost", "y")})
		require.ErrorContains(t, err, "the maximum is 8")
		require.ErrorContains(t, err, `has no such attribute`)
		s.submits(t, job.Submission{Executable: "x", Values: values("nodes", "4", "found", "y")})
		require.Equal(t, 1, s.count(t, "starts"))
	}
}
