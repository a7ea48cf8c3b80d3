package watch

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// key does what a key means where the user is. It never takes long.
func (d *display) key(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c" && d.prompt == nil:
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case name == "ctrl+l":
		return tea.ClearScreen
	case d.prompt != nil:
		d.promptKey(key)
	case d.withdrawn != nil:
		if name == "enter" || name == "esc" {
			d.withdrawn = nil
		}
	case d.question != nil:
		return d.questionKey(name)
	case d.menu != nil:
		return d.menuKey(key)
	case d.typing:
		d.searchKey(key)
	case d.pager != nil:
		d.pagerKey(name)
	case d.detail != nil:
		return d.detailKey(name)
	default:
		return d.listKey(name)
	}
	return nil
}

// insert puts in what is pasted. Of several lines the first counts.
func (d *display) insert(text string) {
	line, _, _ := strings.Cut(text, "\n")
	paste := func(in *tui.Input) { in.Insert(strings.ReplaceAll(line, "\t", "")) }
	switch {
	case d.prompt != nil:
		d.typed = typedOn(d.typed, paste)
	case d.typing:
		d.searchFor(typedOn(d.search, paste))
	}
}

// longestTyped bounds what is typed, in bytes.
const longestTyped = 4096

// typedOn is a text that is edited at its end.
func typedOn(before string, edit func(*tui.Input)) string {
	in := tui.NewInput(before, false)
	edit(&in)
	if text := in.String(); len(text) <= longestTyped || len(text) < len(before) {
		return tui.WithoutMarks(text)
	}
	return before
}

// showPrompt shows the question of a connection once nothing is typed that was meant
// for something else: it would be taken for the answer.
func (d *display) showPrompt() {
	if d.waiting == nil || d.prompt != nil || d.withdrawn != nil || d.question != nil || d.menu != nil || d.typing {
		return
	}
	d.prompt, d.waiting, d.typed = d.waiting, nil, ""
}

// withdraw removes a question that nobody waits for any more. The user may still be
// typing the answer, such as a password. It must not act as keys or answer the next
// question, so it is ignored until Enter or Esc.
func (d *display) withdraw() {
	if d.waiting != nil {
		d.waiting = nil
		return
	}
	if d.prompt != nil {
		d.withdrawn, d.prompt, d.typed = d.prompt, nil, ""
	}
}

// promptKey takes the answer to a question of a connection.
func (d *display) promptKey(key tea.KeyPressMsg) {
	switch key.String() {
	case "enter":
		d.prompt.Reply(d.typed, nil)
	case "esc", "ctrl+c":
		d.prompt.Reply("", fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, tui.ErrNotAnswered))
	default:
		d.typed = typedOn(d.typed, func(in *tui.Input) { in.Key(key) })
		return
	}
	d.prompt, d.typed = nil, ""
}

func (d *display) searchKey(key tea.KeyPressMsg) {
	switch key.String() {
	case "enter", "up", "down", "tab":
		d.typing = false
	case "esc":
		d.typing = false
		d.searchFor("")
	default:
		d.searchFor(typedOn(d.search, func(in *tui.Input) { in.Key(key) }))
	}
}

// searchFor narrows the list down to the rows that hold all words of a text.
func (d *display) searchFor(text string) {
	d.search = text
	words := strings.Fields(strings.ToLower(text))
	if !slices.Equal(words, d.table().query.words) {
		d.narrow(func(q *query) { q.words = words }, d.table())
	}
}

// listKey does what a key means in a list.
func (d *display) listKey(name string) tea.Cmd {
	if d.moveKey(name) || d.filterKey(name) {
		return nil
	}
	t := d.table()
	switch name {
	case "q":
		return tea.Quit
	case "?", "f1":
		d.pager = helpPager(d.width)
	case "e":
		d.pager = saidPager(d.messages, d.width)
	case "E":
		d.showEnsembles()
	case "enter":
		d.open()
	case "space":
		t.mark()
	default:
		return d.rowKey(name, t.chosen())
	}
	return nil
}

// moveKey goes to another list, row or column. It reports whether the key is for that.
func (d *display) moveKey(name string) bool {
	t := d.table()
	switch name {
	case "1", "2", "3", "4":
		d.turn(int(name[0] - '1'))
	case "tab":
		d.turn(d.list + 1)
	case "shift+tab":
		d.turn(d.list - 1)
	case "left":
		d.side(-1)
	case "right":
		d.side(1)
	case "home", "g":
		t.move(-len(t.answer.rows))
	case "end", "G":
		t.move(len(t.answer.rows))
	case "space": // marks
		return false
	default:
		by, moves := tui.Step(name, max(d.listHeight()-1, 1))
		if moves {
			d.step(by)
		}
		return moves
	}
	return true
}

// filterKey changes which rows the list shows, and how. It reports whether the key is
// for that.
func (d *display) filterKey(name string) bool {
	t := d.table()
	switch name {
	case "/":
		d.typing = true
	case "<", ",":
		d.sortBy(-1)
	case ">", ".":
		d.sortBy(1)
	case "o":
		t.query.reverse = !t.query.reverse
		t.toFirstRow()
	case "v":
		if d.list == listNodes {
			d.isTable = !d.isTable
		}
	case "m":
		if d.list == listJobs {
			d.narrow(func(q *query) { q.mine = !q.mine }, t)
		}
	case "f":
		if d.list == listJobs {
			d.narrow(func(q *query) { q.states = (q.states + 1) % len(stateFilters) }, t)
		}
	case "w":
		d.within()
	case "esc":
		d.widen()
	default:
		return false
	}
	return true
}

// step moves the cursor up or down.
func (d *display) step(by int) {
	t := d.table()
	if d.showsMap() {
		d.nodes.arrange(t.answer.rows, d.width)
		t.at, t.moved = d.nodes.down(t.at, by), true
		return
	}
	t.move(by)
}

// side moves the cursor on the map, and turns to another list elsewhere.
func (d *display) side(by int) {
	if d.showsMap() {
		d.table().move(by)
		return
	}
	d.turn(d.list + by)
}

// sortBy sorts by the next column that is shown, or the one before.
func (d *display) sortBy(step int) {
	t := d.table()
	columns := t.columns()
	at := slices.IndexFunc(columns, func(c shownColumn) bool { return c.place == t.query.column })
	for {
		at = (at + step + len(columns)) % len(columns)
		if columns[at].title != "" {
			break
		}
	}
	t.query.column = columns[at].place
	t.toFirstRow()
}

// within shows what belongs to the selected target or queue only.
func (d *display) within() {
	selected, ok := d.table().selected()
	if !ok {
		return
	}
	manager, queue := selected.manager.Element().ID(), ""
	switch selected.element.Kind() {
	case model.Queue:
		queue = selected.element.ID()
	case model.Job:
		queue = selected.element.Parent()
	}
	d.narrow(func(q *query) {
		q.manager = manager
		if q.kind == model.Job {
			q.queue = queue
		}
	}, d.tables[:]...)
	if d.list == listManagers || d.list == listQueues {
		d.turn(listJobs)
	}
}

// widen takes back what narrows the list down, the latest first.
func (d *display) widen() {
	t := d.table()
	switch {
	case len(t.marked) > 0:
		clear(t.marked)
	case len(t.query.words) > 0:
		d.search = ""
		d.narrow(func(q *query) { q.words = nil }, t)
	case t.query.mine || t.query.states != 0:
		d.narrow(func(q *query) { q.mine, q.states = false, 0 }, t)
	case t.query.manager != "":
		d.narrow(func(q *query) { q.manager, q.queue = "", "" }, d.tables[:]...)
	default:
		d.message = ""
	}
}
