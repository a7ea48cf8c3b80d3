package pages

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// sent returns what a browser sends of the inputs of a page's items.
func sent(items []launchItem, posted url.Values) url.Values {
	for _, item := range items {
		if item.Widget == "group" || item.Widget == "table" {
			sent(item.Items, posted)
			continue
		}
		if item.Kind == form.Row && item.Enabled {
			posted[item.Check()] = []string{attribute.Text(item.On)}
		}
		isInput := item.Input != "" && item.Widget != "button" && item.Widget != "computed"
		if isInput && !item.IsOff() {
			posted[item.Input] = []string{strings.ReplaceAll(launch.AsPosted(item.Text), "\n", "\r\n")}
		}
	}
	return posted
}

// A launchVisitor fills in the form of a definition by its page.
type launchVisitor struct {
	t          *testing.T
	controller *control.Controller
	state      launch.State
	shown      *launch.Tab
}

func (v *launchVisitor) posts(changes url.Values) {
	v.t.Helper()
	posted := sent(launchItems(v.shown.Form, v.shown.Form.Fields(v.shown.Page)), url.Values{})
	for name, values := range changes {
		posted[name] = values
	}
	for name, value := range map[string]any{"given": v.state.Given, "edits": v.state.Edits} {
		posted.Set(name, launch.AsText(value))
	}
	posted.Set("tab", v.state.Tab)
	posted.Set("tag", v.state.Tag)
	posted.Set("program", v.state.Program)
	var err error
	v.state, err = launch.Posted(posted)
	require.NoError(v.t, err)
	v.shown, err = launch.Open(v.t.Context(), v.controller, &v.state, posted)
	require.NoError(v.t, err)
}

func TestAPageGivesTheValuesThatTheFormOnATerminalGives(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	local, err := remote.NewLocal()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	random := rand.New(rand.NewPCG(5, 6))
	compared := 0
	for _, definition := range webtest.LaunchDefinitions(t, filepath.Join("..", "..", "..")) {
		controller := control.New(control.Options{Target: "here", Definition: definition, Connection: local, Store: store})
		for round := range 3 {
			s := job.Submission{Executable: "./a.out", Tag: uuid.NewString()}
			terminal, page, err := controller.Form(t.Context(), s)
			require.NoError(t, err, definition.File)
			v := &launchVisitor{t: t, controller: controller, state: launch.Begin(s)}
			v.shown, err = launch.Open(t.Context(), controller, &v.state, nil)
			require.NoError(t, err)
			v.posts(nil)
			require.Empty(t, v.state.Edits, "%s: a page that nothing was done on changes something", definition.File)
			for range round * 5 {
				if pages := terminal.Pages(); len(pages) > 0 {
					page = pages[random.IntN(len(pages))]
					require.NoError(t, v.shown.Turn(page.Title))
				}
				fields := slices.DeleteFunc(terminal.Fields(page), func(field form.Field) bool { return !field.IsInput() || field.Kind == form.Button })
				if len(fields) == 0 {
					continue
				}
				field := fields[random.IntN(len(fields))]
				if field.Kind == form.Row {
					terminal.Check(field, !field.On)
					v.posts(url.Values{launch.CheckInput + field.ID: {attribute.Text(!field.On)}})
					continue
				}
				text := textFor(random, field)
				if text == field.Text {
					continue // which nobody can do
				}
				_ = terminal.Set(field, text, nil) // where it is refused, both forms say so
				v.posts(url.Values{launch.ValueInput + field.ID: {text}})
			}
			require.Equal(t, submission.Filled(s, terminal, page).Values, v.shown.Submission().Values, "%s, round %d: %+v", definition.File, round, v.state.Edits)
			require.Equal(t, terminal.Problems(page), v.shown.Form.Problems(v.shown.Page), definition.File)
			if v.shown.Ready() == nil {
				rendered, err := controller.Render(fromFlags(v.shown.Submission().Flags()))
				preview := previewOf(v.shown, t.Context(), "here")
				require.Equal(t, err == nil, preview.Error == "", "%s: %v, %s", definition.File, err, preview.Error)
				if err == nil {
					require.Equal(t, rendered.Script, preview.Script, "%s: the command line gives another script", definition.File)
				}
			}
			compared++
		}
	}
	require.Greater(t, compared, 30)
}

// fromFlags returns what rmctl submit makes of flags and arguments.
func fromFlags(words []string) job.Submission {
	var s job.Submission
	for len(words) > 0 && words[0] != "--" {
		switch words[0] {
		case "--tab":
			s.Tab = words[1]
		case "-s":
			name, value, _ := strings.Cut(words[1], "=")
			s.Values = append(s.Values, job.Assignment{Name: name, Value: value})
		}
		words = words[2:]
	}
	if len(words) > 1 {
		s.Executable, s.Arguments = words[1], words[2:]
	}
	return s
}

