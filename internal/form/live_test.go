package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

const sharing = `
	<attribute name="own"><default>o</default></attribute>
	<attribute name="advanced"><default>a</default></attribute>
	<attribute name="off"><default>x</default></attribute>
	<attribute name="both"><default>b</default></attribute>
	<attribute name="far"><default>f</default></attribute>
	<attribute name="nowhere"><default>n</default></attribute>
	<attribute name="hidden" visible="false"><default>h</default></attribute>
	<launch-tab>
		<dynamic includeWidgetValuesFrom="More settings,Last "><title>Basic</title>
			<widget attribute="own"/><widget attribute="both"><control-state><disable-if/></control-state></widget>
		</dynamic>
		<dynamic includeWidgetValuesFrom="Last"><title>More settings</title>
			<widget attribute="advanced"/><widget attribute="both"/><widget attribute="off"><control-state><hide-if/></control-state></widget>
		</dynamic>
		<dynamic><title>Last</title><widget attribute="far"/></dynamic>
		<import title="Script"><export-for-override><items><include>own</include><include>hidden</include></items></export-for-override></import>
	</launch-tab>`

func TestAPageCountsWithThoseThatItIncludes(t *testing.T) {
	f := newForm(define(t, sharing))
	all := []string{"own", "advanced", "off", "both", "far", "nowhere", "hidden"}
	require.Equal(t, []string{"own", "advanced"}, among(f.Live(page(t, f, "Basic")), all...),
		"titles are compared exactly, inclusion is not inherited, and what is out here stays out")
	require.Equal(t, []string{"advanced", "both", "far"}, among(f.Live(page(t, f, "More settings")), all...))
	require.Equal(t, []string{"far"}, among(f.Live(page(t, f, "Last")), all...))
	require.Equal(t, []string{"own"}, among(f.Live(page(t, f, "Script")), all...))
}

func TestOneControlThatCountsIsEnough(t *testing.T) {
	f := newForm(define(t, `<attribute name="a"><default>1</default></attribute><launch-tab><dynamic><title>T</title>
		<widget attribute="a"><control-state><hide-if/></control-state></widget><widget attribute="a"/></dynamic></launch-tab>`))
	f.Apply(f.Pages()[0], nil)
	require.Equal(t, "1", f.Environment().Text("a"))
}

func TestWhatDoesNotCountLosesItsValueUnlessItIsGiven(t *testing.T) {
	f := newForm(define(t, sharing))
	f.Apply(page(t, f, "Basic"), map[string]bool{"far": true})
	for name, want := range map[string]attribute.Value{
		"own": "o", "advanced": "a", "both": nil, "off": nil, "far": "f", "nowhere": nil, "hidden": "h",
	} {
		require.Equal(t, want, f.Environment().Lookup(name).Value(), name)
	}
}

func TestWithoutPagesEverythingCounts(t *testing.T) {
	for _, tab := range []string{"", "<launch-tab/>"} {
		f := newForm(define(t, `<attribute name="a"><default>1</default></attribute>`+tab))
		usual, err := f.Page("", true)
		require.NoError(t, err)
		require.Nil(t, usual)
		f.Apply(usual, nil)
		require.Equal(t, "1", f.Environment().Text("a"))
	}
}

func TestPagesAreFoundByTheirTitles(t *testing.T) {
	f := newForm(define(t, sharing))
	for title, want := range map[string]string{"": "Basic", "Last": "Last", "  more SETTINGS": "More settings", "Script": "Script"} {
		require.Equal(t, want, page(t, f, title).Title)
	}
	usual, err := f.Page("", true)
	require.NoError(t, err)
	require.True(t, usual.Import, "a script of one's own is submitted from the page for scripts")

	_, err = f.Page("Basics", false)
	var unknown *form.UnknownPageError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, `the launch tab of definition "test" has no tab "Basics"
did you mean "Basic"?`)
	_, err = f.Page("zzzzzzzz", false)
	require.ErrorContains(t, err, "it has Basic, More settings, Last, Script")
	_, err = newForm(define(t, "")).Page("x", false)
	require.ErrorContains(t, err, "has no launch tab")
}

const table = `
	<attribute name="a"><default>1</default></attribute>
	<attribute name="b"/>
	<attribute name="c" translateBooleanAs="-c, "><default>-c</default></attribute>
	<attribute name="d"><default>it's ${ptp_rm:a#value}</default></attribute>
	<attribute name="secret" visible="false"><default>s</default></attribute>
	<attribute name="excluded"><default>e</default></attribute>`

