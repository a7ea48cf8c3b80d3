package main

import (
	"io/fs"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

// key does what a key means where the user is.
func (s *formScreen) key(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c", name == "esc" && s.overlay == nil:
		s.conclusion = concludeNothing
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
		s.leap(name == "pgdown")
	default:
		return s.fieldKey(key)
	}
	return nil
}

// overlayKey does what a key means in the list over the form, which it may close or
// replace by another.
func (s *formScreen) overlayKey(key tea.KeyPressMsg) {
	if key.String() == "esc" {
		s.overlay = nil
		return
	}
	if list := s.overlay; list.key(key, s.bodyHeight()) && s.overlay == list {
		s.overlay = nil
	}
}

// leap moves the focus by about as many lines as are seen.
func (s *formScreen) leap(down bool) {
	step := -1
	if down {
		step = 1
	}
	for range s.bodyHeight() - 1 {
		s.move(step)
	}
}

// fieldKey does what a key means in the field with the focus.
func (s *formScreen) fieldKey(key tea.KeyPressMsg) tea.Cmd {
	e, ok := s.focused()
	if !ok {
		return nil
	}
	name := key.String()
	switch {
	case name == "enter", name == "space" && e.Kind == form.Button:
		return s.enter(e)
	case name == "ctrl+r" && e.own == "":
		s.form.Restore(e.Field)
		s.refresh()
		s.startTyping()
	case e.Kind == form.Row && s.checksRow(name, e):
		s.check(e, !e.On)
	case e.Kind == form.Number && s.counts(name):
		s.count(e, name == "+")
	case s.isTyping():
		if s.typing.key(key) {
			s.typed()
		}
	default:
		s.pick(e, name)
	}
	return nil
}

// checksRow reports whether a key switches a row on or off: in a text the blank is
// part of the value.
func (s *formScreen) checksRow(name string, e entry) bool {
	return name == "ctrl+t" || name == "space" && !s.isInText(e)
}

// counts reports whether a key changes the number that is typed. A minus at its
// beginning is its sign.
func (s *formScreen) counts(name string) bool {
	return s.isTyping() && (name == "+" || name == "-" && s.typing.cursor > 0)
}

// isInText reports whether a blank belongs to the value of a row rather than to
// its box: while the cursor is inside of a text.
func (s *formScreen) isInText(e entry) bool {
	return takesText(e) && e.Editor == attribute.TextEditor && len(s.typing.text) > 0 && s.typing.cursor > 0
}

func (s *formScreen) check(e entry, checked bool) {
	s.form.Check(e.Field, checked)
	s.refresh()
	s.startTyping()
}

// count makes a number larger or smaller by one.
func (s *formScreen) count(e entry, up bool) {
	number, err := strconv.Atoi(e.Text)
	switch {
	case err != nil:
		number = max(e.Least, 0)
	case up:
		number++
	default:
		number--
	}
	s.put(e, strconv.Itoa(min(max(number, e.Least), e.Most)), nil)
}

// pick changes a field that is not typed into.
func (s *formScreen) pick(e entry, name string) {
	switch {
	case e.Kind == form.Row && !e.On:
	case e.isSwitch() && slices.Contains([]string{"space", "left", "right"}, name):
		s.put(e, attribute.Text(!e.switchedOn()), nil)
	case len(e.Items) > 0 && (name == "left" || name == "right"):
		step := 1
		if name == "left" {
			step = -1
		}
		at := slices.Index(e.Items, e.Text) + step
		s.put(e, e.Items[min(max(at, 0), len(e.Items)-1)], nil)
	case len(e.Items) > 0 && name == "space":
		s.overlay = s.itemList(e)
	case name == "backspace", name == "delete", name == "ctrl+u":
		if !e.isSwitch() && e.Kind != form.Button {
			s.put(e, "", nil)
		}
	}
}

// enter opens what a field is chosen from, presses a button, or goes on.
func (s *formScreen) enter(e entry) tea.Cmd {
	switch {
	case e.Kind == form.Button && e.own != "":
		return s.finish(e.own)
	case e.Kind == form.Button:
		s.pressButton(e)
	case e.Kind == form.Path:
		s.browse(e, s.firstFolder(e))
	case e.Kind == form.Row && !e.On:
		s.check(e, true)
	case len(e.Items) > 0 && !(e.Kind == form.Row && e.Fixed):
		s.overlay = s.itemList(e)
	case e.Kind == form.Switch:
		s.put(e, attribute.Text(!e.On), nil)
	default:
		s.move(1)
	}
	return nil
}

func (s *formScreen) pressButton(e entry) {
	run, err := s.press(e)
	if err != nil {
		s.complain(err)
		return
	}
	s.work(e.Label, func() tea.Msg {
		renew, err := run()
		return pressedMsg{e.Label, renew, err}
	})
}

// finish does what a button of the last page says. What is missing is said, and
// the form stays.
func (s *formScreen) finish(button ownField) tea.Cmd {
	var err error
	switch button {
	case ownLeave:
		return tea.Quit
	case ownSubmit:
		err = s.conclude(concludeSubmit, false)
	case ownPrint:
		err = s.conclude(concludePrint, false)
	case ownSave:
		err = s.conclude(concludeSave, s.replace)
		if isExisting(err) {
			s.complain(err)
			s.message += "; press Save again to replace it"
			s.replace = true
			return nil
		}
	}
	if err != nil {
		s.complain(err)
		return nil
	}
	return tea.Quit
}

// lookedUpAs returns a lookup that has been done already.
func lookedUpAs(info fs.FileInfo, err error) attribute.Stat {
	return func(string) (fs.FileInfo, error) { return info, err }
}