// textFor returns a text such as a user might type or choose.
func textFor(random *rand.Rand, field form.Field) string {
	if len(field.Items) > 0 && !field.Open {
		return field.Items[random.IntN(len(field.Items))]
	}
	texts := []string{"", "1", "7", "a b", "x='$y'", `<b>"&amp;`, "${ptp_rm:nothing#value}", "10:00:00", "/tmp"}
	if field.Kind == form.Switch {
		texts = []string{"true", "false"}
	}
	return texts[random.IntN(len(texts))]
}

func TestEveryFormIsDrawnWithALabelForEveryInput(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	local, err := remote.NewLocal()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	widgets := map[string]int{}
	for _, definition := range webtest.LaunchDefinitions(t, filepath.Join("..", "..", "..")) {
		controller := control.New(control.Options{Target: "here", Definition: definition, Connection: local})
		filled, page, err := controller.FormWithoutSession(t.Context(), job.Submission{})
		require.NoError(t, err)
		pages := filled.Pages()
		if len(pages) == 0 {
			pages = []*form.Page{page}
		}
		for _, page := range pages {
			items := launchItems(filled, filled.Fields(page))
			drawn := string(h.Render(h.Map(items, launchItem.node)))
			labelled(t, items, drawn, widgets, fmt.Sprintf("%s, %s", definition.File, page.Title))
		}
	}
	for _, widget := range []string{"group", "table", "text", "lines", "switch", "number", "select", "combo", "radio", "path", "button", "note", "computed"} {
		require.Positive(t, widgets[widget], "no definition shows the widget %q; they show %v", widget, widgets)
	}
}

func TestADefaultThatIsMadeOfOtherValuesFollowsThemOnThePage(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	local, err := remote.NewLocal()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	definition, _, err := check.UsableDefinition("slurm")
	require.NoError(t, err)
	definition.Commands = slices.DeleteFunc(slices.Clone(definition.Commands), func(c *config.Command) bool { return c.Element == config.StartUpCommand })
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	v := &launchVisitor{t: t, controller: control.New(control.Options{Target: "here", Definition: definition, Connection: local, Store: store})}
	v.state = launch.Begin(job.Submission{Executable: "/opt/sums", Directory: "/home/ada", Tag: uuid.NewString()})
	v.shown, err = launch.Open(t.Context(), v.controller, &v.state, nil)
	require.NoError(t, err)
	draws := func(placeholder string) {
		t.Helper()
		drawn := string(h.Render(h.Map(launchItems(v.shown.Form, v.shown.Form.Fields(v.shown.Page)), launchItem.node)))
		require.NotContains(t, drawn, "${")
		require.Equal(t, placeholder != "", strings.Contains(drawn, "placeholder="))
		require.Contains(t, drawn, placeholder)
	}
	draws(`value="" spellcheck="false" placeholder="sums"`)
	v.state.Program = `./a "b".out`
	v.posts(nil)
	draws(`placeholder="a__b_.out"`)
	v.state.Program = ""
	v.posts(nil)
	draws("")
	require.Empty(t, v.state.Edits)
}

// labelled fails for an input that is drawn without a name for who does not see
// where it stands.
func labelled(t *testing.T, items []launchItem, drawn string, widgets map[string]int, where string) {
	t.Helper()
	for _, item := range items {
		widgets[item.Widget]++
		switch item.Widget {
		case "group", "table":
			labelled(t, item.Items, drawn, widgets, where)
		case "note", "computed":
		case "button":
			require.NotEmpty(t, strings.TrimSpace(item.Label), "%s: a button says nothing", where)
		case "radio":
			require.Equal(t, len(item.Options), strings.Count(drawn, `<label id="`+item.DOM+`-`), "%s: %s", where, item.Name)
		default:
			require.Equal(t, 1, strings.Count(drawn, `<label for="`+item.DOM+`">`), "%s: the input of %q (%q) has no label", where, item.Name, item.Label)
			require.NotEmpty(t, strings.TrimSpace(item.Label), "%s: the label of %q is empty", where, item.Name)
		}
	}
}

func TestFieldsThatShareARowTakeTheirShareOfIt(t *testing.T) {
	parts := func(spans ...int) []string {
		items := []launchItem{{Field: form.Field{}}}
		for _, span := range spans {
			items = append(items, launchItem{Field: form.Field{Row: 7, Span: span}})
		}
		items = append(items, launchItem{Field: form.Field{Row: 8, Span: 1}})
		setBeside(items)
		var classes []string
		for _, item := range items[:len(spans)+1] {
			classes = append(classes, strings.TrimPrefix(item.Part, " launch-part launch-part-"))
		}
		return classes
	}
	require.Equal(t, []string{"", "6 launch-first", "6"}, parts(1, 1))
	require.Equal(t, []string{"", "8 launch-first", "4"}, parts(2, 1))
	require.Equal(t, []string{"", "10 launch-first", "1", "1"}, parts(100, 1, 1), "each has a part")
	require.Equal(t, []string{"", "1 launch-first", "1", "10"}, parts(1, 1, 100))
	require.Equal(t, []string{"", "", "", "", "", ""}, parts(1, 1, 1, 1, 1), "as many are too narrow")
	require.Equal(t, []string{"", ""}, parts(3))
}
