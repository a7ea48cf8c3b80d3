package fill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
)

// A screen is a form on the full screen: the model that Bubble Tea runs.
type screen struct {
	*Form
	ctx           context.Context // of what the form runs and lists
	work          tui.Work
	width, height int

	at      int     // which page is shown; the last one is the end
	fields  []entry // of that page, as they are now
	focus   int     // among the fields; -1 where there is nothing to do
	typing  tui.Input
	top     int // the first line of the page that is seen
	overlay *overlay

	message string // what happened last
	isError bool
	busy    string // what is under way in the background
	replace bool   // whether the user knows that saving replaces something

	prompt *tui.Prompt // of a connection, that waits until the user goes to it
}

// Show fills in the form on the full screen.
func (f *Form) Show(ctx context.Context, stdin io.Reader, terminal io.Writer) error {
	prompter := tui.NewPrompter()
	begin := func(ctx context.Context, work tui.Work) tea.Model { return newScreen(ctx, f, work) }
	return f.Questions.AskingAt(prompter, false, func() error { return tui.Show(ctx, stdin, terminal, begin, prompter.Serve) })
}

func newScreen(ctx context.Context, f *Form, work tui.Work) *screen {
	s := &screen{Form: f, ctx: ctx, work: work, width: 80, height: 24}
	for i, page := range f.pages() {
		if page == f.page {
			s.at = i
		}
	}
	s.turn(s.at)
	return s
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (s *screen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		return s, tea.ClearScreen // terminals move what they show when their size changes
	case tea.PasteMsg:
		if e, _ := s.focused(); s.busy == "" && s.overlay == nil && e.takesText() {
			s.typing.Insert(m.Content)
			s.store(e, s.typing.String(), nil)
		}
	case tea.KeyPressMsg:
		return s, s.key(m)
	case tui.Prompt:
		s.prompt = &m
	case tui.WithdrawnMsg:
		s.prompt = nil
	case tui.Apply:
		m()
	}
	return s, nil
}

// shownPage returns the page that is shown; nil for the last one.
func (s *screen) shownPage() *form.Page {
	if pages := s.pages(); s.at < len(pages) {
		return pages[s.at]
	}
	return nil
}

// turn shows a page. A page of the form is the one that a submission comes from until
// another one is shown.
func (s *screen) turn(page int) {
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

// refresh makes the fields again, since what was done may have shown, hidden or changed
// others. The focus stays on its field, or goes to the one that takes its place.
func (s *screen) refresh() {
	before, hadFocus := s.focused()
	s.fields = s.entries(s.shownPage())
	if !hadFocus {
		return
	}
	for i, e := range s.fields {
		if e.Same(before.Field) && e.IsInput() {
			s.focus = i
			return
		}
	}
	s.focus = min(s.focus, len(s.fields)) - 1
	s.move(1)
}

// focused returns the field that has the focus.
func (s *screen) focused() (entry, bool) {
	if s.focus < 0 || s.focus >= len(s.fields) {
		return entry{}, false
	}
	return s.fields[s.focus], true
}

// move takes the focus to the next field, or the one before, that can be used.
func (s *screen) move(step int) {
	for i := s.focus + step; i >= 0 && i < len(s.fields); i += step {
		if s.fields[i].IsInput() {
			s.leaveField()
			s.focus = i
			s.startTyping()
			return
		}
	}
}

func (s *screen) startTyping() {
	if e, ok := s.focused(); ok {
		s.typing = tui.NewInput(e.Text, e.Kind == form.Lines)
	}
}

// choose sets a field to something that was chosen, and shows it in the input.
func (s *screen) choose(e entry, text string, stat attribute.Stat) {
	s.store(e, text, stat)
	s.startTyping()
}

// store sets a field. What is typed is stored at once; files are looked up when the field
// is left.
func (s *screen) store(e entry, text string, stat attribute.Stat) {
	s.message, s.replace = "", false
	err := s.set(e, text, stat)
	var refused *attribute.InvalidError
	if err != nil && !errors.As(err, &refused) { // the field shows what was refused
		s.complain(err)
	}
	s.refresh()
}

func (s *screen) complain(err error) { s.message, s.isError = tui.OneLine(err.Error()), true }

// leaveField looks up the file that a validator wants, in the background.
func (s *screen) leaveField() {
	e, ok := s.focused()
	if !ok || e.own != nil || !e.takesText() || e.Problem != "" {
		return
	}
	name := s.form.File(e.Field, e.Text)
	if name == "" {
		return
	}
	stat, page := s.stat(s.ctx), s.shownPage()
	s.work(func() tui.Apply {
		info, err := stat(name)
		return func() {
			if now, ok := s.current(page, e); ok && now.Text == e.Text { // it may have been changed since
				s.store(now, now.Text, func(string) (fs.FileInfo, error) { return info, err })
			}
		}
	})
}

// run does something in the background; meanwhile the form can only be left.
func (s *screen) run(what string, do func() tui.Apply) {
	s.busy = what
	s.work(func() tui.Apply {
		apply := do()
		return func() {
			s.busy = ""
			apply()
		}
	})
}

// goToQuestion leaves the terminal to the question that waits.
func (s *screen) goToQuestion() tea.Cmd {
	if s.prompt == nil {
		return nil
	}
	prompt := s.prompt
	ask := func(io.Reader, io.Writer) error {
		ctx, cancel := context.WithCancel(prompt.Context)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		return answer(ctx, tui.Terminal(), prompt)
	}
	return tui.Away(s.ctx, ask, func(err error) {
		if err != nil { // the terminal could not be left, or not be taken back
			prompt.Reply("", fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err))
		}
		s.dismiss(prompt)
	})
}

// dismiss drops a question that was answered, unless another one waits by now.
func (s *screen) dismiss(prompt *tui.Prompt) {
	if s.prompt == prompt {
		s.prompt = nil
	}
}

// answer asks a question at a terminal, which may be nil.
func answer(ctx context.Context, terminal remote.Prompter, prompt *tui.Prompt) error {
	if terminal == nil {
		return errors.New("there is no terminal")
	}
	text, err := terminal.Ask(ctx, prompt.Question)
	prompt.Reply(text, err)
	return nil
}
