package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// A conclusion is what becomes of a form in the end.
type conclusion int

const (
	concludeNothing conclusion = iota // it was left
	concludeSubmit
	concludePrint
	concludeSave
)

// A filling is a form being filled in, and the submission that is to come of it.
type filling struct {
	ctx         context.Context // of the command, for what the form runs and lists
	controller  *control.Controller
	target      string // empty where nothing can be submitted
	definition  string // as the command line named it
	interactive bool
	asked       *questions     // of connections; nil where nobody is asked
	request     job.Submission // what the command line said
	given       job.Submission // the same, before it was completed

	form *form.Form
	page *form.Page // the submission comes from it

	program, arguments, directory, script string
	saveAs                                string
	save                                  func(replace bool) error
	conclusion                            conclusion
}

// start takes what the command line said to run into the fields for it.
func (f *filling) start() {
	f.program, f.directory, f.script = f.request.Executable, f.request.Directory, f.request.Script
	f.arguments = shellescape.QuoteCommand(f.request.Arguments)
}

// The pages of the form, and at last one for what is to be run.
func (f *filling) pages() []*form.Page {
	pages := f.form.Pages()
	if len(pages) == 0 {
		pages = []*form.Page{f.form.Whole()}
	}
	return pages
}

// endTitle is the title of the last page.
func (f *filling) endTitle() string {
	if f.target == "" {
		return "Finish"
	}
	if f.interactive {
		return "Run"
	}
	return "Submit"
}

// An own field is one of the last page, which is not of the definition.
type ownField string

const (
	ownProgram   ownField = "program"
	ownArguments ownField = "arguments"
	ownDirectory ownField = "directory"
	ownScript    ownField = "script"
	ownSaveAs    ownField = "save as"
	ownSubmit    ownField = "submit"
	ownPrint     ownField = "print"
	ownSave      ownField = "save"
	ownLeave     ownField = "leave"
)

// An entry is a field of the form, or one of the last page.
type entry struct {
	form.Field
	own ownField
}

func (e entry) same(other entry) bool { return e.own == other.own && e.Same(other.Field) }

