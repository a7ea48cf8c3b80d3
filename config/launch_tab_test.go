package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// boundAttributes returns the attributes that the controls of a tab set.
func boundAttributes(tab *launchtab.Tab) []string {
	var names []string
	tab.Walk(func(control launchtab.Control) {
		if bound := launchtab.Bound(control); bound.Name != "" {
			names = append(names, bound.Name)
		}
	})
	return names
}

// loadForm loads testdata/launch-tab.xml, which gives every element and attribute of the form
// a value.
func loadForm(t *testing.T) *launchtab.Form {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "launch-tab.xml"))
	require.NoError(t, err)
	definition, problems := check.Load("launch-tab.xml", source, nil)
	require.NoError(t, problems.Err(), "the form can be read")
	return definition.LaunchTab
}

func position(line, column int) config.Position {
	return config.Position{File: "launch-tab.xml", Line: line, Column: column}
}

func text(text string) config.Optional { return config.Optional{Text: text, Set: true} }

func reference(line, column int, name string) launchtab.Reference {
	return launchtab.Reference{Position: position(line, column), Name: name}
}

func TestTabsAreReadWithTheirAttributes(t *testing.T) {
	form := loadForm(t)
	require.Len(t, form.Tabs, 2)
	tab := form.Tabs[0]
	require.Equal(t, position(17, 4), tab.Position)
	require.Equal(t, []launchtab.Reference{reference(17, 38, "More"), reference(17, 43, " Other")}, tab.IncludeFrom, "titles are not trimmed")
	require.Equal(t, "SWT.NONE", tab.Style)
	require.Equal(t, text("basic help"), tab.Tooltip)
	require.Equal(t, "Import", form.Import.Title)
	require.Equal(t, "exported", form.Import.Viewer.Name.Name)
}

func TestGridsAreReadWithTheirColumns(t *testing.T) {
	tab := loadForm(t).Tabs[0]
	require.Equal(t, 3, tab.Columns)
	require.Equal(t, 1, tab.Span, "data of a form layout has no columns")
	require.Zero(t, tab.Controls[0].Common().Columns, "a row has none")
	require.Equal(t, 2, tab.Controls[0].Common().Span)
}

func TestWidgetsAreReadWithTheirAttributes(t *testing.T) {
	form := loadForm(t)
	var kinds []launchtab.WidgetType
	widgets := map[string]*launchtab.Widget{}
	form.Walk(func(control launchtab.Control) {
		if widget, ok := control.(*launchtab.Widget); ok {
			kinds = append(kinds, widget.Type)
			widgets[widget.Attribute.Name] = widget
		}
	})
	require.Equal(t, []launchtab.WidgetType{
		launchtab.LabelWidget, launchtab.TextWidget, launchtab.TextWidget, launchtab.CheckboxWidget, launchtab.SpinnerWidget, launchtab.ComboWidget,
		launchtab.CustomWidget, launchtab.CustomWidget,
	}, kinds)
	require.Equal(t, text("Queue of ${ptp_rm:queue#name}"), widgets[""].FixedText)

	queue := widgets["queue"]
	require.Equal(t, reference(53, 88, "queue"), queue.Attribute)
	require.Equal(t, text("Queue:"), queue.Title)
	require.True(t, queue.ReadOnly)
	require.Equal(t, reference(54, 19, "queues"), queue.ItemsFrom)
	require.Equal(t, []string{"BORDER", "READ_ONLY"}, launchtab.StyleTokens(queue.Style))

	require.Equal(t, reference(51, 40, "more"), widgets["flag"].ButtonID)
	dynamic := widgets["computed"]
	require.Equal(t, "a ${ptp_rm:queue#value}", dynamic.DynamicText[0].Text)
	require.Len(t, dynamic.DynamicText, 2)

	require.Equal(t, []string{"name", "flag", "nodes", "queue", "modules", "older", "side", "file", "old"}, boundAttributes(form.Tabs[0]))
}

func TestGroupsBrowsersAndButtonsAreRead(t *testing.T) {
	controls := loadForm(t).Tabs[0].Controls
	group, browse, older, run := controls[1].(*launchtab.ButtonGroup), controls[2].(*launchtab.Browse), controls[3].(*launchtab.Browse), controls[4].(*launchtab.PushButton)
	require.Equal(t, text("Side"), group.Title)
	require.Equal(t, []config.Optional{text("left"), text("right")}, []config.Optional{group.Buttons[0].Title, group.Buttons[1].Title})
	require.Equal(t, launchtab.RadioButtonWidget, group.Buttons[0].Type)
	require.Equal(t, "left", group.Buttons[0].ButtonID.Name)

	require.Equal(t, text("Browse…"), browse.Title)
	require.Equal(t, []bool{true, true, true, true}, []bool{browse.Directory, browse.URI, browse.LocalOnly, browse.ReadOnly})
	require.Equal(t, "SWT.BORDER", browse.Style)
	require.Equal(t, 2, browse.Span)
	require.Equal(t, 1, browse.ButtonSpan)
	require.Equal(t, "more", browse.State.EnableIf.Button.Name)
	require.Equal(t, "left", browse.ButtonState.HideIf.Button.Name)
	require.Equal(t, "old", older.Attribute.Name)
	require.False(t, older.Directory)

	require.Equal(t, text("Ask"), run.Title)
	require.Equal(t, "get-queues", run.Action.Name)
	require.Equal(t, "queue", run.ClearValue.Name)
	require.False(t, run.Refresh)
}

