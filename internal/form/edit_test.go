package form_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

func TestFieldsStoreWhatTheirControlsWould(t *testing.T) {
	for name, c := range map[string]struct {
		field, text, attribute string
		want                   attribute.Value
	}{
		"a text":             {"Job name", "x y", "name", "x y"},
		"no text":            {"Job name", "", "name", nil},
		"a number":           {"nodes", " 7", "nodes", 7},
		"no number":          {"nodes", "", "nodes", nil},
		"an item":            {"size", "small", "size", "-s"},
		"the empty item":     {"size", "", "size", nil},
		"a switch that's on": {"Mail", "true", "mail", "-m"},
		"and off":            {"Mail", "false", "mail", ""},
		"a path":             {"File", "/etc/hosts", "file", "/etc/hosts"},
		"of a group":         {"Side", "right", "side", "right"},
		"lines":              {"Modules", "a\nb", "loads", "a\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(define(t, gridForm))
			field := find(t, f, f.Pages()[0], c.field)
			if c.attribute == "file" {
				require.NoError(t, f.Set(field, "true", nil), "the switch of the same label")
				field = f.Fields(f.Pages()[0])[8]
				require.True(t, field.IsInput())
			}
			require.NoError(t, f.Set(field, c.text, nil))
			require.Equal(t, c.want, f.Environment().Lookup(c.attribute).Value())
			require.Empty(t, f.Problems(f.Pages()[0]))
		})
	}
}

func TestWhatIsRefusedIsShownAndNotStored(t *testing.T) {
	for field, c := range map[string]struct{ text, attribute, want string }{
		"nodes": {"10", "nodes", "the maximum is 9"},
		"size":  {"huge", "size", "choose one of small, large"},
		"Side":  {"up", "side", "choose one of left, right"},
	} {
		f := newForm(define(t, gridForm))
		page := f.Pages()[0]
		before := f.Environment().Lookup(c.attribute).Value()
		var invalid *attribute.InvalidError
		require.ErrorAs(t, f.Set(find(t, f, page, field), c.text, nil), &invalid)
		require.Equal(t, before, f.Environment().Lookup(c.attribute).Value())
		shown := find(t, f, page, field)
		require.Equal(t, c.text, shown.Text)
		require.Equal(t, c.want, shown.Problem)
		require.Equal(t, []form.Problem{{Name: c.attribute, Reason: c.want}}, f.Problems(page))
		require.NoError(t, f.Set(shown, "", nil))
		require.Empty(t, f.Problems(page))
		require.Empty(t, find(t, f, page, field).Problem)
	}
}

func TestValidatorsRunAsOneTypes(t *testing.T) {
	f := newForm(define(t, `<attribute name="time"><validator><regex expression="\d+"/><error-message>digits, please</error-message></validator></attribute>
		<attribute name="on" type="boolean"/><attribute name="input"><validator><file-info/></validator></attribute>
		<launch-tab><dynamic><title>T</title>
			<widget type="checkbox" buttonId="on" attribute="on"/>
			<widget attribute="time"><control-state><enable-if button="on"/></control-state></widget><browse attribute="input"/>
		</dynamic></launch-tab>`))
	page := f.Pages()[0]
	require.NoError(t, f.Set(find(t, f, page, "on"), "true", nil))
	require.Error(t, f.Set(find(t, f, page, "time"), "1h", nil))
	require.Equal(t, "digits, please", find(t, f, page, "time").Problem)
	require.Len(t, f.Problems(page), 1)
	require.NoError(t, f.Set(find(t, f, page, "on"), "false", nil))
	require.Empty(t, f.Problems(page), "what does not count is no problem")

	input := find(t, f, page, "input")
	require.Equal(t, "a.dat", f.File(input, " a.dat"))
	require.Empty(t, f.File(find(t, f, page, "time"), "a.dat"))
	require.NoError(t, f.Set(input, "a.dat", nil), "without a look at files any name will do")
	require.Error(t, f.Set(input, "a.dat", func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }))
	require.Equal(t, "there is no such file", find(t, f, page, "input").Problem)
}

func TestASpinnerCountsFromZero(t *testing.T) {
	f := newForm(define(t, `<attribute name="n" type="integer"/><launch-tab><dynamic><title>T</title><widget type="spinner" attribute="n"/></dynamic></launch-tab>`))
	require.ErrorContains(t, f.Set(find(t, f, f.Pages()[0], "n"), "-1", nil), "minimum is 0")
}

func TestControlsThatAreBoundToNothingStillDecide(t *testing.T) {
	f := newForm(define(t, gridForm))
	page := f.Pages()[0]
	require.False(t, f.Live(page)["file"])
	require.NoError(t, f.Set(find(t, f, page, "File"), "true", nil))
	require.True(t, find(t, f, page, "File").On)
	require.True(t, f.Live(page)["file"])
}

func TestComputedTextsFollow(t *testing.T) {
	f := newForm(define(t, gridForm))
	page := f.Pages()[0]
	require.NoError(t, f.Set(find(t, f, page, "Job name"), "x", nil))
	require.NoError(t, f.Set(find(t, f, page, "Mail"), "true", nil))
	require.Contains(t, outline(f.Fields(page)), "computed  = run x -m\n")
}

func TestFieldsAreRestored(t *testing.T) {
	f := newForm(define(t, gridForm))
	page := f.Pages()[0]
	before := outline(f.Fields(page))
	set(t, f, page, "Job name", "x", "Mail", "true", "File", "true", "Side", "left")
	require.Error(t, f.Set(find(t, f, page, "nodes"), "99", nil))
	for _, field := range f.Fields(page) {
		f.Restore(field)
	}
	require.Equal(t, before, outline(f.Fields(page)))

	f = viewing(t, `initialAllChecked="false"`, `<items allPredefined="true"/>`)
	row := find(t, f, f.Pages()[0], "a")
	f.Check(row, true)
	require.NoError(t, f.Set(row, "2", nil))
	f.Restore(row)
	require.Equal(t, row, find(t, f, f.Pages()[0], "a"))
}
