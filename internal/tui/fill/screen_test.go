package fill

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A driver presses keys of a form's screen, without a terminal.
type driver struct {
	*screen
	t        *testing.T
	pending  []func() tui.Apply // what was begun in the background
	quit     bool
	saved    []bool // for each time that the form was saved, whether it may replace
	saveFail error
}

func drive(t *testing.T, source []byte) *driver {
	t.Helper()
	definition, problems := check.Load("demo.xml", source, nil)
	require.NoError(t, problems.Err())
	t.Setenv("HOME", t.TempDir())
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	local, err := remote.NewLocal()
	require.NoError(t, err)
	controller := control.New(control.Options{Target: "demo", Definition: definition, Connection: local, Store: store})
	d := &driver{t: t}
	request := job.Submission{Executable: "./a.out", Directory: t.TempDir()}
	inner, page, err := controller.Form(context.Background(), request)
	require.NoError(t, err)
	f := New(Options{
		Controller: controller, Target: "demo", Definition: "demo.xml", Request: request, Place: inRoot,
		Save: func(_ string, _ job.Submission, replace bool) error {
			d.saved = append(d.saved, replace)
			return d.saveFail
		},
	}, inner, page)
	d.screen = newScreen(t.Context(), f, func(do func() tui.Apply) { d.pending = append(d.pending, do) })
	return d
}

// inRoot makes paths absolute.
func inRoot(s job.Submission) (job.Submission, error) {
	s.Directory = filepath.Join("/", s.Directory)
	if s.Script != "" {
		s.Script = filepath.Join("/", s.Script)
	}
	return s, nil
}

func demo(t *testing.T) *driver {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "form", "demo.xml"))
	require.NoError(t, err)
	return drive(t, source)
}

var namedKeys = map[string]tea.KeyPressMsg{
	"tab": {Code: tea.KeyTab}, "back": {Code: tea.KeyTab, Mod: tea.ModShift}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
	"space": {Code: ' ', Text: " "}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
	"end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
}

