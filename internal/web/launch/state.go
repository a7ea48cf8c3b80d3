package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

// A State is the state of a launch form. The page carries it: the server keeps nothing
// between two requests, so a page continues to work after a restart of the server and
// when the user goes back to it.
type State struct {
	Tab         string // the title of the tab that is shown and submitted
	Program     string
	Arguments   string // quoted as in a shell
	Directory   string
	Script      string
	Environment string // NAME=VALUE on each line
	Further     string // name=value on each line, for attributes and portable names
	Debug       bool
	SaveAs      string
	Replace     bool
	Tag         string // of the submission that the page makes, a UUID

	Given []job.Assignment // the initial values, such as those of a saved submission
	Edits []Edit           // oldest first
}

// An Edit is a change of a field. The name of its input begins with ValueInput, or with
// CheckInput for the box that checks the row of a table.
type Edit struct {
	Input   string `json:"input"`
	Text    string `json:"text"`
	Refused bool   `json:"refused,omitempty"` // the field shows it, and keeps its value
}

const (
	ValueInput = "f."
	CheckInput = "c."
)

// maxLaunchEdits bounds the values of a page; no form has as many fields.
const maxLaunchEdits = 10_000

// Begin returns the initial state of a form for a submission.
func Begin(s job.Submission) State {
	l := State{
		Tab: s.Tab, Program: s.Executable, Directory: s.Directory, Script: s.Script, Debug: s.Debug,
		Given: s.Values, Tag: uuid.NewString(),
	}
	if len(s.Arguments) > 0 {
		l.Arguments = shellescape.QuoteCommand(s.Arguments)
	}
	var lines []string
	for _, variable := range s.Environment.Variables {
		lines = append(lines, variable.Name+"="+variable.Value)
	}
	l.Environment = strings.Join(lines, "\n")
	return l
}

// Posted reads the state that a page has sent, without the inputs of the definition's fields;
// see applyEdits.
func Posted(posted url.Values) (State, error) {
	text := func(name string) string { return AsPosted(posted.Get(name)) }
	l := State{
		Tab: posted.Get("tab"), Program: text("program"), Arguments: text("arguments"), Directory: strings.TrimSpace(text("directory")),
		Script: strings.TrimSpace(text("script")), Environment: text("environment"), Further: text("further"),
		Debug: last(posted["debug"]) == "true", SaveAs: strings.TrimSpace(text("save-as")), Replace: last(posted["replace"]) == "true", Tag: posted.Get("tag"),
	}
	if _, err := uuid.Parse(l.Tag); err != nil {
		return l, fmt.Errorf("invalid tag %.50q: use a UUID", l.Tag)
	}
	for name, into := range map[string]any{"given": &l.Given, "edits": &l.Edits} {
		if sent := posted.Get(name); sent != "" {
			if err := json.Unmarshal([]byte(sent), into); err != nil {
				return l, fmt.Errorf("invalid %q: %w", name, err)
			}
		}
	}
	if len(l.Edits) > maxLaunchEdits || len(l.Given) > maxLaunchEdits {
		return l, fmt.Errorf("the form has more than %d values", maxLaunchEdits)
	}
	return l, nil
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// AsPosted returns a text as a browser sends it back: with other line breaks, and without
// characters that HTML cannot hold.
func AsPosted(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// AsText returns texts, Given or Edits as the page carries them.
func AsText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "[]" // of texts alone, which all can be written
	}
	return string(text)
}

// note adds an edit. It replaces earlier edits of the input; a refused one keeps the last
// accepted one.
func (l *State) note(edit Edit) {
	l.Edits = slices.DeleteFunc(l.Edits, func(before Edit) bool {
		return before.Input == edit.Input && (before.Refused || !edit.Refused)
	})
	l.Edits = append(l.Edits, edit)
}

// Apply applies an edit to a form and keeps it.
func (l *State) Apply(f *form.Form, edit Edit, stat attribute.Stat) {
	edit.Refused = edit.apply(f, stat) != nil
	l.note(edit)
}

