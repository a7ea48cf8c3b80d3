// Package fill lets a user fill in the launch tab of a definition at a terminal: on the
// full screen, or line by line for terminals that can do no more, screen readers and
// scripts. Both show the same entries and change them in the same way.
package fill

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// A Conclusion is what becomes of a form in the end.
type Conclusion int

// The conclusions.
const (
	leave Conclusion = iota
	Submit
	Print
	Save
)

// Options say what a form is for.
type Options struct {
	Controller    *control.Controller
	Target        string         // empty where nothing can be submitted
	Definition    string         // as the command line named it
	IsInteractive bool           // whether the job runs at the terminal
	Questions     *tui.Questions // of connections; nil where nobody asks
	Request       job.Submission // what the command line says

	// Place makes the paths of a submission absolute.
	Place func(job.Submission) (job.Submission, error)
	// Save stores a saved submission. The error is a
	// *settings.LaunchConfigurationExistsError if there is one that it may not replace.
	Save func(name string, s job.Submission, replace bool) error
}

// A Form is a form being filled in, and the submission that is to come of it.
type Form struct {
	Options
	Conclusion Conclusion // once it was shown
	Name       string     // of the saved submission

	form *form.Form
	page *form.Page // the submission comes from it

	program, arguments, directory, script string
}

// New returns a form that begins with what [control.Controller.Form] returned.
func New(o Options, filled *form.Form, page *form.Page) *Form {
	return &Form{
		Options: o, form: filled, page: page,
		program: o.Request.Executable, arguments: shellescape.QuoteCommand(o.Request.Arguments), directory: o.Request.Directory, script: o.Request.Script,
	}
}

// pages returns the pages of the form, without the last one for what is to be run.
func (f *Form) pages() []*form.Page {
	if pages := f.form.Pages(); len(pages) > 0 {
		return pages
	}
	return []*form.Page{f.form.Whole()}
}

// endTitle is the title of the last page.
func (f *Form) endTitle() string {
	switch {
	case f.Target == "":
		return "Finish"
	case f.IsInteractive:
		return "Run"
	}
	return "Submit"
}

// An entry is a field of the definition's form, or one of the last page.
type entry struct {
	form.Field
	own        *string    // what a text of ours edits; nil for a field of the definition
	conclusion Conclusion // of a button of ours
}

// entries returns what there is on a page; nil is the last one.
func (f *Form) entries(page *form.Page) []entry {
	if page == nil {
		return f.endEntries()
	}
	var entries []entry
	if page.Import {
		entries = append(entries, f.scriptEntry())
	}
	for _, field := range f.form.Fields(page) {
		entries = append(entries, entry{Field: field})
	}
	return entries
}

// current returns an entry of a page as it is now; ok is false if it is gone.
func (f *Form) current(page *form.Page, e entry) (now entry, ok bool) {
	entries := f.entries(page)
	at := slices.IndexFunc(entries, func(other entry) bool { return other.Same(e.Field) })
	if at < 0 {
		return e, false
	}
	return entries[at], true
}

func noteEntry(text string) entry {
	return entry{Field: form.Field{Kind: form.Note, Label: text, Enabled: true}}
}

func textEntry(own *string, label, hint string) entry {
	return entry{own: own, Field: form.Field{Kind: form.Text, Label: label, Text: *own, Hint: hint, Enabled: true}}
}

func buttonEntry(conclusion Conclusion, label, hint string) entry {
	return entry{conclusion: conclusion, Field: form.Field{Kind: form.Button, Label: label, Hint: hint, Enabled: true}}
}

func (f *Form) scriptEntry() entry {
	return textEntry(&f.script, "Script", "a file to submit instead of the generated script")
}

func (f *Form) endEntries() []entry {
	var entries []entry
	if !f.page.Whole {
		entries = append(entries, noteEntry(fmt.Sprintf("Include the values of the tab %q", f.page.Title)))
	}
	for _, problem := range f.problems() {
		entries = append(entries, noteEntry(problem))
	}
	entries = append(entries,
		textEntry(&f.program, "Program", "path or name"),
		textEntry(&f.arguments, "Arguments", "quoted as in a shell"),
		textEntry(&f.directory, "Directory", "working directory"),
	)
	if f.Controller.Definition.Script != nil && !f.page.Import {
		entries = append(entries, f.scriptEntry())
	}
	if f.Target != "" {
		entries = append(entries, buttonEntry(Submit, f.endTitle(), ""))
	}
	return append(entries,
		buttonEntry(Print, "Print the command line", ""),
		textEntry(&f.Name, "Save as", "name of the saved submission"),
		buttonEntry(Save, "Save", ""),
		buttonEntry(leave, "Leave", "without submitting"),
	)
}

// problems returns what was refused and still stands in the form.
func (f *Form) problems() []string {
	var texts []string
	for _, problem := range f.form.Problems(f.page) {
		texts = append(texts, fmt.Sprintf("%s: %s", problem.Name, problem.Reason))
	}
	return texts
}

// set gives an entry a text. The entry shows what is wrong with that.
func (f *Form) set(e entry, text string, stat attribute.Stat) error {
	if e.own == nil {
		return f.form.Set(e.Field, text, stat)
	}
	*e.own = text
	submission.ShowLaunch(f.form, f.launch())
	return nil
}

