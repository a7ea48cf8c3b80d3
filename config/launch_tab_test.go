package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
)

// boundAttributes returns the attributes that the controls of a tab set.
func boundAttributes(tab *config.Tab) []string {
	var names []string
	tab.Walk(func(control config.Control) {
		if bound := config.Bound(control); bound.Name != "" {
			names = append(names, bound.Name)
		}
	})
	return names
}

// loadForm loads what testdata/launch-tab.xml holds; it gives every element
// and attribute of the form a value.
func loadForm(t *testing.T) *config.LaunchTab {
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

func reference(line, column int, name string) config.Reference {
	return config.Reference{Position: position(line, column), Name: name}
}

func TestTabsSayWhatTheyShowAndInclude(t *testing.T) {
	form := loadForm(t)
	require.Len(t, form.Tabs, 2)
	tab := form.Tab("Basic")
	require.Equal(t, position(17, 4), tab.Position)
	require.Equal(t, []config.Reference{reference(17, 38, "More"), reference(17, 43, " Other")}, tab.IncludeFrom, "titles are not trimmed")
	require.Equal(t, "SWT.NONE", tab.Style)
	require.Equal(t, text("basic help"), tab.Tooltip)
	require.Equal(t, "Import", form.Import.Title)
	require.Equal(t, "exported", form.Import.Viewer.Name.Name)
	require.Nil(t, form.Tab("Nowhere"))
}

func TestGridsAreReadWithTheirColumns(t *testing.T) {
	tab := loadForm(t).Tab("Basic")
	require.Equal(t, 3, tab.Columns)
	require.Equal(t, 1, tab.Span, "data of a form layout has no columns")
	require.Zero(t, tab.Controls[0].Common().Columns, "a row has none")
	require.Equal(t, 2, tab.Controls[0].Common().Span)
}

func TestWidgetsAreReadWithWhatTheyAreBoundTo(t *testing.T) {
	form := loadForm(t)
	var kinds []config.WidgetType
	widgets := map[string]*config.Widget{}
	form.Walk(func(control config.Control) {
		if widget, ok := control.(*config.Widget); ok {
			kinds = append(kinds, widget.Type)
			widgets[widget.Attribute.Name] = widget
		}
	})
	require.Equal(t, []config.WidgetType{
		config.LabelWidget, config.TextWidget, config.TextWidget, config.CheckboxWidget, config.SpinnerWidget, config.ComboWidget,
		config.CustomWidget, config.CustomWidget,
	}, kinds)
	require.Equal(t, text("Queue of ${ptp_rm:queue#name}"), widgets[""].FixedText)

	queue := widgets["queue"]
	require.Equal(t, reference(53, 88, "queue"), queue.Attribute)
	require.Equal(t, text("Queue:"), queue.Title)
	require.True(t, queue.ReadOnly)
	require.Equal(t, reference(54, 19, "queues"), queue.ItemsFrom)
	require.Equal(t, []string{"BORDER", "READ_ONLY"}, config.StyleTokens(queue.Style))

	require.Equal(t, reference(51, 40, "more"), widgets["flag"].ButtonID)
	dynamic := widgets["computed"]
	require.Equal(t, "a ${ptp_rm:queue#value}", dynamic.DynamicText[0].Text)
	require.Len(t, dynamic.DynamicText, 2)

	require.Equal(t, []string{"name", "flag", "nodes", "queue", "modules", "older", "side", "file", "old"}, boundAttributes(form.Tab("Basic")))
}

func TestGroupsBrowsersAndButtonsAreRead(t *testing.T) {
	controls := loadForm(t).Tab("Basic").Controls
	group, browse, older, run := controls[1].(*config.ButtonGroup), controls[2].(*config.Browse), controls[3].(*config.Browse), controls[4].(*config.PushButton)
	require.True(t, group.Group)
	require.Equal(t, text("Side"), group.Title)
	require.Equal(t, []config.Optional{text("left"), text("right")}, []config.Optional{group.Buttons[0].Title, group.Buttons[1].Title})
	require.Equal(t, config.RadioButtonWidget, group.Buttons[0].Type)
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
	folder := form.Tab("More").Controls[0].(*config.TabFolder)
	require.Equal(t, []string{"Page 1", "Page 2"}, []string{folder.Items[0].Title, folder.Items[1].Title})
	require.Equal(t, text("a page"), folder.Items[0].Tooltip)
	viewer := folder.Items[0].Controls[0].(*config.Viewer)
	require.Equal(t, "environment", viewer.Name.Name)
	require.False(t, viewer.InitialAllChecked || viewer.Sort)
	require.Equal(t, text("Variables"), viewer.Label)
	require.Equal(t, "Name", viewer.Columns[0])
	require.True(t, viewer.AllPredefined && viewer.AllDiscovered)
	require.Equal(t, "queue", viewer.Include[0].Name)
	require.Equal(t, "flag", viewer.Exclude[0].Name)
	require.Equal(t, "export @name='@value'", viewer.Value.Pattern)
	require.Equal(t, "; ", viewer.Value.Separator)
	exported := form.Import.Viewer
	require.True(t, exported.InitialAllChecked && exported.Sort)
	require.Equal(t, " ", exported.Value.Separator, "a blank unless something else is said")
}

func TestRulesAreReadAsATree(t *testing.T) {
	more := loadForm(t).Tab("More")
	require.Len(t, more.State.Rules(), 2)
	show := more.State.ShowIf
	require.Equal(t, config.RuleOr, show.Kind)
	require.Equal(t, config.RuleNot, show.Rules[0].Kind)
	inner := show.Rules[0].Rules[0]
	require.Equal(t, config.RuleButton, inner.Kind)
	require.Equal(t, reference(105, 24, "more"), inner.Button)
	require.False(t, inner.Selected)
	require.Equal(t, config.RuleAnd, show.Rules[1].Kind)
	require.Equal(t, config.RuleAttribute, show.Rules[1].Rules[0].Kind)
	require.Equal(t, text("AIX"), show.Rules[1].Rules[0].Value)
	require.True(t, show.Rules[1].Rules[1].Selected, "a button has to be selected unless something else is said")
	require.Equal(t, config.RuleAlways, show.Rules[2].Kind)
	require.Equal(t, config.RuleNot, more.State.DisableIf.Kind, "an operator beats what stands on its own element")
	count := 0
	show.Walk(func(*config.Rule) { count++ })
	require.Equal(t, 7, count)
}

func TestFormsOfDefinitionsFromTheFieldAreReadWhole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	seen := map[config.WidgetType]int{}
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
		definition.LaunchTab.Walk(func(control config.Control) {
			require.NotZero(t, control.Common().Line, file)
			rules += len(control.Common().State.Rules())
			if widget, ok := control.(*config.Widget); ok {
				seen[widget.Type]++
			}
		})
	}
	for _, kind := range []config.WidgetType{config.LabelWidget, config.TextWidget, config.CheckboxWidget, config.SpinnerWidget, config.ComboWidget} {
		require.Positive(t, seen[kind], kind)
	}
	require.Positive(t, rules)
}
