package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

// ruled is a form whose attribute "x" counts as a rule says. Buttons a and b
// are bound to attributes of these names.
func ruled(t *testing.T, state string) *form.Form {
	t.Helper()
	return newForm(define(t, `
		<attribute name="a"/><attribute name="b"/><attribute name="x"><default>1</default></attribute>
		<attribute name="translated" translateBooleanAs="--yes,--no"/>
		<attribute name="side"/><attribute name="word"/><attribute name="number"/><attribute name="empty"><default></default></attribute>
		<launch-tab>
			<dynamic><title>First</title>
				<widget type="checkbox" buttonId="a" attribute="a"/>
				<widget type="checkbox" buttonId="translated" attribute="translated"/>
				<button-group attribute="side">
					<button type="radiobutton" buttonId="left" title="left"/>
					<button type="radiobutton" buttonId="right" title="right"/>
				</button-group>
				<widget attribute="x"><control-state>`+state+`</control-state></widget>
			</dynamic>
			<dynamic><title>Second</title><widget type="checkbox" buttonId="b" attribute="b"/></dynamic>
		</launch-tab>`))
}

func TestRulesDecideWhetherAControlCounts(t *testing.T) {
	for name, c := range map[string]struct {
		state string
		set   map[string]attribute.Value
		want  bool
	}{
		"no rule":                                  {``, nil, true},
		"shown if, which holds":                    {`<show-if button="a"/>`, map[string]attribute.Value{"a": true}, true},
		"shown if, which does not hold":            {`<show-if button="a"/>`, nil, false},
		"hidden if, which holds":                   {`<hide-if button="a"/>`, map[string]attribute.Value{"a": true}, false},
		"hidden if, which does not hold":           {`<hide-if button="a"/>`, nil, true},
		"enabled if, which holds":                  {`<enable-if button="a"/>`, map[string]attribute.Value{"a": true}, true},
		"enabled if, which does not hold":          {`<enable-if button="a"/>`, nil, false},
		"disabled if, which holds":                 {`<disable-if button="a"/>`, map[string]attribute.Value{"a": true}, false},
		"disabled if, which does not hold":         {`<disable-if button="a"/>`, nil, true},
		"shown and not enabled":                    {`<show-if button="a"/><enable-if button="b"/>`, map[string]attribute.Value{"a": true}, false},
		"shown and enabled":                        {`<show-if button="a"/><enable-if button="b"/>`, map[string]attribute.Value{"a": true, "b": true}, true},
		"to hide comes before to show":             {`<show-if button="a"/><hide-if button="a"/>`, map[string]attribute.Value{"a": true}, false},
		"to enable comes before to disable":        {`<enable-if button="a"/><disable-if button="a"/>`, map[string]attribute.Value{"a": true}, true},
		"a button that must not be selected":       {`<show-if button="a" selected="false"/>`, nil, true},
		"a button of another tab":                  {`<show-if button="b"/>`, map[string]attribute.Value{"b": "true"}, true},
		"a button that is nowhere":                 {`<show-if button="c"/>`, nil, false},
		"a button that is nowhere is not selected": {`<show-if button="c" selected="false"/>`, nil, true},
		"a translated button":                      {`<show-if button="translated"/>`, map[string]attribute.Value{"translated": "--yes"}, true},
		"a translated button that is off":          {`<show-if button="translated"/>`, map[string]attribute.Value{"translated": "--no"}, false},
		"a translated button and another text":     {`<show-if button="translated"/>`, map[string]attribute.Value{"translated": "true"}, false},
		"the button of a group":                    {`<show-if button="right"/>`, map[string]attribute.Value{"side": "right"}, true},
		"another button of the group":              {`<show-if button="left"/>`, map[string]attribute.Value{"side": "right"}, false},
		"a value":                                  {`<show-if attribute="word" value="w"/>`, map[string]attribute.Value{"word": "w"}, true},
		"another value":                            {`<show-if attribute="word" value="w"/>`, map[string]attribute.Value{"word": "W"}, false},
		"the text of a number":                     {`<show-if attribute="number" value="7"/>`, map[string]attribute.Value{"number": 7}, true},
		"no value is not the empty text":           {`<show-if attribute="word" value=""/>`, nil, false},
		"the empty text":                           {`<show-if attribute="empty" value=""/>`, nil, true},
		"an attribute that is nowhere":             {`<hide-if attribute="nothing" value=""/>`, nil, true},
		"a value that is not said":                 {`<show-if attribute="word"/>`, map[string]attribute.Value{"word": "w"}, false},
		"nothing":                                  {`<hide-if/>`, nil, false},
		"not":                                      {`<show-if><not><rule button="a"/></not></show-if>`, nil, true},
		"not what holds":                           {`<show-if><not><rule button="a"/></not></show-if>`, map[string]attribute.Value{"a": true}, false},
		"and":                                      {`<show-if><and><rule button="a"/><rule button="b"/></and></show-if>`, map[string]attribute.Value{"a": true, "b": true}, true},
		"and of one that does not hold":            {`<show-if><and><rule button="a"/><rule button="b"/></and></show-if>`, map[string]attribute.Value{"a": true}, false},
		"or":                                       {`<show-if><or><rule button="a"/><rule button="b"/></or></show-if>`, map[string]attribute.Value{"b": true}, true},
		"or of none":                               {`<show-if><or><rule button="a"/><rule button="b"/></or></show-if>`, nil, false},
		"rules in rules": {`<show-if><or><rule><and><rule button="a"/><rule><not><rule button="b"/></not></rule></and></rule></or></show-if>`,
			map[string]attribute.Value{"a": true}, true},
		"an operator before what the element names": {`<show-if button="a"><not><rule button="b"/></not></show-if>`, nil, true},
		"a button before an attribute":              {`<show-if button="a" attribute="word" value="w"/>`, map[string]attribute.Value{"word": "w"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := ruled(t, c.state)
			for attribute, value := range c.set {
				f.Environment().Lookup(attribute).SetValue(value)
			}
			require.Equal(t, c.want, f.Live(f.Pages()[0])["x"])
		})
	}
}

