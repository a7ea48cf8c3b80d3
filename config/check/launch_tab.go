package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/wording"
)

var launchTabCodes = []Code{
	{"duplicate-tab", config.Warning, "Two tabs of the form have one title."},
	{"duplicate-button", config.Warning, "Two buttons of the form have one identifier."},
	{"unknown-tab", config.Warning, "A tab includes the values of an unknown tab."},
	{"unknown-button", config.Warning, "A rule names an unknown button."},
	{"unknown-command", config.Warning, "A button of the form runs an unknown command."},
	{"incomplete-rule", config.Warning, "A rule has an attribute without a value."},
	{"no-items", config.Warning, "A read-only combo has no items."},
	{"without-effect", config.Warning, "A setting has no effect here."},
}

// A form is the state shared by the checks of a launch tab.
type form struct {
	*checker
	tabs     map[string]*launchtab.Tab
	buttons  map[string]config.Position
	commands map[string]bool // that buttons can run

	allShown int            // viewers that show all visible attributes
	hidden   map[string]int // by attribute: how many of those leave it out
}

func (c *checker) checkLaunchTab() {
	tab := c.definition.LaunchTab
	if tab == nil {
		return
	}
	f := &form{checker: c, tabs: map[string]*launchtab.Tab{}, buttons: map[string]config.Position{}, commands: map[string]bool{}, hidden: map[string]int{}}
	for _, command := range c.definition.Commands {
		if isSessionPart(string(command.Element)) {
			f.commands[command.Name] = true
		}
	}
	for _, tab := range tab.Tabs {
		f.addTab(tab)
	}
	tab.Walk(f.addButtons)
	for _, tab := range tab.Tabs {
		f.checkIncludes(tab)
		f.checkRules(tab.State)
	}
	tab.Walk(f.checkControl)
	f.bindShown()
}

func (f *form) addTab(tab *launchtab.Tab) {
	if earlier, twice := f.tabs[tab.Title]; twice {
		f.report(tab.Position, config.Warning, "duplicate-tab",
			fmt.Sprintf("a second tab has the title %s; the title refers to the one on line %d", wording.Quote(tab.Title), earlier.Line), "")
		return
	}
	f.tabs[tab.Title] = tab
}

func (f *form) checkIncludes(tab *launchtab.Tab) {
	for _, include := range tab.IncludeFrom {
		if _, known := f.tabs[include.Name]; known || include.Name == "" {
			continue
		}
		message := fmt.Sprintf("the form has no tab %s", wording.Quote(include.Name))
		if trimmed := strings.TrimSpace(include.Name); f.tabs[trimmed] != nil {
			f.reportReplacement(include.Position, config.Warning, "unknown-tab", message+": blanks around a title are part of it", include.Name, trimmed)
			continue
		}
		f.reportName(include.Position, config.Warning, "unknown-tab", message, include.Name, slices.Collect(maps.Keys(f.tabs)))
	}
}

func (f *form) addButtons(control launchtab.Control) {
	switch c := control.(type) {
	case *launchtab.Widget:
		f.addButton(c)
	case *launchtab.ButtonGroup:
		for _, button := range c.Buttons {
			f.addButton(button)
		}
	}
}

func (f *form) addButton(w *launchtab.Widget) {
	id := w.ButtonID
	if id.Name == "" {
		return
	}
	if !w.Type.IsButton() {
		f.report(id.Position, config.Warning, "without-effect", fmt.Sprintf("a widget of type %s is not a button; its buttonId is ignored", w.Type), "")
		return
	}
	if earlier, twice := f.buttons[id.Name]; twice {
		f.report(id.Position, config.Warning, "duplicate-button",
			fmt.Sprintf("a second button is called %s; the first is on line %d, and all tabs share identifiers", wording.Quote(id.Name), earlier.Line), "")
		return
	}
	f.buttons[id.Name] = id.Position
}

func (f *form) checkControl(control launchtab.Control) {
	f.checkRules(control.Common().State)
	f.bind(launchtab.Bound(control))
	switch c := control.(type) {
	case *launchtab.Widget:
		f.checkWidget(c)
	case *launchtab.ButtonGroup:
		f.checkButtonGroup(c)
	case *launchtab.Browse:
		f.checkRules(c.ButtonState)
	case *launchtab.PushButton:
		f.checkPushButton(c)
	case *launchtab.Viewer:
		f.checkViewer(c)
	}
}

