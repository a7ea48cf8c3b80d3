package main

import (
	"fmt"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/control"
)

// A choiceList is a list that lies over the form: of items, or of a folder. What
// is typed leaves only the lines that hold it.
type choiceList struct {
	title  string
	lines  []string
	filter string
	at     int // among the lines that are shown
	choose func(index int)
}

// shown returns the indices of the lines that hold what was typed.
func (l *choiceList) shown() []int {
	var indices []int
	for i, line := range l.lines {
		if strings.Contains(strings.ToLower(line), strings.ToLower(l.filter)) {
			indices = append(indices, i)
		}
	}
	return indices
}

// key moves in the list. It reports whether the list is done with.
func (l *choiceList) key(key tea.KeyPressMsg, page int) (done bool) {
	shown := l.shown()
	switch key.String() {
	case "up", "shift+tab", "ctrl+p":
		l.at--
	case "down", "tab", "ctrl+n":
		l.at++
	case "pgup":
		l.at -= page
	case "pgdown":
		l.at += page
	case "home":
		l.at = 0
	case "end":
		l.at = len(shown) - 1
	case "backspace":
		if runes := []rune(l.filter); len(runes) > 0 {
			l.filter, l.at = string(runes[:len(runes)-1]), 0
		}
	case "enter":
		if len(shown) > 0 {
			l.choose(shown[l.at])
			return true
		}
	default:
		if key.Text != "" {
			l.filter, l.at = l.filter+key.Text, 0
		}
	}
	l.at = max(min(l.at, len(l.shown())-1), 0)
	return false
}

// itemList lists the items of a choice.
func (s *formScreen) itemList(e entry) *choiceList {
	l := &choiceList{title: e.Label, choose: func(index int) { s.put(e, e.Items[index], nil) }}
	for i, item := range e.Items {
		l.lines = append(l.lines, visible(item))
		if item == "" {
			l.lines[i] = "(nothing)"
		}
		if item == e.Text {
			l.at = i
		}
	}
	return l
}

// A listedMsg is what was found in a folder.
type listedMsg struct {
	field  entry
	folder string
	found  []control.Listed
	err    error
}

// browse lists a folder for a path field, in the background.
func (s *formScreen) browse(e entry, folder string) {
	s.overlay = nil
	s.work("listing "+folder, func() tea.Msg {
		found, err := s.list(e, folder)
		return listedMsg{e, folder, found, err}
	})
}

// folderList lists what is in a folder, to choose from or to go on to.
func (s *formScreen) folderList(m listedMsg) *choiceList {
	l := &choiceList{title: m.folder}
	var chosen []func()
	add := func(line string, choose func()) {
		l.lines, chosen = append(l.lines, line), append(chosen, choose)
	}
	take := func(name string) func() {
		return func() { s.put(m.field, browsed(m.field, path.Join(m.folder, name)), s.stat()) }
	}
	wantsFolder := m.field.Browse() != nil && m.field.Browse().Directory
	if wantsFolder {
		add("./  (this folder)", take("."))
	}
	if m.folder != "/" {
		add("../", func() { s.browse(m.field, path.Join(m.folder, "..")) })
	}
	for _, one := range m.found {
		if one.Folder {
			add(visible(one.Name)+"/", func() { s.browse(m.field, path.Join(m.folder, one.Name)) })
		} else if !wantsFolder {
			add(visible(one.Name), take(one.Name))
		}
	}
	l.choose = func(index int) { chosen[index]() }
	return l
}

func (s *formScreen) listed(m listedMsg) {
	if m.err != nil {
		s.complain(fmt.Errorf("the folder cannot be shown: %w", m.err))
		return
	}
	s.overlay = s.folderList(m)
}