func TestWhatIsInsideAControlSharesItsState(t *testing.T) {
	f := newForm(define(t, `<attribute name="on"/><attribute name="deep"/><attribute name="page"/><attribute name="path"/>
		<launch-tab>
			<dynamic><title>First</title>
				<widget type="checkbox" buttonId="on" attribute="on"/>
				<composite>
					<composite><tab-folder><item><title>i</title><widget attribute="deep"/></item></tab-folder></composite>
					<control-state><enable-if button="on"/></control-state>
				</composite>
				<browse attribute="path"><button-control-state><hide-if/></button-control-state><text-control-state><show-if button="on"/></text-control-state></browse>
			</dynamic>
			<dynamic><title>Second</title><widget attribute="page"/><control-state><show-if button="on"/></control-state></dynamic>
		</launch-tab>`))
	require.Equal(t, []string{"on"}, among(f.Live(f.Pages()[0]), "on", "deep", "path"))
	require.Empty(t, f.Live(f.Pages()[1]))
	f.Environment().Lookup("on").SetValue(true)
	require.Equal(t, []string{"on", "deep", "path"}, among(f.Live(f.Pages()[0]), "on", "deep", "path"), "the rule of a browser's button does not matter")
	require.True(t, f.Live(f.Pages()[1])["page"])
}

func TestTheExampleOfRulesFromTheFieldIsFollowed(t *testing.T) {
	f := newForm(shared(t, "control-state-example"))
	first := page(t, f, "Basic 0")
	saved := f.Environment().Lookup("saved")
	saved.SetValue("text")
	set := func(name string, on bool) { f.Environment().Lookup(name).SetValue(on) }
	live := func() []string { return among(f.Live(first), "checked00", "checked01", "saved") }

	require.Equal(t, []string{"checked00"}, live(), "what is hidden does not count")
	set("checked00", true)
	require.Equal(t, []string{"checked00", "checked01"}, live(), "the second box is shown, the text needs both")
	set("checked01", true)
	require.Equal(t, []string{"checked00", "checked01", "saved"}, live())
	set("checked00", false)
	require.Equal(t, []string{"checked00"}, live(), "the second box is still checked, and hidden")

	f.Apply(first, nil)
	require.Nil(t, saved.Value(), "what does not count has no value")
	require.Equal(t, true, f.Environment().Lookup("checked01").Value(), "invisible attributes keep theirs")
}
