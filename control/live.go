package control

import (
	"slices"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// clearUnreachable takes the value from every visible attribute that the
// caller did not set and that no control of the form's first tab sets. Without
// a form every attribute counts as set by its default.
func (c *Controller) clearUnreachable(env *attribute.Environment, given map[string]bool) {
	reachable := reachableAttributes(c.definition)
	if reachable == nil {
		return
	}
	for _, defined := range c.definition.Attributes {
		name := defined.Name()
		if a := env.Variable(name); a.Visible() && !given[name] && !reachable(name) {
			a.SetValue(nil)
		}
	}
}

// reachableAttributes tells which attributes the controls of the form's first
// tab, and of the tabs whose values it includes, are bound to. It is nil for a
// definition without a form.
func reachableAttributes(d *config.Definition) func(name string) bool {
	if d.LaunchTab == nil || len(d.LaunchTab.Tabs) == 0 {
		return nil
	}
	first := d.LaunchTab.Tabs[0]
	tabs := []*config.Tab{first}
	for _, from := range first.IncludeFrom {
		if tab := d.LaunchTab.Tab(from.Name); tab != nil {
			tabs = append(tabs, tab)
		}
	}
	bound := map[string]bool{}
	var lists []*config.Viewer
	for _, tab := range tabs {
		tab.Walk(func(control config.Control) {
			bound[config.Bound(control).Name] = true
			if viewer, ok := control.(*config.Viewer); ok {
				lists = append(lists, viewer)
			}
		})
	}
	return func(name string) bool {
		return bound[name] || slices.ContainsFunc(lists, func(v *config.Viewer) bool { return v.Shows(name) })
	}
}
