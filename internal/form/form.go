// Package form is the launch tab of a definition being filled in: which
// controls are shown and enabled, what they show, what they make of what is
// typed, and which attributes count in the end.
//
// A [Form] does no input or output of its own and runs nothing. [New] makes
// one over an environment; [Form.Fields] returns what to show on a page,
// [Form.Set] and [Form.Check] take what a user does; [Form.Values] returns what a
// submission from a page is given. [Select] decides which attributes count in a
// submission. Sections named below
// are those of the description of the format: what a form is made of, which of
// its values are passed on, and when controls are shown and enabled.
package form

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/wording"
)

// A Form is a launch tab being filled in. It is not safe for concurrent use.
type Form struct {
	definition  *config.Definition
	environment *attribute.Environment
	initial     *attribute.Environment // as it was before anything was filled in
	pages       []*Page
	whole       *Page                        // made when it is needed
	buttons     map[string]*launchtab.Widget // by the name that rules use
	groups      map[*launchtab.Widget]*launchtab.ButtonGroup
	viewers     []*launchtab.Viewer       // in the order of the document
	numbers     map[launchtab.Control]int // in that order

	texts    map[launchtab.Control]string // of controls that are bound to nothing
	selected map[*launchtab.Widget]bool   // of buttons that are bound to nothing
	given    map[string]bool              // names of attributes that a user gave outside of the form
	standing map[string]bool              // names of those that every submission gives
	refused  map[string]refusal           // by the IDs of fields
	checked  map[string]bool              // rows that a user checked or unchecked, by their IDs

	launch func(*attribute.Environment) // gives it the program to run; may be nil
}

// A Page is a tab of the form.
type Page struct {
	Title    string
	Tooltip  string // with references unresolved
	Import   bool   // whether it is the one for scripts of the user
	Whole    bool   // whether the definition has no launch tab, and this is all attributes
	Controls []launchtab.Control

	state    *launchtab.ControlState
	columns  int // of its grid; 0 for none
	includes []launchtab.Reference
}

// New returns the form of a definition over an environment that holds its
// attributes. The form belongs to the environment: it changes the values there.
// A definition without launch tab gives a form without pages.
func New(definition *config.Definition, environment *attribute.Environment) *Form {
	f := over(definition, environment)
	f.initial = environment.Clone()
	return f
}

// over returns a form that nobody fills in: it does not keep the initial values.
func over(definition *config.Definition, environment *attribute.Environment) *Form {
	f := &Form{
		definition: definition, environment: environment,
		buttons: map[string]*launchtab.Widget{}, groups: map[*launchtab.Widget]*launchtab.ButtonGroup{}, numbers: map[launchtab.Control]int{},
		texts: map[launchtab.Control]string{}, selected: map[*launchtab.Widget]bool{},
		checked: map[string]bool{}, refused: map[string]refusal{},
	}
	if definition.LaunchTab == nil {
		return f
	}
	for _, tab := range definition.LaunchTab.Tabs {
		f.pages = append(f.pages, &Page{
			Title: tab.Title, Tooltip: tab.Tooltip.Text, Controls: tab.Controls,
			state: tab.State, columns: tab.Columns, includes: tab.IncludeFrom,
		})
	}
	if script := definition.LaunchTab.Import; script != nil {
		page := &Page{Title: script.Title, Import: true}
		if script.Viewer != nil {
			page.Controls = []launchtab.Control{script.Viewer}
		}
		f.pages = append(f.pages, page)
	}
	definition.LaunchTab.Walk(f.register)
	return f
}

// register numbers controls, and makes buttons known by their names; of two of
// one name the first counts.
func (f *Form) register(control launchtab.Control) {
	f.numbers[control] = len(f.numbers)
	name := func(button *launchtab.Widget) {
		if id := button.ButtonID.Name; id != "" && f.buttons[id] == nil {
			f.buttons[id] = button
		}
	}
	switch c := control.(type) {
	case *launchtab.Widget:
		name(c)
	case *launchtab.Viewer:
		f.viewers = append(f.viewers, c)
	case *launchtab.ButtonGroup:
		for _, button := range c.Buttons {
			f.groups[button] = c
			name(button)
		}
	}
}

// Pages returns the pages in their order; the one for scripts of the user, if
// there is one, comes last.
func (f *Form) Pages() []*Page { return f.pages }

// Definition returns the definition whose form this is.
func (f *Form) Definition() *config.Definition { return f.definition }

// Environment returns the environment that the form fills.
func (f *Form) Environment() *attribute.Environment { return f.environment }

// An UnknownPageError names a page that the form of a definition does not have.
type UnknownPageError struct {
	Definition string // with what it is
	Title      string
	Known      []string
}

func (e *UnknownPageError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("%s has no launch tab, so no tab %q", e.Definition, e.Title)
	}
	text := fmt.Sprintf("the launch tab of %s has no tab %q", e.Definition, e.Title)
	if near := wording.Nearest(e.Title, e.Known); near != "" {
		return fmt.Sprintf("%s\ndid you mean %q?", text, near)
	}
	return text + "; it has " + strings.Join(e.Known, ", ")
}

// Page returns the page of a title; blanks around it and its case do not
// matter. Without a title it is the page that a submission comes from that
// says nothing: the one for scripts if it has a script of its own, else the first;
// nil for a form without pages. The error is an *UnknownPageError.
func (f *Form) Page(title string, hasScript bool) (*Page, error) {
	if title == "" {
		return f.usualPage(hasScript), nil
	}
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) },
	} {
		for _, page := range f.pages {
			if same(page.Title, title) {
				return page, nil
			}
		}
	}
	unknown := &UnknownPageError{Definition: wording.Subject(f.definition.Name, f.definition.File, f.definition.Monitor.SchedulerType), Title: title}
	for _, page := range f.pages {
		unknown.Known = append(unknown.Known, page.Title)
	}
	return nil, unknown
}

func (f *Form) usualPage(hasScript bool) *Page {
	if len(f.pages) == 0 {
		return nil
	}
	if last := f.pages[len(f.pages)-1]; hasScript && last.Import {
		return last
	}
	return f.pages[0]
}