// bind notes that a control sets an attribute, which has to exist.
func (f *form) bind(to launchtab.Reference) {
	if to.Name == "" {
		return
	}
	f.use(to.Name, bound)
	if !f.names.has(to.Name) {
		f.undefined(to.Position, to.Name, "PTP cannot show the tab")
	}
}

func (f *form) checkWidget(w *launchtab.Widget) {
	if w.Attribute.Name != "" && w.Type != launchtab.CustomWidget {
		switch {
		case w.Type == launchtab.LabelWidget:
			f.report(w.Attribute.Position, config.Warning, "without-effect", "a label shows only its text; its attribute is ignored", "")
		case len(w.DynamicText) > 0:
			f.report(w.Attribute.Position, config.Warning, "without-effect", "the widget has a dynamic-text; its attribute is ignored", "")
		}
	}
	if w.ItemsFrom.Name != "" {
		f.checkItems(w.ItemsFrom.Name, w.ItemsFrom.Position)
	}
	if w.Type == launchtab.ComboWidget && w.ReadOnly && w.ItemsFrom.Name == "" && !f.offersItems(w.Attribute.Name) {
		f.report(w.Position, config.Warning, "no-items", "the read-only combo has no items, and neither does its attribute",
			"give its attribute a choice or items-from")
	}
}

// offersItems reports whether an attribute may have items for a combo.
func (f *form) offersItems(name string) bool {
	e, defined := f.names.defined[name]
	return !defined || optionalElement(e, "choice") || optionalElement(e, "items-from")
}

func (f *form) checkButtonGroup(g *launchtab.ButtonGroup) {
	for _, button := range g.Buttons {
		f.checkRules(button.State)
		if button.Attribute.Name != "" {
			f.use(button.Attribute.Name, usedElsewhere)
			f.report(button.Attribute.Position, config.Warning, "without-effect", "a button of a group sets the attribute of the group; its own is ignored", "")
		}
	}
}

func (f *form) checkPushButton(b *launchtab.PushButton) {
	if name := b.ClearValue.Name; name != "" {
		f.use(name, usedElsewhere)
		if !f.names.has(name) {
			f.undefined(b.ClearValue.Position, name, "there is nothing to clear")
		}
	}
	if b.Action.Name == "" {
		return
	}
	if !f.commands[b.Action.Name] {
		f.reportName(b.Action.Position, config.Warning, "unknown-command",
			fmt.Sprintf("no button-action, start-up-command or shut-down-command is called %s; the button does nothing", wording.Quote(b.Action.Name)),
			b.Action.Name, slices.Collect(maps.Keys(f.commands)))
	}
}

func (f *form) checkViewer(v *launchtab.Viewer) {
	for _, include := range v.Include {
		f.use(include.Name, bound)
		if !f.names.has(include.Name) {
			f.undefined(include.Position, include.Name, "the viewer has no row for it")
		}
	}
	excluded := map[string]bool{}
	for _, exclude := range v.Exclude {
		excluded[exclude.Name] = true
		if !f.names.has(exclude.Name) {
			f.undefined(exclude.Position, exclude.Name, "nothing is left out")
		}
	}
	if v.AllPredefined {
		f.allShown++
		for name := range excluded {
			f.hidden[name]++
		}
	}
}

// bindShown notes the attributes that viewers of all visible ones show.
func (f *form) bindShown() {
	for name, e := range f.names.defined {
		if e.Boolean("visible", true) && f.allShown > f.hidden[name] {
			f.use(name, bound)
		}
	}
}

func (f *form) checkRules(state *launchtab.ControlState) {
	state.Walk(f.checkRule)
}

func (f *form) checkRule(r *launchtab.Rule) {
	switch r.Kind {
	case launchtab.RuleButton:
		if _, known := f.buttons[r.Button.Name]; !known {
			f.reportName(r.Button.Position, config.Warning, "unknown-button",
				fmt.Sprintf("no button has the buttonId %s; PTP cannot show the form", wording.Quote(r.Button.Name)), r.Button.Name, slices.Collect(maps.Keys(f.buttons)))
		}
	case launchtab.RuleAttribute:
		f.use(r.Attribute.Name, usedElsewhere)
		if !f.names.has(r.Attribute.Name) {
			f.undefined(r.Attribute.Position, r.Attribute.Name, "the rule is never true")
		}
		if !r.Value.Set {
			f.report(r.Attribute.Position, config.Warning, "incomplete-rule", "the rule has an attribute without a value; PTP cannot show the form", `add value="…"`)
		}
	}
}
