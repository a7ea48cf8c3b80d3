package watch

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// What stands around the body: the tabs above it, and below it what is shown of the
// list, the newest message, and the keys.
const (
	linesAbove = 1
	linesBelow = 3
	// Lower terminals show the tabs and the body only, and a question where there is one.
	lowHeight = 8
)

// bodyHeight is how many lines the body has.
func (d *display) bodyHeight() int {
	if d.height < lowHeight {
		return max(d.height-linesAbove-1, 1)
	}
	return d.height - linesAbove - linesBelow
}

// listHeight is how many of these a list has for its rows: a table has a header, the
// map two lines below it.
func (d *display) listHeight() int {
	if d.showsMap() && d.height >= lowHeight {
		return max(d.bodyHeight()-2, 1)
	}
	return max(d.bodyHeight()-1, 1)
}

// View implements [tea.Model].
func (d *display) View() tea.View {
	lines := []string{d.tabLine()}
	body := d.body()
	for len(body) < d.bodyHeight() {
		body = append(body, "")
	}
	lines = append(lines, body[:d.bodyHeight()]...)
	if d.height < lowHeight {
		lines = append(lines, d.lowLine())
	} else {
		lines = append(lines, d.stateLine(), d.messageLine(), tui.KeyLine(d.keyLine(), d.width))
	}
	view := tui.Frame(lines, d.width, d.height)
	if d.prompt == nil { // a user may select its text, such as a fingerprint
		view.MouseMode = tea.MouseModeCellMotion
	}
	return view
}

// tabLine shows the lists, with the one shown in brackets, or the pages
// of what lies over it.
func (d *display) tabLine() string {
	switch {
	case d.prompt != nil:
		return tui.Styled(tui.StyleQuestion, tui.Fitted(d.prompt.Question.Host, max(d.width-6, 1))+" asks")
	case d.pager != nil:
		return tui.Styled(tui.StyleTitle, d.pager.title)
	case d.detail != nil:
		return d.detailTabs()
	}
	var tabs []string
	for i := range lists {
		tabs = append(tabs, d.listTab(i))
	}
	line := strings.Join(tabs, "")
	right := d.managerStates()
	return line + strings.Repeat(" ", max(d.width-tui.Width(line)-tui.Width(right), 1)) + right
}

// listTab is the tab of a list.
func (d *display) listTab(list int) string {
	name := [lists]string{"Targets", "Queues", "Nodes", "Jobs"}[list]
	if d.width < 50 {
		name = name[:1]
	}
	return tui.Tab(fmt.Sprintf("%d %s", list+1, name), list == d.list)
}

func (d *display) detailTabs() string {
	s := d.detail
	title := sentence(nameOf(s.kind)) + " " + tui.Fitted(s.ref.id, max(d.width/3, 8)) + " "
	line := tui.Styled(tui.StyleTitle, title)
	if s.kind != model.Job {
		return line
	}
	for i, name := range pageTitles {
		line += tui.Tab(name, i == s.page)
	}
	return line
}

// managerStates counts the targets that are started, how many of these are out
// of date, and those in error.
func (d *display) managerStates() string {
	started, failed, old, all := 0, 0, 0, 0
	for manager := range d.snapshot.Managers() {
		switch all++; manager.Element().State() {
		case vocabulary.StateStarted, vocabulary.StateSuspended:
			started++
			if isOld(manager) {
				old++
			}
		case vocabulary.StateError:
			failed++
		}
	}
	text := fmt.Sprintf("%d/%d started", started, all)
	if old > 0 {
		text += ", " + tui.Styled(styleWarning, fmt.Sprintf("%d old", old))
	}
	if failed > 0 {
		text += ", " + tui.Styled(styleBad, fmt.Sprintf("%d in error", failed))
	}
	return text
}

