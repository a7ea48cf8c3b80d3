package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/form"
)

// outline shows the fields of a page, one on a line.
func outline(fields []form.Field) string {
	var text strings.Builder
	for _, field := range fields {
		line := fmt.Sprintf("%s %s", field.Kind, field.Label)
		if field.Kind == form.Switch || field.Kind == form.Row {
			line += map[bool]string{true: " [x]", false: " [ ]"}[field.On]
		}
		if field.Text != "" && field.Kind != form.Switch {
			line += " = " + field.Text
		}
		if field.Hint != "" {
			line += " (" + field.Hint + ")"
		}
		if !field.Enabled {
			line += " off"
		}
		if len(field.Items) > 0 {
			line += " {" + strings.Join(field.Items, ",") + "}"
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

func find(t testing.TB, f *form.Form, page *form.Page, label string) form.Field {
	t.Helper()
	for _, field := range f.Fields(page) {
		if field.Label == label {
			return field
		}
	}
	require.Fail(t, "no such field", "%q is not in\n%s", label, outline(f.Fields(page)))
	return form.Field{}
}

const gridForm = `
	<attribute name="name"><description>What it is called</description><tooltip>at most
		15 characters</tooltip><default>job</default></attribute>
	<attribute name="queue"/><attribute name="queues" visible="false"/>
	<attribute name="nodes" type="integer" min="1" max="9"/>
	<attribute name="size"><choice>small,large</choice><translateChoiceAs>-s,-l</translateChoiceAs><default>-l</default></attribute>
	<attribute name="mail" translateBooleanAs="-m,"/><attribute name="file"/><attribute name="side"/><attribute name="loads"/>
	<launch-tab><dynamic><title>T</title>
		<composite group="true"><title>Basics</title>
			<layout><grid-layout numColumns="3"/></layout>
			<widget type="label"><fixed-text>Name</fixed-text></widget><widget type="label"><fixed-text>Value</fixed-text></widget><widget type="label"><fixed-text>Help</fixed-text></widget>
			<widget type="label"><fixed-text>Job name: </fixed-text></widget>
			<widget attribute="name"/>
			<widget type="label"><fixed-text>${ptp_rm:name#description}</fixed-text></widget>
			<widget type="label"><layout-data><grid-data horizontalSpan="3"/></layout-data><fixed-text>These are special.</fixed-text></widget>
			<widget type="combo" readOnly="true" attribute="queue" title="Queue:"><layout-data><grid-data horizontalSpan="2"/></layout-data><items-from>queues</items-from></widget>
			<widget type="label"><fixed-text>where it waits</fixed-text></widget>
			<widget type="spinner" attribute="nodes"/>
			<widget type="combo" readOnly="true" attribute="size"/>
			<widget type="checkbox" title="Mail" attribute="mail"/>
		</composite>
		<composite><layout><grid-layout numColumns="3"/></layout>
			<widget type="checkbox" title="File:" buttonId="f"/>
			<browse title="Browse" attribute="file" readOnly="true"><text-control-state><enable-if button="f"/></text-control-state></browse>
			<button-group attribute="side"><title>Side</title><button type="radiobutton" title="left"/><button type="radiobutton" title="right"/></button-group>
			<action title="Refresh"><button-action><action>get</action></button-action></action>
		</composite>
		<composite><layout><grid-layout/></layout>
			<widget type="label"><fixed-text>Modules:</fixed-text></widget>
			<widget type="custom" typeId="envconfig" attribute="loads"/>
			<widget><dynamic-text><arg>run ${ptp_rm:name#value}</arg><arg attribute="mail" isUndefinedIfMatches="">${ptp_rm:mail#value}</arg></dynamic-text></widget>
			<widget type="label"><fixed-text>The end</fixed-text></widget>
		</composite>
		<widget type="label"><fixed-text>hidden</fixed-text><control-state><hide-if/></control-state></widget>
	</dynamic></launch-tab>`

func TestPagesAreLaidOutInLines(t *testing.T) {
	f := newForm(define(t, gridForm))
	require.Equal(t, `heading Basics
text Job name = job (What it is called)
note These are special.
choice Queue (where it waits)
number nodes
choice size = large {,small,large}
switch Mail [ ]
switch File [ ]
path File off
choice Side {,left,right}
button Refresh
lines Modules
computed  = run job
note The end
`, outline(f.Fields(f.Pages()[0])))
	require.Equal(t, "at most 15 characters", find(t, f, f.Pages()[0], "Job name").Tooltip)
	require.True(t, find(t, f, f.Pages()[0], "Queue").Open, "as long as no items are known, any text will do")
}

func TestLabelsOfHiddenFieldsAreHidden(t *testing.T) {
	label := func(text string) string { return `<widget type="label"><fixed-text>` + text + `</fixed-text></widget>` }
	hidden := func(name string) string {
		return `<widget attribute="` + name + `"><control-state><show-if button="on"/></control-state></widget>`
	}
	for name, c := range map[string]struct{ controls, off, on string }{
		"the last row":        {label("A:") + hidden("a"), "", "text A\n"},
		"a row in between":    {label("A:") + hidden("a") + label("help") + label("B:") + `<widget attribute="b"/>` + label("more"), "text B (more)\n", "text A (help)\ntext B (more)\n"},
		"one takes the place": {label("A:") + hidden("a") + `<widget attribute="b"/>`, "text A\n", "text A\ntext b\n"},
	} {
		for _, layout := range []string{"", `<layout><grid-layout numColumns="3"/></layout>`} {
			f := newForm(define(t, `<attribute name="on" visible="false"/><attribute name="a"/><attribute name="b"/>
				<launch-tab><dynamic><title>T</title><composite>`+layout+c.controls+`</composite></dynamic>
				<dynamic><title>U</title><widget type="checkbox" buttonId="on" attribute="on"/></dynamic></launch-tab>`))
			if layout != "" && name == "one takes the place" {
				continue // both stand in one row there
			}
			require.Equal(t, c.off, outline(f.Fields(f.Pages()[0])), "%s %s", name, layout)
			f.Environment().Lookup("on").SetValue(true)
			require.Equal(t, c.on, outline(f.Fields(f.Pages()[0])), "%s %s", name, layout)
		}
	}
}

func TestItemsComeFromWhatCommandsFound(t *testing.T) {
	f := newForm(define(t, gridForm))
	f.Environment().Lookup("queues").SetValue([]string{"long", "short"})
	queue := find(t, f, f.Pages()[0], "Queue")
	require.Equal(t, []string{"long", "short"}, queue.Items)
	require.False(t, queue.Open)
}

func TestEveryDefinitionFromTheFieldShowsItsForm(t *testing.T) {
	for _, name := range []string{"pbs-generic-batch", "demo-example", "namelist-example", "de.fz-juelich.juqueen.ll_bg", "jp.riken.aics.pjm.batch.k"} {
		f := newForm(shared(t, name))
		for _, page := range f.Pages() {
			for _, field := range f.Fields(page) {
				if field.IsInput() && field.Name != "" {
					require.NotEmpty(t, field.Label, "%s of %s", field.Name, name)
				}
			}
		}
	}
	f := newForm(shared(t, "pbs-generic-batch"))
	require.Contains(t, outline(f.Fields(f.Pages()[0])), "text Wallclock Time = 00:30:00 (Maximum amount of real time during which the job can be in the running state.)\n")
}

func TestADefinitionWithoutLaunchTabShowsWhatUsersMaySet(t *testing.T) {
	f := newForm(define(t, `<attribute name="a"><description>first</description></attribute><attribute name="b" type="boolean"/>
		<attribute name="c"><choice>x,y</choice></attribute><attribute name="d" type="integer"/><attribute name="e" visible="false"/>
		<attribute name="f" readOnly="true"/>`))
	require.Equal(t, "text a (first)\nswitch b [ ]\nchoice c {,x,y}\nnumber d\n", outline(f.Fields(f.Whole())))
	require.NoError(t, f.Set(find(t, f, f.Whole(), "c"), "y", nil))
	require.Equal(t, []form.Value{{Attribute: "c", Text: "y"}}, f.Values(f.Whole()))
}

func TestRowsOfViewersAreEditedByTheirAttributes(t *testing.T) {
	f := viewing(t, `initialAllChecked="false"`, `<label>Variables</label><items allPredefined="true"/>`)
	require.Equal(t, `heading Variables
row a [ ] = 1
row b [ ]
row c [ ] = true
row d [ ] = it's ${ptp_rm:a#value}
row excluded [ ] = e
`, outline(f.Fields(f.Pages()[0])))
	f.Check(find(t, f, f.Pages()[0], "c"), true)
	require.NoError(t, f.Set(find(t, f, f.Pages()[0], "c"), "false", nil))
	require.Equal(t, " ", f.Environment().Text("c"))
	require.Contains(t, outline(f.Fields(f.Pages()[0])), "row c [x] = false\n")
}

func TestColumnsOfAViewerTellMoreOfItsRows(t *testing.T) {
	f := newForm(define(t, `<attribute name="n" type="integer" status="valid"><tooltip>nodes</tooltip><default>1</default></attribute><attribute name="o"/>
		<launch-tab><dynamic><title>T</title><viewer name="v"><column-data name="Name"/><column-data name="Status"/><column-data name="Type"/><column-data name="Default"/>
			<items allPredefined="true"/></viewer></dynamic></launch-tab>`))
	require.Equal(t, "nodes Status: valid; Type: integer; Default: 1", find(t, f, f.Pages()[0], "n").Tooltip)
	require.Equal(t, "Type: java.lang.String", find(t, f, f.Pages()[0], "o").Tooltip)
}
