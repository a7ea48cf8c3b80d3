package watch

import (
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/tui"
)

// A menu is a list to choose from.
type menu struct {
	tui.List
	choose func(i int) tea.Cmd
}

func (d *display) menuKey(key tea.KeyPressMsg) tea.Cmd {
	m := d.menu
	if name := key.String(); name == "esc" || name == "q" {
		d.menu = nil
	} else if chosen := m.Key(key, d.bodyHeight()); chosen >= 0 {
		d.menu = nil
		return m.choose(chosen)
	}
	return nil
}

// A pager shows lines over all else.
type pager struct {
	title string
	lines []string // fit to be shown
	top   int

	renew      func() // reads the lines again; nil for lines that stay
	isRenewing bool
}

// pagerKey moves in the lines; any other key goes back.
func (d *display) pagerKey(name string) {
	by, moves := tui.Step(name, max(d.bodyHeight()-1, 1))
	if !moves {
		d.pager = nil
		return
	}
	d.pager.top = max(d.pager.first(d.bodyHeight())+by, 0)
	d.pager.top = d.pager.first(d.bodyHeight())
}

// first returns the first line that is seen.
func (p *pager) first(height int) int { return max(min(p.top, len(p.lines)-height), 0) }

func (p *pager) view(width, height int) []string {
	var lines []string
	first := p.first(height)
	for _, line := range p.lines[first:min(first+height, len(p.lines))] {
		lines = append(lines, tui.Cut(line, width))
	}
	return lines
}

// saidPager shows messages, whole ones, from their end.
func saidPager(said []string, width int) *pager {
	p := &pager{title: "Messages", top: math.MaxInt32}
	for _, line := range said {
		p.lines = append(p.lines, tui.Wrapped(line, width)...)
	}
	return p
}

func helpPager(width int) *pager {
	p := &pager{title: "Help"}
	for _, line := range []string{
		"Moving",
		"  1 2 3 4, Tab     targets, queues, nodes, jobs",
		"  Up Down PgUp PgDn Home End (also j k g G)",
		"  Enter            details of the row; for a job also its history and output",
		"  Esc              back; in a list: remove the filter",
		"  q                quit",
		"  wheel, click     scroll; go to a tab, row or node; open the selected one",
		"",
		"Lists",
		"  /                show rows that contain the typed words",
		"  < >              sort by another column    o  reverse the order",
		"  w                show only the contents of this target or queue",
		"  m                jobs: mine, or all users'",
		"  f                jobs: queued or held, running, ended, in error, all",
		"  v                nodes: as a map, or as a table",
		"  Space            mark a row; actions apply to all marked rows",
		"",
		"Jobs",
		"  n N              submit a job; a saved submission",
		"  c h r s u        cancel, hold, release, suspend, resume",
		"  R                refresh as soon as the rate limit allows",
		"  E                ensembles: jobs of several parts, and their barriers",
		"",
		"Targets",
		"  s x              start, stop the session    a  start another target",
		"",
		"Map of the nodes",
		"  . free   M m mine, mine and shared   O o of others, and shared",
		"  R runs my processes   x mine, with ended processes only",
		"  - down   d down, but used when last seen   ! in error   ? unknown",
		"",
		"Other",
		"  e                messages",
		"  Shift, mouse     select text with the terminal",
		"  Ctrl-L           redraw            Ctrl-Z  suspend rmctl",
		"",
		"An output page follows the job as it writes. Left and Right change",
		"pages, Up stops following, End continues.",
	} {
		p.lines = append(p.lines, hanging(line, width)...)
	}
	return p
}

// hanging breaks a line of the help where there is no room for it: without the
// blanks of its columns, and with what follows moved in.
func hanging(line string, width int) []string {
	const indent = "    "
	if tui.Width(line) <= width {
		return []string{line}
	}
	lines := tui.Wrapped(betweenColumns.ReplaceAllString(line, "$1  "), width-len(indent))
	for i := range lines[1:] {
		lines[i+1] = indent + strings.TrimLeft(lines[i+1], " ")
	}
	return lines
}

var betweenColumns = lazyregexp.New(`(\S) {3,}`)