// body returns the lines of what is shown, at most as many as there is room for.
func (d *display) body() []string {
	height := d.bodyHeight()
	switch {
	case d.prompt != nil:
		return d.prompt.View(d.width, height)
	case d.pager != nil:
		return d.pager.view(d.width, height)
	case d.menu != nil:
		return d.menu.View(d.width, height)
	case d.detail != nil:
		return d.seenDetail()
	}
	t := d.table()
	if len(t.answer.rows) == 0 {
		return d.nothing()
	}
	if d.showsMap() {
		lines := d.nodes.view(t, d.width, d.listHeight())
		for len(lines) < d.listHeight() {
			lines = append(lines, "")
		}
		return append(lines, legend(t.answer.count, d.width), d.nodeLine())
	}
	header, rows := t.lines(d.width, d.listHeight(), d.clock)
	return append([]string{header}, rows...)
}

// nothing says why there is no row.
func (d *display) nothing() []string {
	t := d.table()
	text := "  No " + nameOf(t.query.kind) + "s."
	switch {
	case t.isAsking:
		text = "  Loading ..."
	case t.answer.total > 0:
		text = fmt.Sprintf("  The filter hides all of %d %ss; Esc removes it.", t.answer.total, nameOf(t.query.kind))
	case len(d.inState(vocabulary.StateStarting)) > 0 && len(d.inState(watched...)) == 0:
		text = "  Starting " + tui.Fitted(strings.Join(d.inState(vocabulary.StateStarting), ", "), 60) + " ..."
	case t.query.kind != model.ResourceManager && len(d.inState(watched...)) == 0:
		text = "  No target is started. Press 1 for the targets, then s to start one."
	}
	return append([]string{""}, tui.Wrapped(text, d.width)...)
}

// nodeLine describes the node under the cursor as far as there is room.
func (d *display) nodeLine() string {
	selected, ok := d.table().selected()
	if !ok {
		return ""
	}
	e := selected.element
	parts := []string{tui.Styled(tui.StyleTitle, tui.Fitted(e.Name(), 30)), tui.Styled(stateStyle(e), string(e.State())), "used by " + usedBy(e)}
	for _, part := range []struct{ label, text string }{
		{"", selected.text(vocabulary.AttributeNodeStatus)}, {"", selected.text(vocabulary.AttributeNodeReason)}, {"CPUs ", nodeCPUs(selected, d.clock)}, {"memory ", selected.text(vocabulary.AttributeNodeMemory)}, {"load ", nodeLoad(selected, d.clock)},
		{"queues ", selected.text(vocabulary.AttributeNodeQueues)},
	} {
		if part.text != "" {
			parts = append(parts, part.label+tui.Fitted(part.text, 60))
		}
	}
	return tui.Cut(strings.Join(parts, "  "), d.width)
}

// stateLine describes which rows the list shows, and how.
func (d *display) stateLine() string {
	if d.prompt != nil || d.isCovered() {
		return ""
	}
	t := d.table()
	parts := append([]string{t.countText()}, d.filterTexts()...)
	if len(t.marked) > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", len(t.marked)))
	}
	if selected, ok := t.selected(); ok && d.list == listManagers && !d.retries[selected.element.ID()].IsZero() {
		parts = append(parts, fmt.Sprintf("retrying %s in %s", tui.Fitted(selected.element.Name(), 24), span(d.retries[selected.element.ID()].Sub(d.clock))))
	}
	if t.isAsking && !t.answer.query.same(t.query) && len(t.answer.rows) > 10000 {
		parts = append(parts, "sorting ...")
	}
	line := strings.Join(parts, "  ")
	return "--" + " " + line + " " + strings.Repeat("-", max(d.width-tui.Width(line)-4, 0))
}

// countText returns how many elements the list shows of how many.
func (t *table) countText() string {
	count := fmt.Sprintf("%d %ss", t.answer.total, nameOf(t.query.kind))
	if t.answer.total == 1 {
		count = "1 " + nameOf(t.query.kind)
	}
	if len(t.answer.rows) != t.answer.total {
		count = fmt.Sprintf("%d of ", len(t.answer.rows)) + count
	}
	return count
}

