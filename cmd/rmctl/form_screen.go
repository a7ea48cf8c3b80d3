package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
)

// A formScreen is a form on a terminal: the model that Bubble Tea runs.
type formScreen struct {
	*filling
	title         string
	width, height int

	at      int     // which page is shown; the last one is the end
	fields  []entry // of that page, as they are now
	focus   int     // among the fields; -1 where there is nothing to do
	typing  lineEditor
	top     int // the first line of the page that is seen
	overlay *choiceList

	message string // what happened last
	isError bool
	busy    string // what is under way in the background
	replace bool   // whether the user was told that saving replaces something

	questions []*waitingQuestion // of connections, the oldest first

	background func(work func() tea.Msg) // runs work, and hands over the message it returns
}

// show fills in the form on a terminal.
func (f *filling) show(ctx context.Context, stdin io.Reader, terminal io.Writer) error {
	outer := f.ctx
	inner, cancel := context.WithCancel(ctx)
	f.ctx = inner
	s := newScreen(f)
	program := tea.NewProgram(s, tea.WithInput(stdin), tea.WithOutput(terminal), tea.WithoutSignalHandler())
	var running sync.WaitGroup
	s.background = func(work func() tea.Msg) {
		running.Go(func() { program.Send(work()) })
	}
	asker := &formPrompter{send: program.Send, answer: func(ctx context.Context, question remote.Question) (string, error) {
		prompter := newPrompter()
		if prompter == nil {
			return "", remote.ErrNobodyToAsk
		}
		return prompter.Ask(ctx, question)
	}}
	err := f.asked.askingAt(newVenue(asker, false), func() error { return tui.Run(ctx, program) })
	cancel() // what is still under way is of no more use
	running.Wait()
	f.ctx = outer
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("showing the form: %w", err)
	}
	return nil
}

func newScreen(f *filling) *formScreen {
	s := &formScreen{filling: f, title: oneLine(f.controller.Definition().Name), width: 80, height: 24}
	for i, page := range f.pages() {
		if page == f.page {
			s.at = i
		}
	}
	s.turn(s.at)
	return s
}

// Init implements [tea.Model].
func (s *formScreen) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (s *formScreen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.PasteMsg:
		if s.busy == "" && s.overlay == nil && s.isTyping() {
			s.typing.insert(m.Content)
			s.typed()
		}
	case tea.KeyPressMsg:
		return s, s.key(m)
	case askedMsg:
		s.questions = append(s.questions, m.waitingQuestion)
	case unaskedMsg:
		s.unask(m)
	case listedMsg:
		s.busy = ""
		s.listed(m)
	case pressedMsg:
		s.busy = ""
		s.pressed(m)
	case lookedUpMsg:
		s.lookedUp(m)
	}
	return s, nil
}

// shownPage returns the page that is shown; nil for the last one.
func (s *formScreen) shownPage() *form.Page {
	if pages := s.pages(); s.at < len(pages) {
		return pages[s.at]
	}
	return nil
}

// turn shows a page. A page of the form is the one that a submission comes from
// as long as no other one is turned to.
func (s *formScreen) turn(page int) {
	s.leaveField()
	count := len(s.pages()) + 1
	s.at = (page + count) % count
	if page := s.shownPage(); page != nil {
		s.page = page
	}
	s.top, s.focus, s.message, s.replace = 0, -1, "", false
	s.fields = s.entries(s.shownPage())
	s.move(1)
}

// refresh makes the fields anew, since what was done may have shown, hidden or
// changed others. The focus stays on its field, or goes to the one that takes
// its place.
func (s *formScreen) refresh() {
	before, focused := s.focused()
	s.fields = s.entries(s.shownPage())
	if !focused {
		return
	}
	for i, e := range s.fields {
		if e.same(before) && e.IsInput() {
			s.focus = i
			return
		}
	}
	s.focus = min(s.focus, len(s.fields)) - 1
	s.move(1)
}

// focused returns the field that has the focus.
func (s *formScreen) focused() (entry, bool) {
	if s.focus < 0 || s.focus >= len(s.fields) {
		return entry{}, false
	}
	return s.fields[s.focus], true
}

// move takes the focus to the next field, or the one before, that can be used.
func (s *formScreen) move(step int) {
	for i := s.focus + step; i >= 0 && i < len(s.fields); i += step {
		if s.fields[i].IsInput() {
			s.leaveField()
			s.focus = i
			s.startTyping()
			return
		}
	}
}

func (s *formScreen) startTyping() {
	if e, ok := s.focused(); ok {
		s.typing = newLineEditor(e.Text, e.Kind == form.Lines)
	}
}

// isTyping reports whether what is typed goes into the field with the focus.
func (s *formScreen) isTyping() bool {
	e, ok := s.focused()
	return ok && takesText(e)
}

func takesText(e entry) bool {
	switch e.Kind {
	case form.Text, form.Lines, form.Number:
		return !e.Fixed
	case form.Path:
		return !e.PickOnly
	case form.Choice:
		return e.Open
	case form.Row:
		return e.On && !e.Fixed && (e.Editor == attribute.TextEditor || e.Editor == attribute.NumberEditor || e.Editor == attribute.ListEditor)
	}
	return false
}

// typed stores what is in the editor. Files are looked up when the field is left.
func (s *formScreen) typed() {
	if e, ok := s.focused(); ok {
		s.store(e, s.typing.String(), nil)
	}
}

// put sets a field to something that was chosen, and shows it in the editor.
func (s *formScreen) put(e entry, text string, stat attribute.Stat) {
	s.store(e, text, stat)
	s.startTyping()
}

func (s *formScreen) store(e entry, text string, stat attribute.Stat) {
	s.message, s.replace = "", false
	err := s.set(e, text, stat)
	var refused *attribute.InvalidError
	if err != nil && !errors.As(err, &refused) {
		s.complain(err) // what was refused is shown beside the field
	}
	s.refresh()
}

func (s *formScreen) complain(err error) { s.message, s.isError = oneLine(err.Error()), true }

// A lookedUpMsg tells of the file that a field names.
type lookedUpMsg struct {
	page  *form.Page // that the field is on
	field entry
	text  string
	stat  attribute.Stat
}

// leaveField has the file looked up that a validator asks for, in the background.
func (s *formScreen) leaveField() {
	e, ok := s.focused()
	if !ok || e.own != "" || !takesText(e) || e.Problem != "" {
		return
	}
	name := s.form.File(e.Field, e.Text)
	if name == "" {
		return
	}
	look, page := s.stat(), s.shownPage()
	s.background(func() tea.Msg {
		info, err := look(name)
		return lookedUpMsg{page, e, e.Text, lookedUpAs(info, err)}
	})
}

func (s *formScreen) lookedUp(m lookedUpMsg) {
	for _, e := range s.entries(m.page) {
		if e.same(m.field) && e.Text == m.text { // it may have been changed since
			s.store(e, m.text, m.stat)
		}
	}
}

// work does something in the background; meanwhile the form can only be left.
func (s *formScreen) work(what string, do func() tea.Msg) {
	s.busy = what
	s.background(do)
}

// A pressedMsg tells how the command of a button ended.
type pressedMsg struct {
	label string
	renew func()
	err   error
}

func (s *formScreen) pressed(m pressedMsg) {
	if m.err != nil {
		s.complain(m.err)
		return
	}
	m.renew()
	s.refresh()
	s.startTyping()
	s.message, s.isError = oneLine(m.label)+": done", false
}
