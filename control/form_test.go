package control_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// probed reads a definition with one more command, whose input shows the values of attributes.
// It omits start-up commands, since their schedulers are not installed.
func probed(t *testing.T, file string) (definition *config.Definition, names []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	plain, err := config.Read(file, source, nil)
	require.NoError(t, err)
	var input strings.Builder
	seen := map[string]bool{}
	for _, a := range plain.Attributes {
		// Links, and references to facts known only at submission, have values that no form
		// shows.
		if a.Field(attribute.FieldLinkValueTo) != nil || strings.Contains(a.Text(attribute.FieldDefault), "${") || seen[a.Name()] {
			continue
		}
		seen[a.Name()] = true
		names = append(names, a.Name())
		fmt.Fprintf(&input, "<input>%s=[${ptp_rm:%s#value}]\n</input>", a.Name(), a.Name())
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(source), "<start-up-command", "<not-run"), "</start-up-command", "</not-run")
	text = strings.Replace(text, "</control-data>", `<button-action name="probe"><arg>true</arg>`+input.String()+`</button-action></control-data>`, 1)
	definition, err = config.Read(file, []byte(text), nil)
	require.NoError(t, err)
	return definition, names
}

// meddle does something to a field, such as a user might.
func meddle(random *rand.Rand, f *form.Form, field form.Field) {
	if field.Kind == form.Row {
		f.Check(field, random.IntN(2) == 0)
	}
	texts := []string{"", "1", "true", "false", "a b", "x='$y'", "${ptp_rm:nothing#value}", "10:00:00"}
	if len(field.Items) > 0 {
		texts = field.Items
	}
	if err := f.Set(field, texts[random.IntN(len(texts))], nil); err != nil {
		f.Forget(field)
	}
}

func TestASubmissionSendsTheShownValues(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "shared")), "definitions", "*.xml"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the definitions from the field are not in ../../shared; RMCTL_SHARED names their folder")
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, file := range files {
		definition, names := probed(t, file)
		if definition.LaunchTab == nil || definition.Submit(false) == nil {
			continue
		}
		site := newRenderer(t, definition)
		for _, tab := range definition.LaunchTab.Tabs {
			for round := range 6 {
				s := job.Submission{Executable: "./a.out", Tab: tab.Title}
				f, page, err := site.FormWithoutSession(t.Context(), s)
				require.NoError(t, err)
				for range round * 4 {
					pages := f.Pages()
					fields := f.Fields(pages[random.IntN(len(pages))])
					if len(fields) == 0 {
						continue
					}
					if field := fields[random.IntN(len(fields))]; field.IsInput() {
						meddle(random, f, field)
					}
				}
				filled := submission.Filled(s, f, page)
				rendering, err := site.Render(filled)
				require.NoError(t, err, "%s, tab %q: %v", file, tab.Title, filled.Values)
				f.Apply(page, nil)
				probe := rendering.Commands[len(rendering.Commands)-1]
				require.Equal(t, "probe", probe.Command.Name)
				got := probe.Input
				for _, name := range names {
					want, err := f.Environment().Resolve(fmt.Sprintf("%s=[${ptp_rm:%s#value}]\n", name, name), "")
					require.NoError(t, err)
					require.Contains(t, got, want, "%s, tab %q: %v", file, tab.Title, filled.Values)
				}
			}
		}
	}
}

func TestAFormHasTheFindingsOfTheSessionAndTheTargetsValues(t *testing.T) {
	definition := define(t, `<attribute name="queues" visible="false"/><attribute name="queue"/><attribute name="bound" visible="false"/>
		<start-up-command name="look"><arg>echo night</arg><stdout-parser delim="\n"><target ref="queues">
			<match><expression>(\w+)</expression><add field="value"><entry valueGroup="1"/></add></match></target></stdout-parser></start-up-command>
		<submit-batch name="s"><arg>x</arg></submit-batch>
		<launch-tab><dynamic><title>T</title><widget type="combo" readOnly="true" attribute="queue"><items-from>queues</items-from></widget></dynamic></launch-tab>`)
	site := newSite(t, definition, func(o *control.Options) { o.Defaults = values("queue", "day") })
	f, page, err := site.Form(t.Context(), job.Submission{})
	require.NoError(t, err)
	field := f.Fields(page)[0]
	require.Equal(t, []string{"night"}, field.Items)
	require.Equal(t, "day", field.Text)
	require.Empty(t, submission.Filled(job.Submission{}, f, page).Values)
	require.NoError(t, f.Set(field, "night", nil))
	require.Equal(t, values("queue", "night"), submission.Filled(job.Submission{}, f, page).Values)

	_, _, err = site.Form(t.Context(), job.Submission{Values: values("nothing", "1")})
	require.ErrorContains(t, err, "no such attribute")
	_, _, err = site.Form(t.Context(), job.Submission{Tab: "Nowhere"})
	require.ErrorContains(t, err, `no tab "Nowhere"`)
}

func TestAFormButtonRunsItsCommandWithTheEnteredValues(t *testing.T) {
	definition := define(t, `<attribute name="a"/><attribute name="found"><default>before</default></attribute>
		<submit-batch name="s"><arg>x</arg></submit-batch>
		<button-action name="look"><arg>echo "got ${ptp_rm:a#value}${ptp_rm:found#value}"</arg><stdout-parser delim="\n"><target ref="found">
			<match><expression>got (.*)</expression><set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser></button-action>
		<launch-tab><dynamic><title>T</title><widget attribute="a"/><widget attribute="found"/>
			<action title="Look"><button-action clearValue="found"><action>look</action></button-action></action><action title="Nothing"/></dynamic></launch-tab>`)
	site := newSite(t, definition)
	f, page, err := site.Form(t.Context(), job.Submission{Values: values("a", "typed")})
	require.NoError(t, err)
	fields := f.Fields(page)
	s := submission.Filled(job.Submission{}, f, page)
	_, err = site.Press(t.Context(), fields[2].Action(), s)
	require.NoError(t, err)
	fresh, err := site.FormEnvironment(t.Context())
	require.NoError(t, err)
	f.Renew(fresh, "found")
	require.Equal(t, "typed", f.Fields(page)[1].Text, "what the value was before had been taken away")

	_, err = site.Press(t.Context(), fields[3].Action(), s)
	require.ErrorContains(t, err, `the form's button "Nothing" has no action`)
}
