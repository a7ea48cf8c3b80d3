package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormsFollowTheirRulesThroughTheAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	p.start("local")
	filled := p.done(http.MethodPost, "/managers/local/form", map[string]any{"executable": "/bin/true"})
	fields := filled["fields"].([]any)
	require.NotEmpty(t, fields)
	at := slices.IndexFunc(fields, func(field any) bool { return field.(map[string]any)["name"] == "time-limit" })
	require.GreaterOrEqual(t, at, 0)
	edit := func(text string) map[string]any {
		return p.done(http.MethodPost, "/managers/local/form", map[string]any{"edits": []any{map[string]any{"id": fields[at].(map[string]any)["id"], "text": text}}})
	}
	filled = edit("15m")
	require.Equal(t, []any{"15m"}, filled["attributes"].(map[string]any)["time-limit"])
	require.Empty(t, filled["problems"])
	filled = edit("for ever")
	require.Len(t, filled["problems"], 1)
	require.NotContains(t, filled["attributes"], "time-limit")
	status, _ := p.call(http.MethodPost, "/managers/local/form", map[string]any{"edits": []any{map[string]any{"id": "no such field", "text": "1"}}})
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = p.call(http.MethodPost, "/managers/local/form", map[string]any{"tab": "no such tab"})
	require.Equal(t, http.StatusNotFound, status)
}

func TestLaunchConfigurationsAreKeptThroughTheAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	p.start("local")
	saved := p.done(http.MethodPut, "/launch-configurations/nightly", map[string]any{"target": "local", "executable": "/bin/echo", "arguments": []string{"night"}, "environment": map[string]string{"A": "b"}})
	require.Equal(t, "/bin/echo", saved["executable"])
	status, _ := p.call(http.MethodPut, "/launch-configurations/nightly", map[string]any{"executable": "/bin/false"})
	require.Equal(t, http.StatusConflict, status)
	p.done(http.MethodPut, "/launch-configurations/nightly", map[string]any{"target": "local", "executable": "/bin/echo", "arguments": []string{"day"}, "replace": true})
	require.Equal(t, []any{"day"}, p.done(http.MethodGet, "/launch-configurations/nightly", nil)["arguments"])
	require.Len(t, p.done(http.MethodGet, "/launch-configurations", nil)["launchConfigurations"], 1)
	rendered := p.done(http.MethodPost, "/managers/local/render", map[string]any{"launchConfiguration": "nightly"})
	require.Contains(t, rendered["script"], "day")
	p.done(http.MethodDelete, "/launch-configurations/nightly", nil)
	status, _ = p.call(http.MethodGet, "/launch-configurations/nightly", nil)
	require.Equal(t, http.StatusNotFound, status)
	status, _ = p.call(http.MethodGet, "/launch-configurations/..%2F..%2Fetc", nil)
	require.Equal(t, http.StatusBadRequest, status, "a name is no path")
}

// textOf returns what stands in the field of an attribute.
func textOf(filled map[string]any, attribute string) string {
	for _, field := range filled["fields"].([]any) {
		if reported := field.(map[string]any); reported["name"] == attribute {
			return reported["text"].(string)
		}
	}
	return "there is no such field"
}