// press presses keys by name, such as tab and ctrl+n; other words are typed.
func (d *driver) press(keys ...string) {
	d.t.Helper()
	for _, name := range keys {
		if key, ok := namedKeys[name]; ok {
			d.one(key)
		} else if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
			d.one(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
		} else {
			for _, r := range name {
				d.one(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
	}
}

// one presses a key and waits for what it has begun.
func (d *driver) one(key tea.KeyPressMsg) {
	_, cmd := d.Update(key)
	if cmd != nil {
		_, quit := cmd().(tea.QuitMsg)
		d.quit = d.quit || quit
	}
	for len(d.pending) > 0 {
		work := d.pending[0]
		d.pending = d.pending[1:]
		d.Update(work())
	}
}

// shows demands lines of the screen, without styles, in their order.
func (d *driver) shows(lines ...string) {
	d.t.Helper()
	text := ansi.Strip(d.View().Content)
	rest := text
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line)
		require.True(d.t, found, "%q is not in this, or not in this order:\n%s", line, text)
		rest = after
	}
}

func (d *driver) lacks(text string) {
	d.t.Helper()
	require.NotContains(d.t, ansi.Strip(d.View().Content), text)
}

func TestAFormIsShownWithWhatCanBeDone(t *testing.T) {
	d := demo(t)
	d.shows("Demo cluster", "demo\n", "[Files and more] Numbers  Submit", "> Input         [", "]  input data", "  Output folder <>",
		"  Size          <small>", "  [ Find partitions ]", "  | run --size=small", "a file that must exist", "Enter browse", "Esc leave")
	require.NotNil(t, d.View().Cursor, "the terminal's own cursor stands where one types")
	d.press("tab", "tab")
	d.shows("> Size")
	require.Nil(t, d.View().Cursor)
}

func TestWhatIsTypedCountsAtOnce(t *testing.T) {
	d := demo(t)
	d.press("ctrl+n", "space")
	d.shows("> Send mail [x]", "  Address   [")
	d.press("tab", "someone@", "tab", "12")
	d.shows("Address   [someone@", "> Nodes     [12", "! the maximum is 8", "! the maximum is 8")
	d.press("backspace", "+")
	d.shows("> Nodes     [2")
	d.lacks("!")
	d.press("up", "up", "space")
	d.lacks("Address")
	d.press("ctrl+s")
	s, err := d.Submission()
	require.NoError(t, err)
	require.Equal(t, "Numbers", s.Tab)
	require.Equal(t, []job.Assignment{{Name: "mail", Value: "false"}, {Name: "nodes", Value: "2"}}, s.Values, "what is hidden does not count")
}

func TestItemsAreChosenFromAListOrStepByStep(t *testing.T) {
	d := demo(t)
	d.press("tab", "tab", "right", "right")
	d.shows("> Size          <large>", "| run --size=large")
	d.press("left", "enter")
	d.shows("Size", "  tiny", "> medium", "type to filter")
	d.press("hu")
	d.shows("holding hu", "> huge")
	d.lacks("tiny")
	d.press("enter")
	d.shows("<huge>")
	d.press("enter", "esc")
	d.shows("<huge>", "Esc leave")
	require.False(t, d.quit)
	d.press("backspace")
	d.shows("> Size          <>")
	d.press("ctrl+r")
	d.shows("> Size          <small>")
}

func TestPathsAreTypedOrChosen(t *testing.T) {
	d := demo(t)
	folder := d.directory
	require.NoError(t, os.Mkdir(filepath.Join(folder, "data"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "data", "in.dat"), nil, 0o600))

	d.press("nope", "tab")
	d.shows("  Input         [nope", "! there must be such a file")
	d.press("up", "ctrl+u", "nor this", "ctrl+s")
	d.shows("input: there must be such a file", "> Program")
	d.press("ctrl+n", "ctrl+u", "data/in.dat", "tab")
	d.lacks("!")
	d.press("up", "ctrl+u", "enter")
	d.shows(folder, "> ../", "  data/")
	d.press("down", "enter", "in.", "enter")
	d.shows("> Input         [", "/data/in.dat  ]")
	require.Equal(t, filepath.Join(folder, "data", "in.dat"), d.fields[0].Text)

	d.press("tab", "typed", "enter")
	d.shows("> ./  (this folder)", "  data/")
	d.press("data", "enter")
	d.lacks("in.dat")
	d.press("enter")
	require.Equal(t, filepath.Join(folder, "data"), d.fields[1].Text, "a folder that can only be chosen")
	d.press("backspace", "enter")
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "data")))
	d.press("data", "enter")
	d.shows("! cannot list the folder")
}

func TestButtonsRunTheirCommands(t *testing.T) {
	d := demo(t)
	d.press("tab", "tab", "tab", "tab", "tab", "enter")
	d.shows(`! button-action "fail" (sh) exited with code 3: broken`)
	d.press("up", "enter")
	d.shows("Find partitions: done")
	d.press("tab", "tab", "right")
	d.shows("> Partition     <day>", "| run --size=small --in --partition day")
}

func TestWhileACommandRunsTheFormCanOnlyBeLeft(t *testing.T) {
	d := demo(t)
	d.run("waiting", func() tui.Apply { return func() {} })
	d.pending = nil
	d.press("x", "tab")
	d.shows("> Input         [  ", "waiting ... (Esc leaves)")
	d.press("esc")
	require.True(t, d.quit)
}

func TestRowsAreUsedAndEdited(t *testing.T) {
	d := demo(t)
	d.press("ctrl+n", "tab", "tab")
	d.shows("Options", "> [ ] extra     (e)", "  [ ] size      (small)")
	d.press("space")
	d.shows("> [x] extra     [e")
	d.press(" x", "tab", "enter", "right")
	d.shows("  [x] extra     [e x", "> [x] size      <medium>")
	d.press("up", "ctrl+t")
	d.shows("> [ ] extra     (e x)")
	d.press("ctrl+s")
	s, err := d.Submission()
	require.NoError(t, err)
	require.Equal(t, []job.Assignment{{Name: "size", Value: "medium"}}, s.Values)
}

