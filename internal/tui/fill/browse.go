package fill

import (
	"fmt"
	"path"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/directory"
	"github.com/rmctl/rmctl/internal/tui"
)

// An overlay is a list over the form: of items, or of a folder.
type overlay struct {
	tui.List
	choose func(index int)
}

// overlayKey does what a key means in the list over the form. What is chosen may open
// another list.
func (s *screen) overlayKey(key tea.KeyPressMsg) {
	list := s.overlay
	if key.String() == "esc" {
		s.overlay = nil
	} else if chosen := list.Key(key, s.bodyHeight()); chosen >= 0 {
		s.overlay = nil
		list.choose(chosen)
	}
}

// itemList lists the items of a choice.
func (s *screen) itemList(e entry) *overlay {
	lines := slices.Clone(e.Items)
	if at := slices.Index(lines, ""); at >= 0 {
		lines[at] = "(nothing)"
	}
	return &overlay{
		List:   tui.List{Title: e.Label, Lines: lines, At: max(slices.Index(e.Items, e.Text), 0), Narrows: true},
		choose: func(index int) { s.choose(e, e.Items[index], nil) },
	}
}

// browse lists a folder for a path field, in the background.
func (s *screen) browse(e entry, folder string) {
	s.run("listing "+folder, func() tui.Apply {
		found, err := s.list(s.ctx, e, folder)
		return func() {
			if err != nil {
				s.complain(fmt.Errorf("cannot list the folder: %w", err))
				return
			}
			s.chooseFile(e, folder, found)
		}
	})
}

// chooseFile lists what is in a folder, to choose from or to open.
func (s *screen) chooseFile(e entry, folder string, found []directory.Entry) {
	var lines []string
	var chosen []func()
	add := func(line, name string, do func(name string)) {
		lines, chosen = append(lines, line), append(chosen, func() { do(path.Join(folder, name)) })
	}
	take := func(name string) { s.choose(e, browsed(e, name), s.stat(s.ctx)) }
	open := func(name string) { s.browse(e, name) }
	wantsFolder := e.Browse() != nil && e.Browse().Directory
	if wantsFolder {
		add("./  (this folder)", ".", take)
	}
	if folder != "/" {
		add("../", "..", open)
	}
	for _, one := range found {
		if one.Folder {
			add(one.Name+"/", one.Name, open)
		} else if !wantsFolder {
			add(one.Name, one.Name, take)
		}
	}
	s.overlay = &overlay{List: tui.List{Title: folder, Lines: lines, Narrows: true}, choose: func(index int) { chosen[index]() }}
}
