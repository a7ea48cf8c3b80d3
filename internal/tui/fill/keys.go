package fill

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/tui"
)

// keyAnswer leaves the form for the question of a connection that waits.
const keyAnswer = "ctrl+g"

// key does what a key means where the user is.
func (s *screen) key(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c", name == "esc" && s.overlay == nil:
		s.Conclusion = leave
		return tea.Quit
	case name == keyAnswer:
		return s.goToQuestion()
	case name == "ctrl+z":
		return tea.Suspend
	case s.busy != "":
		return nil
	case s.overlay != nil:
		s.overlayKey(key)
		return nil
	}
	switch name {
	case "tab", "down":
		s.move(1)
	case "shift+tab", "up":
		s.move(-1)
	case "ctrl+n":
		s.turn(s.at + 1)
	case "ctrl+p":
		s.turn(s.at - 1)
	case "ctrl+s":
		s.turn(len(s.pages()))
	case "pgdown", "pgup":
		step := map[string]int{"pgdown": 1, "pgup": -1}[name]
		for range s.bodyHeight() - 1 { // about as many lines as are seen
			s.move(step)
		}
	default:
		if e, ok := s.focused(); ok {
			return s.fieldKey(e, key)
		}
	}
	return nil
}

// fieldKey does what a key means in the field with the focus.
func (s *screen) fieldKey(e entry, key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "enter", name == "space" && e.Kind == form.Button:
		return s.enter(e)
	case name == "ctrl+r" && e.own == nil:
		s.form.Restore(e.Field)
		s.refresh()
		s.startTyping()
	case e.Kind == form.Row && (name == "ctrl+t" || name == "space" && !s.isInText(e)):
		s.check(e, !e.On)
	case s.counts(e, name):
		s.count(e, name == "+")
	case e.takesText():
		if s.typing.Key(key) {
			s.store(e, s.typing.String(), nil)
		}
	default:
		s.pick(e, name)
	}
	return nil
}

// counts reports whether a key changes the number that is typed. A minus at its beginning
// is its sign.
func (s *screen) counts(e entry, name string) bool {
	return e.Kind == form.Number && e.takesText() && (name == "+" || name == "-" && !s.typing.IsAtStart())
}

// isInText reports whether a blank belongs to the value of a row rather than to its box:
// while the cursor is inside of a text.
func (s *screen) isInText(e entry) bool {
	return e.takesText() && e.Editor == form.TextEditor && !s.typing.IsAtStart()
}

func (s *screen) check(e entry, checked bool) {
	s.form.Check(e.Field, checked)
	s.refresh()
	s.startTyping()
}

// count makes a number larger or smaller by one.
func (s *screen) count(e entry, up bool) {
	number, err := strconv.Atoi(e.Text)
	switch {
	case err != nil:
		number = max(e.Least, 0)
	case up:
		number++
	default:
		number--
	}
	s.choose(e, strconv.Itoa(min(max(number, e.Least), e.Most)), nil)
}

// pick changes a field that is not typed into.
func (s *screen) pick(e entry, name string) {
	step := map[string]int{"left": -1, "right": 1}[name]
	switch {
	case e.Kind == form.Row && !e.On:
	case e.isSwitch() && (name == "space" || step != 0):
		s.choose(e, attribute.Text(!e.switchedOn()), nil)
	case len(e.Items) > 0 && step != 0:
		at := slices.Index(e.Items, e.Text) + step
		s.choose(e, e.Items[min(max(at, 0), len(e.Items)-1)], nil)
	case len(e.Items) > 0 && name == "space":
		s.overlay = s.itemList(e)
	case name == "backspace", name == "delete", name == "ctrl+u":
		if !e.isSwitch() && e.Kind != form.Button {
			s.choose(e, "", nil)
		}
	}
}

// enter opens what a field is chosen from, presses a button, or goes on.
func (s *screen) enter(e entry) tea.Cmd {
	switch {
	case e.Kind == form.Button && e.Action() == nil:
		return s.finish(e.conclusion)
	case e.Kind == form.Button:
		s.pressButton(e)
	case e.Kind == form.Path:
		s.browse(e, s.firstFolder(e))
	case e.Kind == form.Row && !e.On:
		s.check(e, true)
	case len(e.Items) > 0 && !(e.Kind == form.Row && e.Fixed):
		s.overlay = s.itemList(e)
	case e.Kind == form.Switch:
		s.choose(e, attribute.Text(!e.On), nil)
	default:
		s.move(1)
	}
	return nil
}

func (s *screen) pressButton(e entry) {
	run, err := s.press(s.ctx, e)
	if err != nil {
		s.complain(err)
		return
	}
	s.run(e.Label, func() tui.Apply {
		renew, err := run()
		return func() {
			if err != nil {
				s.complain(err)
				return
			}
			renew()
			s.refresh()
			s.startTyping()
			s.message, s.isError = tui.OneLine(e.Label)+": done", false
		}
	})
}

// finish does what a button of the last page says. If something is missing it says so, and
// the form stays.
func (s *screen) finish(how Conclusion) tea.Cmd {
	if how == leave {
		return tea.Quit
	}
	err := s.conclude(how, s.replace)
	if err == nil {
		return tea.Quit
	}
	s.complain(err)
	if isExisting(err) {
		s.message += "; press Save again to replace it"
		s.replace = true
	}
	return nil
}