func TestAButtonOfTheLaunchTabIsPressedThroughTheAPI(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	p := d.program()
	ids := map[string]string{}
	for _, field := range p.done(http.MethodPost, "/managers/test/form", map[string]any{})["fields"].([]any) {
		reported := field.(map[string]any)
		if id, has := reported["id"].(string); has {
			ids[reported["kind"].(string)+" "+fmt.Sprint(reported["name"])] = id
		}
	}
	button, queue, nodes, mail, address := ids["button <nil>"], ids["text queue"], ids["number nodes"], ids["switch mail"], ""
	require.NotEmpty(t, button)
	edits := []any{map[string]any{"id": queue, "text": "typed"}, map[string]any{"id": nodes, "text": "4"}, map[string]any{"id": mail, "text": "true"}}
	filled := p.done(http.MethodPost, "/managers/test/form", map[string]any{"edits": edits})
	require.Equal(t, []any{"typed"}, filled["attributes"].(map[string]any)["queue"])
	require.NotContains(t, filled, "edits")
	for _, field := range filled["fields"].([]any) {
		if reported := field.(map[string]any); reported["name"] == "address" {
			address = reported["id"].(string)
		}
	}

	pressed := p.done(http.MethodPost, "/managers/test/form/press", map[string]any{"button": button, "edits": edits})
	attributes := pressed["attributes"].(map[string]any)
	require.NotContains(t, attributes, "queue", "what was typed does not count any more")
	require.Equal(t, "night", textOf(pressed, "queue"), "what the command found")
	require.Equal(t, []any{"4"}, attributes["nodes"], "what was filled in stays")
	require.Equal(t, edits[1:], pressed["edits"])
	again := p.done(http.MethodPost, "/managers/test/form", map[string]any{"edits": pressed["edits"]})
	require.Equal(t, attributes, again["attributes"])
	require.Equal(t, pressed["fields"], again["fields"])

	for name, try := range map[string]struct {
		object map[string]any
		status int
	}{
		"no button":                   {map[string]any{}, http.StatusBadRequest},
		"a field that is no button":   {map[string]any{"button": queue}, http.StatusBadRequest},
		"an unknown button":           {map[string]any{"button": "no such"}, http.StatusBadRequest},
		"a button of another tab":     {map[string]any{"button": button, "tab": "Options"}, http.StatusConflict},
		"an edit of an unknown field": {map[string]any{"button": button, "edits": []any{map[string]any{"id": "x", "text": "1"}}}, http.StatusBadRequest},
		"a field that cannot be used": {map[string]any{"button": button, "edits": []any{edits[2], map[string]any{"id": address, "text": "<nobody>"}}},
			http.StatusBadRequest},
	} {
		status, answer := p.call(http.MethodPost, "/managers/test/form/press", try.object)
		require.Equal(t, try.status, status, "%s: %v", name, answer)
	}
	status, _ := p.call(http.MethodPost, "/managers/none/form/press", map[string]any{"button": button})
	require.Equal(t, http.StatusNotFound, status)
}

// What a button clears is empty after it was pressed, unless its command found it.
func TestAButtonThatClearsAFieldSaysSoThroughTheAPI(t *testing.T) {
	t.Parallel()
	const look = `<action title="Look"><button-action><action>look</action></button-action></action>`
	for name, try := range map[string]struct {
		action, queue, address string
		kept                   int
	}{
		"clears another":       {`<button-action clearValue="address"><action>look</action></button-action>`, "night", "", 1},
		"clears what it found": {`<button-action clearValue="queue"><action>look</action></button-action>`, "night", "ada@home", 1},
		"changes nothing here": {`<button-action refresh="false"><action>look</action></button-action>`, "typed", "ada@home", 2},
	} {
		t.Run(name, func(t *testing.T) {
			definition := strings.Replace(launchDefinition, look, `<action title="Look">`+try.action+`</action>`, 1)
			definition = strings.Replace(definition, `<control-state><show-if button="mail"/></control-state>`, "", 1)
			p := launchSite(t, map[string]string{"test": definition}).program()
			ids := map[string]string{}
			for _, field := range p.done(http.MethodPost, "/managers/test/form", map[string]any{})["fields"].([]any) {
				if reported := field.(map[string]any); reported["id"] != nil {
					ids[fmt.Sprint(reported["name"])] = reported["id"].(string)
				}
			}
			edits := []any{map[string]any{"id": ids["queue"], "text": "typed"}, map[string]any{"id": ids["address"], "text": "ada@home"}}
			pressed := p.done(http.MethodPost, "/managers/test/form/press", map[string]any{"button": ids["<nil>"], "edits": edits})
			require.Equal(t, try.queue, textOf(pressed, "queue"))
			require.Equal(t, try.address, textOf(pressed, "address"))
			require.Len(t, pressed["edits"], try.kept)
		})
	}
}
