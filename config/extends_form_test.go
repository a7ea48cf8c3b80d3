package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// The form of a base must not offer what the definition has removed or hidden.
func TestWidgetsOfRemovedOrHiddenAttributesAreRemoved(t *testing.T) {
	base := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="base"><control-data>
		<attribute name="kept"/><attribute name="gone"/><attribute name="hidden"/><attribute name="lone"/>
		<launch-tab><dynamic><title>T</title>
			<composite group="true"><title>Some</title>
				<widget type="label"><fixed-text>Kept</fixed-text></widget><widget attribute="kept"/>
				<widget type="label"><tooltip>${ptp_rm:gone#description}</tooltip><fixed-text>Gone</fixed-text></widget><widget saveValueTo="gone"/>
				<widget type="label"><fixed-text>Hidden</fixed-text></widget><browse attribute="hidden"/>
			</composite>
			<composite x:rows="kept gone hidden"/>
			<composite group="true" x:rows="gone"><title>Gone</title></composite>
			<composite group="true"><title>Lone</title><button-group attribute="lone"><button type="radiobutton" title="a"/></button-group></composite>
			<viewer name="v"><items allPredefined="true"><include>lone</include><exclude>kept</exclude><exclude>gone</exclude></items><value pattern=""/></viewer>
		</dynamic></launch-tab></control-data></resource-manager-builder>`
	definition, problems := check.Load("own.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" x:extends="base.xml"><control-data>
		<attribute name="gone" x:remove="true"/><attribute name="lone" x:remove="true"/><attribute name="hidden" visible="false"/><attribute name="new"/>
		<launch-tab><dynamic><title>Own</title><widget attribute="new"/></dynamic></launch-tab></control-data></resource-manager-builder>`),
		func(string, string) (string, []byte, error) { return "base.xml", []byte(base), nil })
	require.NoError(t, problems.Err())
	for _, problem := range problems {
		require.NotEqual(t, "undefined-attribute", problem.Code, problem.Message)
	}
	var bound, labels, groups []string
	definition.LaunchTab.Walk(func(control launchtab.Control) {
		if name := launchtab.Bound(control).Name; name != "" {
			bound = append(bound, name)
		}
		switch c := control.(type) {
		case *launchtab.Widget:
			if c.Type == launchtab.LabelWidget {
				labels = append(labels, c.FixedText.Text)
			}
		case *launchtab.Composite:
			groups = append(groups, c.Title.Text)
		case *launchtab.Viewer:
			require.Empty(t, c.Include)
			require.Equal(t, "kept", c.Exclude[0].Name)
			require.Len(t, c.Exclude, 1)
		}
	})
	require.Equal(t, []string{"kept", "kept", "new"}, bound)
	require.Equal(t, []string{"Kept", "Kept"}, labels)
	require.Equal(t, []string{"Some", ""}, groups)
}