func TestADefaultThatIsMadeOfOtherValuesIsShownUntilAnotherTextIsTyped(t *testing.T) {
	d := drive(t, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="demo"><control-data>
		<attribute name="job-name"><default>${ptp_rm:executableName#value}</default></attribute><attribute name="other"/>
		<submit-batch name="submit"><arg>echo ${ptp_rm:job-name#value}</arg></submit-batch>
		<launch-tab><dynamic><title>Job</title><widget type="text" title="Name" attribute="job-name"/><widget type="text" title="Other" attribute="other"/></dynamic></launch-tab>
	</control-data></resource-manager-builder>`))
	d.shows("> Name  [a.out ")
	d.press("left", "backspace", "tab")
	d.shows("  Name  [a.out ")
	d.press("back", "mine")
	d.shows("> Name  [mine ")
	d.press("ctrl+u")
	d.shows("> Name  [a.out ")
	d.press("ctrl+s", "ctrl+u", "/opt/sums", "ctrl+p")
	d.shows("Name  [sums ")
	s, err := d.Submission()
	require.NoError(t, err)
	require.Empty(t, s.Values)
}

func TestTheEndSubmitsPrintsSavesOrLeaves(t *testing.T) {
	end := func(t *testing.T, name string) *driver {
		d := demo(t)
		d.press("ctrl+s")
		for range 10 {
			if e, _ := d.focused(); e.Label == name {
				return d
			}
			d.press("tab")
		}
		require.Fail(t, "no such field", name)
		return nil
	}
	for name, want := range map[string]Conclusion{"Submit": Submit, "Print the command line": Print, "Leave": leave} {
		d := end(t, name)
		d.press("enter")
		require.True(t, d.quit, name)
		require.Equal(t, want, d.Conclusion, name)
	}

	d := end(t, "Save")
	d.press("enter")
	require.False(t, d.quit)
	d.shows("! enter a name for the saved submission")
	d.press("up", "kept", "tab")
	d.saveFail = &settings.LaunchConfigurationExistsError{Name: "kept", File: "kept.toml"}
	d.press("enter")
	d.shows("press Save again")
	d.saveFail = nil
	d.press("enter")
	require.True(t, d.quit)
	require.Equal(t, []bool{false, true}, d.saved)

	d = end(t, "Program")
	d.press("ctrl+u", "tab", "tab", "tab", "enter")
	d.shows("! nothing to run")
	require.False(t, d.quit)

	d = demo(t)
	d.press("ctrl+n", "tab", "9", "ctrl+s")
	d.shows(`Include the values of the tab "Numbers"`, "nodes: the maximum is 8")
	d.press("tab", "tab", "tab", "enter")
	d.shows("! the form is incomplete: nodes: the maximum is 8")
	require.False(t, d.quit)
}

func TestTheTabForScriptsAsksForOne(t *testing.T) {
	d := drive(t, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="d"><control-data><attribute name="queue"/><attribute name="other"/>
		<script><line><arg>#!/bin/sh</arg></line></script><submit-batch name="s"><arg>true</arg></submit-batch>
		<launch-tab><dynamic><title>Basic</title><widget attribute="other"/></dynamic>
			<import title="Import"><export-for-override><items><include>queue</include></items></export-for-override></import></launch-tab>
		</control-data></resource-manager-builder>`))
	d.press("ctrl+n")
	d.shows("[Import]", "> Script", "[x] queue")
	d.press("job.sh", "tab", "long", "ctrl+s")
	d.lacks("Script  ")
	d.press("ctrl+u")
	s, err := d.Submission()
	require.NoError(t, err)
	require.Equal(t, filepath.Base(s.Script), "job.sh")
	require.Equal(t, "Import", s.Tab)
	require.Equal(t, []job.Assignment{{Name: "queue", Value: "long"}}, s.Values)
	require.NotContains(t, d.CommandLine(), "--tab", "a script comes from there by itself")
	d.press("ctrl+n")
	require.Contains(t, d.CommandLine(), "--tab Basic")
}

func TestEscAndCtrlCLeaveAnywhere(t *testing.T) {
	for _, keys := range [][]string{{"esc"}, {"ctrl+c"}, {"tab", "tab", "enter", "ctrl+c"}, {"ctrl+s", "esc"}} {
		d := demo(t)
		d.press(keys...)
		require.True(t, d.quit)
		require.Equal(t, leave, d.Conclusion)
	}
}

func TestAFormFitsIntoEveryTerminal(t *testing.T) {
	d := demo(t)
	for _, keys := range [][]string{{}, {"ctrl+n", "space", "tab", "a long address of somebody@somewhere.example.org"}, {"ctrl+s"}, {"ctrl+n", "tab", "tab", "enter"}} {
		d.press(keys...)
		for width := 1; width < 110; width += 7 {
			for height := 1; height < 30; height += 4 {
				d.Update(tea.WindowSizeMsg{Width: width, Height: height})
				lines := strings.Split(d.View().Content, "\n")
				require.LessOrEqual(t, len(lines), height)
				for _, line := range lines {
					require.LessOrEqual(t, ansi.StringWidth(line), width)
				}
			}
		}
	}
}

func TestTheFieldWithTheFocusIsInSight(t *testing.T) {
	d := demo(t)
	d.Update(tea.WindowSizeMsg{Width: 60, Height: 10})
	for range 6 {
		d.press("tab")
		d.shows("> ")
	}
	d.press("pgup")
	d.shows("> ")
	d.press("pgup", "pgup", "pgup")
	d.shows("> Input")
	d.press("pgdown", "pgdown", "pgdown")
	d.shows("> Partition")
}

func TestWhatIsPastedIsTyped(t *testing.T) {
	d := demo(t)
	d.Update(tea.PasteMsg{Content: "/a\tb\r\nc\x1b[31m"})
	require.Equal(t, "/a b c[31m", d.fields[0].Text)
	d.press("tab", "tab", "tab")
	d.Update(tea.PasteMsg{Content: "x\r\ny"})
	require.Equal(t, "x\ny", d.fields[3].Text, "where lines are, they stay")
	d.shows("[x↵y")
}

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "form", "demo.xml"))
	require.NoError(t, err)
	// A control character that XML allows; what schedulers print may hold any.
	d := drive(t, []byte(strings.ReplaceAll(string(source), "input data", "in\u009b31mput")))
	d.form.Environment().Lookup("queues").SetValue([]string{"a\x1b[2Jb"})
	d.form.Environment().Lookup("outdir").SetValue("x\x1b]0;title\x07y")
	d.form.Environment().Lookup("size").SetValue("\u009b2J")
	for _, keys := range [][]string{{"tab"}, {"tab"}, {"tab", "tab", "tab", "tab", "right", "enter"}, {"esc"}} {
		d.press(keys...)
		own := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(d.View().Content, "")
		require.NotContains(t, own, "\x1b")
		require.NotContains(t, own, "\u009b")
		require.NotContains(t, own, "\x07")
	}
}