// entries returns what there is on a page; nil is the last one.
func (f *filling) entries(page *form.Page) []entry {
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

// ownEntry returns a field that is not of the definition.
func ownEntry(own ownField, kind form.Kind, label, value, hint string) entry {
	return entry{own: own, Field: form.Field{Kind: kind, Label: label, Text: value, Hint: hint, Enabled: true}}
}

func (f *filling) scriptEntry() entry {
	return ownEntry(ownScript, form.Text, "Script", f.script, "a file to submit instead of a script that is made")
}

func (f *filling) endEntries() []entry {
	var entries []entry
	if !f.page.Whole {
		entries = append(entries, ownEntry("", form.Note, fmt.Sprintf("With the values of the tab %q", f.page.Title), "", ""))
	}
	for _, problem := range f.form.Problems(f.page) {
		entries = append(entries, ownEntry("", form.Note, fmt.Sprintf("%s: %s", problem.Name, problem.Reason), "", ""))
	}
	entries = append(entries,
		ownEntry(ownProgram, form.Text, "Program", f.program, "what the job runs"),
		ownEntry(ownArguments, form.Text, "Arguments", f.arguments, "quoted as in a shell"),
		ownEntry(ownDirectory, form.Text, "Directory", f.directory, "where it runs"),
	)
	if f.controller.Definition().Script != nil && !f.page.Import {
		entries = append(entries, f.scriptEntry())
	}
	if f.target != "" {
		entries = append(entries, ownEntry(ownSubmit, form.Button, f.endTitle(), "", ""))
	}
	return append(entries,
		ownEntry(ownPrint, form.Button, "Print the command line", "", ""),
		ownEntry(ownSaveAs, form.Text, "Save as", f.saveAs, "the name of a launch configuration"),
		ownEntry(ownSave, form.Button, "Save", "", ""),
		ownEntry(ownLeave, form.Button, "Leave", "", "without submitting"),
	)
}

// set gives an entry a text. What is wrong with it is shown by the entry.
func (f *filling) set(e entry, text string, stat attribute.Stat) error {
	switch e.own {
	case "":
		return f.form.Set(e.Field, text, stat)
	case ownProgram:
		f.program = text
	case ownArguments:
		f.arguments = text
	case ownDirectory:
		f.directory = text
	case ownScript:
		f.script = text
	case ownSaveAs:
		f.saveAs = text
	}
	s := f.request
	s.Executable, s.Arguments, s.Directory, s.Script = f.program, attribute.Words(f.arguments), f.directory, f.script
	f.controller.ShowLaunch(f.form, s)
	return nil
}

// submission returns what is to be submitted. What was refused and still stands
// in the form is an error.
func (f *filling) submission() (job.Submission, error) {
	if problems := f.form.Problems(f.page); len(problems) > 0 {
		texts := make([]string, len(problems))
		for i, problem := range problems {
			texts[i] = fmt.Sprintf("%s: %s", problem.Name, problem.Reason)
		}
		return job.Submission{}, usage("the form cannot be used yet: %s", strings.Join(texts, "; "))
	}
	s := f.request
	s.Executable, s.Arguments, s.Directory, s.Script = f.program, attribute.Words(f.arguments), f.directory, f.script
	if s.Executable == "" && len(s.Arguments) > 0 {
		return s, usage("there are arguments, but no program")
	}
	s, err := placed(s, f.request.Directory == "") // which it is on another machine alone
	if err != nil {
		return s, err
	}
	return submission.Filled(s, f.form, f.page), nil
}

// runnable refuses to go on without anything to run.
func (f *filling) runnable() error {
	s, err := f.submission()
	if err != nil {
		return err
	}
	if s.Executable == "" && s.Script == "" {
		return usage("there is nothing to run: name a program or a script")
	}
	return nil
}

// conclude chooses what becomes of the form. An error tells what is still missing.
func (f *filling) conclude(how conclusion, replace bool) error {
	var err error
	switch how {
	case concludeSubmit:
		err = f.runnable()
	case concludePrint:
		_, err = f.submission()
	case concludeSave:
		if f.saveAs == "" {
			return errors.New("name the launch configuration first")
		}
		err = f.save(replace)
	}
	if err == nil {
		f.conclusion = how
	}
	return err
}

// commandLine returns the command line that does the same, quoted for a shell.
func (f *filling) commandLine(a *app) string {
	s, err := f.submission()
	if err != nil {
		return "" // conclude has seen to that
	}
	words := []string{"rmctl", "submit"}
	switch {
	case f.target == "":
		words = []string{"rmctl", "render", f.definition}
	case f.interactive:
		words[1] = "run"
	}
	option := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	option("--config", a.configFolder)
	option("--state", a.stateFolder)
	option("-t", f.target)
	if usual, err := f.form.Page("", s.Script != ""); err == nil && usual == f.page {
		s.Tab = ""
	}
	if here, err := os.Getwd(); err == nil && here == s.Directory {
		s.Directory = ""
	}
	words = append(words, s.Flags()...)
	return shellescape.QuoteCommand(words)
}

// press returns what runs the command of a button of the form with what is
// filled in now. That may take its time; what it returns puts what the command
// found into the form.
func (f *filling) press(e entry) (run func() (renew func(), err error), err error) {
	button := e.Action()
	s, err := f.submission()
	if err != nil {
		return nil, err
	}
	return func() (func(), error) {
		if _, err := f.controller.Press(f.ctx, button, s); err != nil {
			return nil, err
		}
		if !button.Refresh {
			return func() {}, nil
		}
		environment, err := f.controller.FormEnvironment(f.ctx)
		if err != nil {
			return nil, err
		}
		return func() { f.form.Renew(environment, button.ClearValue.Name) }, nil
	}, nil
}

// browsed returns the text that a path field takes for a path.
func browsed(e entry, chosen string) string {
	if browse := e.Browse(); browse != nil && browse.URI {
		return (&url.URL{Scheme: "file", Path: chosen}).String()
	}
	return chosen
}

// list returns what is in a folder: of this machine where the field wants that,
// else of the target.
func (f *filling) list(e entry, folder string) ([]control.Listed, error) {
	if browse := e.Browse(); browse == nil || !browse.LocalOnly {
		return f.controller.List(f.ctx, folder)
	}
	found, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	entries := make([]control.Listed, 0, len(found))
	for _, one := range found {
		entries = append(entries, control.Listed{Name: one.Name(), Folder: one.IsDir()})
	}
	control.SortListed(entries)
	return entries, nil
}

// stat looks files up for validators.
func (f *filling) stat() attribute.Stat {
	return f.controller.Stat(f.ctx, job.Submission{Directory: f.directory})
}

// firstFolder is where a path field begins to look: where its path is, else
// where the job is to run.
func (f *filling) firstFolder(e entry) string {
	text := strings.TrimPrefix(e.Text, "file://")
	if path.IsAbs(text) && !strings.Contains(text, "${") {
		return path.Dir(text)
	}
	return f.directory
}

// isExisting reports whether an error tells that a launch configuration would be
// replaced.
func isExisting(err error) bool {
	var existing *settings.LaunchConfigurationExistsError
	return errors.As(err, &existing)
}