// launch returns the submission with what is to be run.
func (f *Form) launch() job.Submission {
	s := f.Request
	s.Executable, s.Arguments, s.Directory, s.Script = f.program, attribute.Words(f.arguments), f.directory, f.script
	return s
}

// Submission returns what is to be submitted. What was refused and still stands in the
// form is an error.
func (f *Form) Submission() (job.Submission, error) {
	if problems := f.problems(); len(problems) > 0 {
		return job.Submission{}, fmt.Errorf("the form is incomplete: %s", strings.Join(problems, "; "))
	}
	s := f.launch()
	if s.Executable == "" && len(s.Arguments) > 0 {
		return s, errors.New("arguments require a program")
	}
	s, err := f.Place(s)
	if err != nil {
		return s, err
	}
	return submission.Filled(s, f.form, f.page), nil
}

// conclude chooses what becomes of the form. An error says what is still missing.
func (f *Form) conclude(how Conclusion, replace bool) error {
	if how == Save && f.Name == "" {
		return errors.New("enter a name for the saved submission")
	}
	s, err := f.Submission()
	switch {
	case err != nil:
	case how == Submit && s.Executable == "" && s.Script == "":
		err = errors.New("nothing to run: enter a program or a script")
	case how == Save:
		err = f.Save(f.Name, s, replace)
	}
	if err == nil {
		f.Conclusion = how
	}
	return err
}

// isExisting reports whether an error says that a saved submission would be replaced.
func isExisting(err error) bool {
	var existing *settings.LaunchConfigurationExistsError
	return errors.As(err, &existing)
}

// CommandLine returns the command line that does the same, with these flags, quoted for a
// shell. It is empty unless the form was concluded.
func (f *Form) CommandLine(flags ...string) string {
	s, err := f.Submission()
	if err != nil {
		return ""
	}
	words := []string{"rmctl", "submit"}
	switch {
	case f.Target == "":
		words = []string{"rmctl", "render", f.Definition}
	case f.IsInteractive:
		words[1] = "run"
	}
	words = append(words, flags...)
	if f.Target != "" {
		words = append(words, "-t", f.Target)
	}
	if usual, err := f.form.Page("", s.Script != ""); err == nil && usual == f.page {
		s.Tab = ""
	}
	if here, err := os.Getwd(); err == nil && here == s.Directory {
		s.Directory = ""
	}
	return shellescape.QuoteCommand(append(words, s.Flags()...))
}

// press returns what runs the command of a button with what is filled in now. That may
// take its time; what it returns puts what the command found into the form.
func (f *Form) press(ctx context.Context, e entry) (run func() (renew func(), err error), err error) {
	button := e.Action()
	s, err := f.Submission()
	if err != nil {
		return nil, err
	}
	return func() (func(), error) {
		if _, err := f.Controller.Press(ctx, button, s); err != nil {
			return nil, err
		}
		if !button.Refresh {
			return func() {}, nil
		}
		environment, err := f.Controller.FormEnvironment(ctx)
		if err != nil {
			return nil, err
		}
		return func() { f.form.Renew(environment, button.ClearValue.Name) }, nil
	}, nil
}

// list returns what is in a folder: of this machine where the field wants that, otherwise
// of the target.
func (f *Form) list(ctx context.Context, e entry, folder string) ([]directory.Entry, error) {
	if browse := e.Browse(); browse == nil || !browse.LocalOnly {
		return f.Controller.List(ctx, folder)
	}
	return directory.ListHere(folder)
}

// stat looks files up for validators.
func (f *Form) stat(ctx context.Context) attribute.Stat {
	return f.Controller.Stat(ctx, job.Submission{Directory: f.directory})
}

// firstFolder is where a path field begins to look: where its path is, otherwise where the
// job is to run.
func (f *Form) firstFolder(e entry) string {
	text := strings.TrimPrefix(e.Text, "file://")
	if path.IsAbs(text) && !strings.Contains(text, "${") {
		return path.Dir(text)
	}
	return f.directory
}

// browsed returns the text that a path field takes for a path.
func browsed(e entry, chosen string) string {
	if browse := e.Browse(); browse != nil && browse.URI {
		return (&url.URL{Scheme: "file", Path: chosen}).String()
	}
	return chosen
}

// isSwitch reports whether an entry is on or off.
func (e entry) isSwitch() bool {
	return e.Kind == form.Switch || e.Kind == form.Row && e.Editor == form.SwitchEditor
}

// switchedOn reports whether a switch is on; of a row, On says whether it is checked.
func (e entry) switchedOn() bool {
	return e.Kind == form.Switch && e.On || e.Kind == form.Row && e.Text == "true"
}

// takesText reports whether an entry can be typed into.
func (e entry) takesText() bool {
	switch e.Kind {
	case form.Text, form.Lines, form.Number:
		return !e.Fixed
	case form.Path:
		return !e.PickOnly
	case form.Choice:
		return e.Open
	case form.Row:
		return e.On && !e.Fixed && (e.Editor == form.TextEditor || e.Editor == form.NumberEditor || e.Editor == form.ListEditor)
	}
	return false
}

// shown returns what the job gets of an entry.
func (e entry) shown() string {
	if e.Text == "" {
		return e.Default
	}
	return e.Text
}

// isNumber reports whether an entry holds a number.
func (e entry) isNumber() bool {
	return e.Kind == form.Number || e.Kind == form.Row && e.Editor == form.NumberEditor
}