// nameOf returns the name of a kind of element.
func nameOf(kind model.Kind) string {
	if kind == model.ResourceManager {
		return "target"
	}
	return kind.String()
}

// filterTexts describes what narrows the list down.
func (d *display) filterTexts() []string {
	var parts []string
	query := d.table().query
	if query.manager != "" {
		within := tui.Fitted(query.manager, 24)
		if query.queue != "" {
			within += "/" + tui.Fitted(query.queue, 24)
		}
		parts = append(parts, "within "+within)
	}
	if query.mine {
		parts = append(parts, "mine")
	}
	if filter := stateFilters[query.states].name; filter != "" {
		parts = append(parts, filter)
	}
	if len(query.words) > 0 && !d.typing {
		parts = append(parts, "/"+tui.Fitted(d.search, 30))
	}
	return parts
}

// messageLine asks, shows what is typed, or says what happened last.
func (d *display) messageLine() string {
	switch {
	case d.prompt != nil:
		return tui.Styled(tui.StyleQuestion, "Answer:") + " " + d.answerShown()
	case d.withdrawn != nil:
		const over = " no longer waits for an answer"
		return tui.Styled(tui.StyleQuestion, tui.Fitted(d.withdrawn.Question.Host, max(d.width-len(over), 8))+over)
	case d.question != nil:
		return tui.Styled(tui.StyleQuestion, tui.Cut(d.question.text, d.width-8)+" [y/N]")
	case d.typing:
		return "/" + ansi.TruncateLeft(d.search, max(tui.Width(d.search)-max(d.width-4, 4), 0), "…") + "_"
	case len(d.running) > 0:
		return tui.Fitted(strings.Join(d.running, "; "), d.width-4) + " ..."
	case d.isProblem && d.message != "":
		return tui.Problem(d.message)
	}
	return d.message
}

// answerShown is as much of the answer as may be seen.
func (d *display) answerShown() string {
	if d.prompt.Question.Secret {
		return "_"
	}
	return ansi.TruncateLeft(d.typed, max(tui.Width(d.typed)-max(d.width-12, 4), 0), "…") + "_"
}

// lowLine is the one line below the body of a low terminal.
func (d *display) lowLine() string {
	if d.prompt != nil || d.withdrawn != nil || d.question != nil || d.typing || len(d.running) > 0 || d.message != "" {
		return d.messageLine()
	}
	return tui.KeyLine(d.keyLine(), d.width)
}

// keyLine says what keys do where the user is; the first ones matter most.
func (d *display) keyLine() string {
	switch {
	case d.prompt != nil:
		return "Enter answer  Esc refuse"
	case d.withdrawn != nil:
		return "typed keys are ignored  Enter continue"
	case d.waiting != nil:
		return tui.Fitted(d.waiting.Question.Host, 24) + " has a question: first finish this with Enter or Esc"
	case d.question != nil:
		return "y yes  n no"
	case d.menu != nil:
		return "Up/Down move  Enter choose  Esc back"
	case d.typing:
		return "type words to filter by  Enter done  Esc show all"
	case d.pager != nil:
		return "Up/Down move  Esc back"
	case d.detail != nil && d.detail.kind == model.Job:
		return "Left/Right page  c cancel  h hold  r release  s suspend  u resume  Esc back"
	case d.detail != nil:
		return "Up/Down move  Esc back"
	}
	switch d.list {
	case listManagers:
		return "s start  x stop  a add  w contents  n submit  Enter more  ? help  q quit"
	case listQueues:
		return "w its jobs  / search  < > sort  n submit  R refresh  Enter more  ? help  q quit"
	case listNodes:
		return "arrows move  v table/map  / search  R refresh  Enter more  ? help  q quit"
	}
	return "n submit  c cancel  h hold  r release  m mine  f state  / find  ? help  q quit"
}
