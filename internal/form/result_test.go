package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

func set(t *testing.T, f *form.Form, page *form.Page, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(t, f.Set(find(t, f, page, pairs[i]), pairs[i+1], nil), pairs[i])
	}
}

func TestOnlyWhatASubmissionDoesNotHaveByItselfIsAResult(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		want []job.Assignment
	}{
		"nothing":                  {nil, nil},
		"the default":              {[]string{"Job name", "job"}, nil},
		"a text":                   {[]string{"Job name", "x"}, []job.Assignment{{Name: "name", Value: "x"}}},
		"no text":                  {[]string{"Job name", ""}, []job.Assignment{{Name: "name", Value: ""}}},
		"an item as it is shown":   {[]string{"size", "small"}, []job.Assignment{{Name: "size", Value: "small"}}},
		"a translated switch":      {[]string{"Mail", "true", "nodes", "3"}, []job.Assignment{{Name: "mail", Value: "true"}, {Name: "nodes", Value: "3"}}},
		"there and back again":     {[]string{"nodes", "3", "nodes", ""}, nil},
		"what a loose button does": {[]string{"File", "true"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(define(t, gridForm))
			set(t, f, f.Pages()[0], c.set...)
			require.Equal(t, c.want, f.Values(f.Pages()[0]))
		})
	}
}

func TestAValueBehindAButtonThatIsBoundToNothingIsAResult(t *testing.T) {
	f := newForm(define(t, gridForm))
	page := f.Pages()[0]
	set(t, f, page, "File", "true")
	path := f.Fields(page)[8]
	require.NoError(t, f.Set(path, "/x", nil))
	require.Equal(t, []job.Assignment{{Name: "file", Value: "/x"}}, f.Values(page))
	set(t, f, page, "File", "false")
	require.Empty(t, f.Values(page), "what does not count is left out")
}

func TestCheckedRowsAreResults(t *testing.T) {
	const content = `<items allPredefined="true"/><value pattern="@name=@value"/>`
	f := viewing(t, `initialAllChecked="false"`, content)
	page := f.Pages()[0]
	f.Check(find(t, f, page, "a"), true)
	f.Check(find(t, f, page, "c"), true)
	require.Equal(t, []job.Assignment{{Name: "a", Value: "1"}, {Name: "c", Value: "true"}}, f.Values(page), "although these are their defaults")

	f = viewing(t, ``, content)
	page = f.Pages()[0]
	f.Check(find(t, f, page, "a"), false)
	require.Equal(t, []job.Assignment{{Name: "a", Value: ""}}, f.Values(page), "which they would have by themselves")
}

func TestRowsOfWhatParsersFoundAreResults(t *testing.T) {
	definition := define(t, `<launch-tab><dynamic><title>T</title><viewer name="list" initialAllChecked="false"><items allDiscovered="true"/><value pattern="@name=@value"/></viewer></dynamic></launch-tab>`)
	env := environment(definition)
	found := attribute.New("btl")
	found.SetValue("tcp")
	env.Discover(found)
	f := form.New(definition, env)
	page := f.Pages()[0]
	require.Empty(t, f.Values(page))
	f.Check(find(t, f, page, "btl"), true)
	require.Equal(t, []job.Assignment{{Name: "btl", Value: "tcp"}}, f.Values(page))
}

func TestWhatWasGivenFromOutsideIsAResultUnlessAControlLeavesItOut(t *testing.T) {
	definition := define(t, sharing)
	f := newForm(definition)
	for _, name := range []string{"nowhere", "off"} {
		f.Environment().Lookup(name).SetValue("given")
	}
	f.Given(map[string]bool{"nowhere": true, "off": true})
	require.Equal(t, []job.Assignment{{Name: "nowhere", Value: "given"}}, f.Values(page(t, f, "Basic")))
}

func TestWhatATargetSetsIsNotRepeated(t *testing.T) {
	definition := define(t, sharing)
	env := environment(definition)
	env.Lookup("own").SetValue("of the target")
	env.Lookup("off").SetValue("of the target")
	f := form.New(definition, env)
	f.Standing(map[string]bool{"own": true, "off": true})
	require.Equal(t, []job.Assignment{{Name: "off", Value: ""}}, f.Values(page(t, f, "Basic")), "but what the form leaves out of it is")
}

func TestListsAreResultsElementByElement(t *testing.T) {
	f := newForm(define(t, `<attribute name="mail" type="java.util.List"/>`))
	set(t, f, f.Whole(), "mail", "a, b,")
	require.Equal(t, "a, b", find(t, f, f.Whole(), "mail").Text)
	require.Equal(t, []job.Assignment{{Name: "mail", Value: "a"}, {Name: "mail", Value: "b"}}, f.Values(f.Whole()))
}

func TestASwitchTranslatedIntoItsOppositeIsAResultAsStored(t *testing.T) {
	f := newForm(define(t, `<attribute name="no" translateBooleanAs="false,true"/>`))
	set(t, f, f.Whole(), "no", "true")
	require.Equal(t, []job.Assignment{{Name: "no", Value: "false"}}, f.Values(f.Whole()))
}

func TestAFormIsRenewedWithWhatCommandsFound(t *testing.T) {
	definition := define(t, gridForm)
	f := newForm(definition)
	page := f.Pages()[0]
	set(t, f, page, "Job name", "typed", "nodes", "3", "Mail", "true")
	fresh := environment(definition)
	fresh.Lookup("queues").SetValue([]string{"long"})
	fresh.Lookup("nodes").SetValue(5)
	f.Renew(fresh, "mail")
	require.Equal(t, "typed", find(t, f, page, "Job name").Text, "what was typed stays")
	require.Equal(t, "5", find(t, f, page, "nodes").Text, "what a command has set counts")
	require.Equal(t, []string{"long"}, find(t, f, page, "Queue").Items)
	require.False(t, find(t, f, page, "Mail").On, "what is to be forgotten is")
}
