package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
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
				continue // both are in one row there
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
	require.Equal(t, []job.Assignment{{Name: "c", Value: "y"}}, f.Values(f.Whole()))
}

func TestRowsOfViewersAreEditedByTheirAttributes(t *testing.T) {
	f := viewing(t, `initialAllChecked="false"`, `<label>Variables</label><items allPredefined="true"/>`)
	require.Equal(t, `heading Variables
row a [ ] = 1
row b [ ]
row c [ ] = true
row d [ ]
row excluded [ ] = e
`, outline(f.Fields(f.Pages()[0])))
	require.Equal(t, "it's 1", find(t, f, f.Pages()[0], "d").Default)
	f.Check(find(t, f, f.Pages()[0], "c"), true)
	require.NoError(t, f.Set(find(t, f, f.Pages()[0], "c"), "false", nil))
	require.Equal(t, " ", f.Environment().Text("c"))
	require.Contains(t, outline(f.Fields(f.Pages()[0])), "row c [x] = false\n")
}

func TestColumnsOfAViewerShowMoreOfItsRows(t *testing.T) {
	f := newForm(define(t, `<attribute name="n" type="integer" status="valid"><tooltip>nodes</tooltip><default>1</default></attribute><attribute name="o"/>
		<launch-tab><dynamic><title>T</title><viewer name="v"><column-data name="Name"/><column-data name="Status"/><column-data name="Type"/><column-data name="Default"/>
			<items allPredefined="true"/></viewer></dynamic></launch-tab>`))
	require.Equal(t, "nodes Status: valid; Type: integer; Default: 1", find(t, f, f.Pages()[0], "n").Tooltip)
	require.Equal(t, "Type: java.lang.String", find(t, f, f.Pages()[0], "o").Tooltip)
}

func TestFieldsKnowTheirGroups(t *testing.T) {
	f := newForm(define(t, `
		<attribute name="a"/><attribute name="b"/><attribute name="c"/><attribute name="d"/><attribute name="e"/><attribute name="f"/>
		<launch-tab><dynamic><title>T</title>
			<widget type="text" attribute="a"/>
			<composite group="true"><title>Outer</title>
				<widget type="text" attribute="b"/>
				<composite><widget type="text" attribute="c"/></composite>
				<composite group="true"><title>Inner</title><widget type="text" attribute="d"/></composite>
				<viewer name="table"><items><include>e</include></items></viewer>
			</composite>
			<tab-folder><item><title>First</title><widget type="text" attribute="f"/></item><item><title>Second</title></item></tab-folder>
			<widget type="label"><fixed-text>the end</fixed-text></widget>
		</dynamic></launch-tab>`))
	var lines []string
	for _, field := range f.Fields(page(t, f, "T")) {
		lines = append(lines, fmt.Sprintf("%d %s", field.Depth, field.Label))
	}
	require.Equal(t, []string{
		"0 a", "0 Outer", "1 b", "1 c", "1 Inner", "2 d", "1 table", "2 e", "0 First", "1 f", "0 Second", "0 the end",
	}, lines)
}

func TestFieldsAreFoundAgainByTheirIDsInOtherForms(t *testing.T) {
	definition := define(t, `
		<attribute name="mail"/><attribute name="address"/><attribute name="one"/><attribute name="two"/>
		<launch-tab><dynamic><title>T</title>
			<widget type="checkbox" title="Send mail" buttonId="mail"/>
			<widget type="text" attribute="address"><control-state><show-if button="mail"/></control-state></widget>
			<button-group attribute="mail"><button type="radiobutton" title="begin"/><button type="radiobutton" title="end"/></button-group>
			<widget type="text"><dynamic-text><arg>all: ${ptp_rm:one#value}</arg></dynamic-text></widget>
			<viewer name="table"><items><include>one</include><include>two</include></items></viewer>
		</dynamic></launch-tab>`)
	one, other := newForm(definition), newForm(definition)
	shown := one.Fields(page(t, one, "T"))
	seen := map[string]bool{}
	for _, field := range shown {
		if field.Kind == form.Heading {
			require.Empty(t, field.ID)
			continue
		}
		require.False(t, seen[field.ID], "the ID %q is there twice", field.ID)
		seen[field.ID] = true
		again, found := other.Field(field.ID)
		require.Equal(t, field.Kind != form.Computed, found, field.Label)
		require.True(t, !found || field.Same(again), field.Label)
	}
	require.Len(t, seen, 5) // the address is not shown

	require.NoError(t, one.Set(find(t, one, page(t, one, "T"), "Send mail"), "true", nil))
	hidden, found := other.Field(find(t, one, page(t, one, "T"), "address").ID)
	require.True(t, found, "a field that is not shown is not found")
	require.NoError(t, other.Set(hidden, "ada", nil))
	require.Equal(t, "ada", other.Environment().Lookup("address").Value())
	for _, unknown := range []string{"", "99", "-1", "1.one", "x", "4", "4.address", "4."} {
		_, found := other.Field(unknown)
		require.False(t, found, unknown)
	}
}

func TestFieldsThatShareARowOfTheGridSaySo(t *testing.T) {
	f := newForm(define(t, gridForm))
	rows := map[string]string{}
	for _, field := range f.Fields(f.Pages()[0]) {
		if field.Row != 0 {
			rows[field.Label] = fmt.Sprint(field.Row, "/", field.Span)
		}
	}
	require.Equal(t, map[string]string{"nodes": "1/1", "size": "1/1", "Mail": "1/1", "File": "2/2", "Side": "3/1", "Refresh": "3/1"}, rows, "a label and a hint belong to their field")
}

func TestGroupsMayStandBesideEachOther(t *testing.T) {
	group := func(title, controls string) string {
		return `<composite group="true"><title>` + title + `</title><layout-data><grid-data horizontalSpan="2"/></layout-data>` + controls + `</composite>`
	}
	field := func(name string) string { return `<widget attribute="` + name + `"/>` }
	for body, want := range map[string]string{
		group("One", field("a")) + group("Two", field("b")): "One 1/2, a 0/0, Two 1/2, b 0/0",
		group("", field("a")) + group("Two", field("b")):    "a 0/0, Two 0/0, b 0/0",
		group("One", field("a")) + field("b"):               "One 1/2, a 0/0, b 1/1",
	} {
		f := newForm(define(t, `<attribute name="a"/><attribute name="b"/><launch-tab><dynamic><title>T</title><layout><grid-layout numColumns="4"/></layout>`+body+`</dynamic></launch-tab>`))
		var shown []string
		for _, field := range f.Fields(f.Pages()[0]) {
			shown = append(shown, fmt.Sprintf("%s %d/%d", field.Label, field.Row, field.Span))
		}
		require.Equal(t, want, strings.Join(shown, ", "))
	}
}
