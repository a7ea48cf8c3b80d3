package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

const selecting = `
	<attribute name="mode"><default>fast</default></attribute>
	<attribute name="speed"><default>9</default></attribute>
	<attribute name="queue"><default>day</default></attribute>
	<attribute name="row"><link-value-to>queue</link-value-to></attribute>
	<attribute name="place"><default>${ptp_rm:directory#value}/${ptp_rm:copy#value}</default></attribute>
	<attribute name="elsewhere"><link-value-to>queue</link-value-to></attribute>
	<attribute name="copy" visible="false"><link-value-to>queue</link-value-to></attribute>
	<attribute name="far" visible="false"><default>own</default><link-value-to>elsewhere</link-value-to></attribute>
	<attribute name="exports" visible="false"><link-value-to>table</link-value-to></attribute>
	<launch-tab><dynamic><title>T</title>
		<widget attribute="queue"/>
		<widget attribute="speed"><control-state><enable-if attribute="mode" value="fast"/></control-state></widget>
		<viewer name="table"><items><include>row</include><include>place</include></items><value pattern="@name=@value"/></viewer>
	</dynamic></launch-tab>`

// selected returns the environment of a submission that runs in a directory.
func selected(t *testing.T, given map[string]bool) *attribute.Environment {
	t.Helper()
	definition := define(t, selecting)
	env := environment(definition)
	s, err := form.Select(definition, env, "", false, given)
	require.NoError(t, err)
	s.Clear()
	env.SetVariable("directory", "/run")
	require.NoError(t, s.FollowLinks())
	return env
}

func TestWhatASelectionTakesAwayDisablesNothing(t *testing.T) {
	env := selected(t, nil)
	require.Nil(t, env.Variable("mode").Value(), "no control sets it")
	require.Equal(t, "9", env.Text("speed"), "the form shows it enabled")
}

func TestLinksDoNotBringBackWhatASelectionLeavesOut(t *testing.T) {
	env := selected(t, nil)
	require.Nil(t, env.Variable("elsewhere").Value())
	require.Equal(t, "own", env.Text("far"), "a link that leads there takes its own default")
	require.Equal(t, "day", env.Text("copy"))
	require.Nil(t, selected(t, map[string]bool{"elsewhere": true}).Variable("elsewhere").Value(), "what is given is kept")
}

func TestViewersAreMadeOfWhatLinksAndTheProgramGive(t *testing.T) {
	env := selected(t, nil)
	require.Equal(t, "place=/run/day row=day", env.Text("table"))
}

func TestALinkMayLeadToAViewer(t *testing.T) {
	require.Contains(t, selected(t, nil).Text("exports"), "place=/run/day")
}

func TestASelectionWithoutPagesTakesNothingAway(t *testing.T) {
	definition := define(t, `<attribute name="a"><default>1</default></attribute><attribute name="b"><link-value-to>a</link-value-to></attribute>`)
	env := environment(definition)
	s, err := form.Select(definition, env, "", true, nil)
	require.NoError(t, err)
	s.Clear()
	require.NoError(t, s.FollowLinks())
	require.Equal(t, "1", env.Text("a"))
	require.Equal(t, "1", env.Text("b"))
}

func TestASelectionOfAPageThatIsNotThere(t *testing.T) {
	definition := define(t, selecting)
	_, err := form.Select(definition, environment(definition), "Nowhere", false, nil)
	var unknown *form.UnknownPageError
	require.ErrorAs(t, err, &unknown)
}