func viewing(t *testing.T, attributes, content string) *form.Form {
	t.Helper()
	return newForm(define(t, table+`<launch-tab><dynamic><title>T</title><viewer name="list" `+attributes+`>`+content+`</viewer></dynamic></launch-tab>`))
}

func TestAViewersValueIsMadeOfItsCheckedRows(t *testing.T) {
	const all = `<items allPredefined="true"><include>missing</include><include>secret</include><exclude>excluded</exclude></items>`
	for name, c := range map[string]struct {
		attributes, content string
		given               map[string]bool
		want                string
	}{
		"all rows with a value, in the order of names": {``, all + `<value pattern="@name='@value'"/>`, nil, `a='1' c='true' d='it's 1'`},
		"joined":                           {``, all + `<value pattern="export @name=@value" separator="; "/>`, nil, `export a=1; export c=true; export d=it's 1`},
		"those named alone":                {``, `<items><include>d</include><include>a</include></items><value pattern="@name"/>`, nil, `a d`},
		"none is checked":                  {`initialAllChecked="false"`, all + `<value pattern="@name"/>`, nil, ``},
		"those that are given are checked": {`initialAllChecked="false"`, all + `<value pattern="@name=@value"/>`, map[string]bool{"a": true, "b": true}, `a=1`},
		"no pattern":                       {``, all, nil, ``},
	} {
		t.Run(name, func(t *testing.T) {
			f := viewing(t, c.attributes, c.content)
			f.Given(c.given)
			f.Apply(f.Pages()[0], c.given)
			require.Equal(t, c.want, f.Environment().Text("list"))
			require.False(t, f.Environment().Lookup("list").Visible())
		})
	}
}

func TestRowsThatAreNotCheckedDoNotCount(t *testing.T) {
	f := viewing(t, `initialAllChecked="false"`, `<items allPredefined="true"/>`)
	f.Given(map[string]bool{"a": true})
	require.Equal(t, []string{"list", "a"}, among(f.Live(f.Pages()[0]), "list", "a", "b", "c", "d", "secret"))
	f.Apply(f.Pages()[0], nil)
	require.Equal(t, "1", f.Environment().Text("a"))
	require.Nil(t, f.Environment().Lookup("d").Value())
}

func TestViewersShowWhatParsersFound(t *testing.T) {
	f := viewing(t, ``, `<items allDiscovered="true"/><value pattern="-mca @name @value"/>`)
	found := attribute.New("btl")
	found.SetValue("tcp")
	hidden := attribute.New("internal")
	hidden.SetValue("x")
	require.NoError(t, hidden.Set(attribute.FieldVisible, false))
	f.Environment().Discover(found)
	f.Environment().Discover(hidden)
	f.Apply(f.Pages()[0], nil)
	require.Equal(t, "-mca btl tcp", f.Environment().Text("list"))
}

func TestAViewerThatDoesNotCountHasNoValue(t *testing.T) {
	f := newForm(define(t, table+`<launch-tab><dynamic><title>T</title>
		<viewer name="list"><items allPredefined="true"/><value pattern="@name"/><control-state><hide-if/></control-state></viewer>
		</dynamic><dynamic><title>U</title><viewer name="other"><items allPredefined="true"/><value pattern="@name"/></viewer></dynamic></launch-tab>`))
	f.Apply(f.Pages()[0], nil)
	require.Nil(t, f.Environment().Lookup("list"))
	require.Nil(t, f.Environment().Lookup("other"))
}

func TestTheExampleOfViewersFromTheFieldIsFollowed(t *testing.T) {
	f := newForm(shared(t, "viewer-example"))
	f.Apply(page(t, f, "Environment Table"), nil)
	require.Equal(t, `export e1='1'; export e2='2'; export e3='3'; export e4='false'; export e5='5'`, f.Environment().Text("environmentT1"))

	f = newForm(shared(t, "viewer-example"))
	given := map[string]bool{"e2": true}
	f.Given(given)
	f.Apply(page(t, f, "Environment Tree Value Only"), given)
	require.Equal(t, `export e2='2'`, f.Environment().Text("environmentT3"), "there no row is checked at first")
	require.Nil(t, f.Environment().Lookup("e1").Value())
}