// submission returns the part of the submission that does not come from fields of the
// definition. If the page's input of a name is invalid, problem says why.
func (l *State) submission() (s job.Submission, input, problem string) {
	s = job.Submission{
		Executable: l.Program, Arguments: attribute.Words(l.Arguments), Directory: l.Directory, Script: l.Script,
		Tab: l.Tab, Debug: l.Debug, Tag: l.Tag,
	}
	for _, file := range []struct{ input, name string }{{"directory", l.Directory}, {"script", l.Script}} {
		if file.name != "" && !path.IsAbs(file.name) {
			return s, file.input, "enter an absolute path"
		}
	}
	if err := CheckScript(l.Script); err != nil {
		s.Script = "" // a preview would read it
		return s, "script", err.Error()
	}
	if s.Executable == "" && len(s.Arguments) > 0 {
		return s, "program", "arguments require a program"
	}
	variables, wrong := Assignments(l.Environment)
	if wrong != "" {
		return s, "environment", fmt.Sprintf("invalid %q: enter NAME=VALUE", wrong)
	}
	for _, variable := range variables {
		s.Environment.Variables = append(s.Environment.Variables, job.Variable(variable))
	}
	further, wrong := Assignments(l.Further)
	if wrong != "" {
		return s, "further", fmt.Sprintf("invalid %q: enter name=value", wrong)
	}
	s.Values = slices.DeleteFunc(slices.Clone(l.Given), func(one job.Assignment) bool {
		return slices.ContainsFunc(further, func(other job.Assignment) bool { return other.Name == one.Name })
	})
	s.Values = append(s.Values, further...)
	return s, "", ""
}

// CheckScript refuses existing files that cannot be scripts, such as a pipe: reading it might
// never end. A script that does not exist fails when it is read.
func CheckScript(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("the script %q is not a regular file", name)
	}
	return nil
}

// showGiven moves the initial values to the further values, where the user can correct them.
func (l *State) showGiven() {
	var lines []string
	for _, one := range l.Given {
		lines = append(lines, one.Name+"="+one.Value)
	}
	if l.Further != "" {
		lines = append(lines, l.Further)
	}
	l.Given, l.Further = nil, strings.Join(lines, "\n")
}

// Assignments reads lines of name=value and skips empty ones; wrong is the first invalid one.
func Assignments(text string) (all []job.Assignment, wrong string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name, value, found := strings.Cut(line, "=")
		switch {
		case strings.TrimSpace(line) == "":
		case !found || strings.TrimSpace(name) == "":
			return nil, line
		default:
			all = append(all, job.Assignment{Name: strings.TrimSpace(name), Value: value})
		}
	}
	return all, ""
}

// applyEdits applies the edits of the state to a form, then the inputs of a page: those that
// differ from the form become edits. Fields have the problems of refused values.
func (l *State) applyEdits(f *form.Form, posted url.Values, stat attribute.Stat) {
	for _, edit := range l.Edits {
		_ = edit.apply(f, stat) // the field shows what is wrong
	}
	shown := map[string]string{}
	for input := range posted {
		if text, known := shownBy(f, input); known {
			shown[input] = text
		}
	}
	for _, input := range slices.Sorted(maps.Keys(shown)) { // checks of rows first: they decide about the values of rows
		text := last(posted[input])
		if text = AsPosted(text); text != AsPosted(shown[input]) {
			l.Apply(f, Edit{Input: input, Text: text}, stat)
		}
	}
}

// shownBy returns the text of an input; known is false if the form has no such input.
func shownBy(f *form.Form, input string) (text string, known bool) {
	if id, isCheck := strings.CutPrefix(input, CheckInput); isCheck {
		field, found := f.Field(id)
		return attribute.Text(field.On), found && field.Kind == form.Row
	}
	id, isInput := strings.CutPrefix(input, ValueInput)
	field, found := f.Field(id)
	if !isInput || !found || field.Fixed || field.Kind == form.Button {
		return "", false
	}
	return field.Text, true
}

// apply applies an edit; the error says why the field refuses it. It ignores fields that the
// form does not have, since the definition may have changed.
func (e Edit) apply(f *form.Form, stat attribute.Stat) error {
	if _, known := shownBy(f, e.Input); !known {
		return nil
	}
	if id, isCheck := strings.CutPrefix(e.Input, CheckInput); isCheck {
		field, _ := f.Field(id)
		f.Check(field, e.Text == "true")
		return nil
	}
	field, _ := f.Field(strings.TrimPrefix(e.Input, ValueInput))
	return f.Set(field, e.Text, stat)
}