func TestViewersAreReadWithColumnsItemsAndValue(t *testing.T) {
	form := loadForm(t)
	folder := form.Tabs[1].Controls[0].(*launchtab.TabFolder)
	pages := []*launchtab.TabItem{folder.Controls[0].(*launchtab.TabItem), folder.Controls[1].(*launchtab.TabItem)}
	require.Equal(t, []string{"Page 1", "Page 2"}, []string{pages[0].Title, pages[1].Title})
	require.Equal(t, text("a page"), pages[0].Tooltip)
	viewer := pages[0].Controls[0].(*launchtab.Viewer)
	require.Equal(t, "environment", viewer.Name.Name)
	require.False(t, viewer.InitialAllChecked)
	require.Equal(t, text("Variables"), viewer.Label)
	require.Equal(t, "Name", viewer.Columns[0])
	require.True(t, viewer.AllPredefined && viewer.AllDiscovered)
	require.Equal(t, "queue", viewer.Include[0].Name)
	require.Equal(t, "flag", viewer.Exclude[0].Name)
	require.Equal(t, "export @name='@value'", viewer.Value.Pattern)
	require.Equal(t, "; ", viewer.Value.Separator)
	exported := form.Import.Viewer
	require.True(t, exported.InitialAllChecked)
	require.Equal(t, " ", exported.Value.Separator, "a blank unless something else is said")
}

func TestRulesAreReadAsATree(t *testing.T) {
	more := loadForm(t).Tabs[1]
	show := more.State.ShowIf
	require.Equal(t, launchtab.RuleOr, show.Kind)
	require.Equal(t, launchtab.RuleNot, show.Rules[0].Kind)
	inner := show.Rules[0].Rules[0]
	require.Equal(t, launchtab.RuleButton, inner.Kind)
	require.Equal(t, reference(105, 24, "more"), inner.Button)
	require.False(t, inner.Selected)
	require.Equal(t, launchtab.RuleAnd, show.Rules[1].Kind)
	require.Equal(t, launchtab.RuleAttribute, show.Rules[1].Rules[0].Kind)
	require.Equal(t, text("AIX"), show.Rules[1].Rules[0].Value)
	require.True(t, show.Rules[1].Rules[1].Selected, "a button has to be selected unless something else is said")
	require.Equal(t, launchtab.RuleAlways, show.Rules[2].Kind)
	require.Equal(t, launchtab.RuleNot, more.State.DisableIf.Kind, "an operator beats what stands on its own element")
	kinds := map[launchtab.RuleKind]int{}
	more.State.Walk(func(rule *launchtab.Rule) { kinds[rule.Kind]++ })
	require.Equal(t, map[launchtab.RuleKind]int{
		launchtab.RuleOr: 1, launchtab.RuleNot: 2, launchtab.RuleButton: 3, launchtab.RuleAnd: 1, launchtab.RuleAttribute: 1, launchtab.RuleAlways: 1,
	}, kinds)
}

func TestFormsOfPTPDefinitionsAreReadCompletely(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	seen := map[launchtab.WidgetType]int{}
	rules := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, err := config.Read(filepath.Base(file), source, nil)
		require.NoError(t, err)
		if definition.LaunchTab == nil {
			continue
		}
		for _, tab := range definition.LaunchTab.Tabs {
			require.NotEmpty(t, tab.Title, file)
		}
		definition.LaunchTab.Walk(func(control launchtab.Control) {
			require.NotZero(t, control.Common().Line, file)
			control.Common().State.Walk(func(*launchtab.Rule) { rules++ })
			if widget, ok := control.(*launchtab.Widget); ok {
				seen[widget.Type]++
			}
		})
	}
	for _, kind := range []launchtab.WidgetType{launchtab.LabelWidget, launchtab.TextWidget, launchtab.CheckboxWidget, launchtab.SpinnerWidget, launchtab.ComboWidget} {
		require.Positive(t, seen[kind], kind)
	}
	require.Positive(t, rules)
}
