package rms_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/rms"
)

// shippedForm reads a shipped definition with its form, each attribute having its default.
func shippedForm(t *testing.T, name string) *form.Form {
	t.Helper()
	source, shipped := rms.Source(name)
	require.True(t, shipped)
	definition, problems := check.Load(name+".xml", source, check.ReadBase)
	require.NoError(t, problems.Err())
	environment := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		a := defined.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		environment.Define(a.Name(), a)
	}
	return form.New(definition, environment)
}

// settable returns the names of the attributes that users may set.
func settable(definition *config.Definition) []string {
	var names []string
	for _, defined := range definition.Attributes {
		if defined.Visible() && !defined.ReadOnly() {
			names = append(names, defined.Name())
		}
	}
	slices.Sort(names)
	return names
}

// fieldsOf returns how often each attribute is shown on the pages of a form.
func fieldsOf(f *form.Form) map[string]int {
	shown := map[string]int{}
	for _, page := range f.Pages() {
		for _, field := range f.Fields(page) {
			if field.Name != "" {
				shown[field.Name]++
			}
		}
	}
	return shown
}

func TestFormsOfShippedDefinitionsLackNoAttribute(t *testing.T) {
	once := []string{"slurm", "slurm-interactive", "gridengine-interactive"} // others list all again in a table
	for _, name := range rms.Names() {
		f := shippedForm(t, name)
		require.NotEmpty(t, f.Pages(), "%s has no form", name)
		shown := fieldsOf(f)
		for _, each := range settable(f.Definition()) {
			require.NotZero(t, shown[each], "no tab of %s has %s", name, each)
			if slices.Contains(once, name) {
				require.Equal(t, 1, shown[each], "%s of %s", each, name)
			}
		}
	}
}

// Whichever tab was seen last, what was set on another one must not be lost.
func TestValuesOfAllTabsCount(t *testing.T) {
	for name, off := range map[string][]string{
		"slurm":                  nil,
		"slurm-interactive":      {"label", "unbuffered"}, // not with pty, which is on
		"gridengine-interactive": nil,
	} {
		f := shippedForm(t, name)
		for _, page := range f.Pages() {
			live := f.Live(page)
			for _, each := range settable(f.Definition()) {
				require.Equal(t, !slices.Contains(off, each), live[each], "%s of %s, from the tab %q", each, name, page.Title)
			}
		}
	}
}

func TestSlurmOffersPartitionsAndTakesOthers(t *testing.T) {
	f := shippedForm(t, "slurm")
	f.Environment().Lookup("queues").SetValue([]string{"short", "long-gpu.a"})
	for _, field := range f.Fields(f.Pages()[0]) {
		if field.Name == "partition" {
			require.Equal(t, []string{"short", "long-gpu.a"}, field.Items)
			require.True(t, field.Open, "several may be typed, separated by commas")
			return
		}
	}
	require.Fail(t, "the first tab has no partition")
}