func TestFieldsOfOneRowStandBesideEachOtherWhereThereIsRoom(t *testing.T) {
	d := drive(t, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="Demo"><control-data>
		<attribute name="first"/><attribute name="second"/><attribute name="third"/>
		<submit-batch name="submit"><arg>true</arg></submit-batch>
		<launch-tab><dynamic><title>Page</title><layout><grid-layout numColumns="4"/></layout>
			<widget type="label"><fixed-text>First:</fixed-text></widget><widget attribute="first"/>
			<widget type="label"><fixed-text>Second:</fixed-text></widget><widget attribute="second"/>
			<widget type="label"><fixed-text>Third:</fixed-text></widget><widget attribute="third"/>
		</dynamic></launch-tab></control-data></resource-manager-builder>`))
	d.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
	first, second := regexp.MustCompile(`> First .*\]  +Second .*\]`), regexp.MustCompile(`First .*\]  +> Second .*\[two`)
	require.Regexp(t, first, ansi.Strip(d.View().Content))
	d.press("tab", "two")
	require.Regexp(t, second, ansi.Strip(d.View().Content))
	require.Greater(t, d.View().Cursor.X, 60, "the cursor is where one types")
	require.Less(t, d.View().Cursor.X, 120)
	d.press("tab")
	d.shows("First", "\n> Third ")
	d.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.shows("  First ", "]\n  Second ", "[two", "]\n> Third ")
}
