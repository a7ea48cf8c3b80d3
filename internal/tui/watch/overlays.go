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
	p := &pager{title: "What was said", top: math.MaxInt32}
	for _, line := range said {
		p.lines = append(p.lines, tui.Wrapped(line, width)...)
	}
	return p
}

func helpPager(width int) *pager {
	p := &pager{title: "Help"}
	for _, line := range []string{
		"Moving",
		"  1 2 3 4, Tab     managers, queues, nodes, jobs",
		"  Up Down PgUp PgDn Home End (also j k g G)",
		"  Enter            all of the row: facts; of a job its history and output, too",
		"  Esc              back; in a list: show more again",
		"  q                leave",
		"  wheel, click     move; go to a tab, row or node, open that at the cursor",
		"",
		"Lists",
		"  /                show rows that hold the words that are typed",
		"  < >              sort by another column    o  the other way round",
		"  w                show only what is within this manager or queue",
		"  m                jobs: mine, or everyone's",
		"  f                jobs: queued or held, running, ended, in error, all",
		"  v                nodes: as a map, or as a table",
		"  Space            mark a row; what is done is done to all marked",
		"",
		"Jobs",
		"  n N              submit one; a launch configuration",
		"  c h r s u        cancel, hold, release, suspend, resume",
		"  R                ask the schedulers as soon as they may be asked",
		"  E                ensembles: jobs of several parts, and who waits at the barrier",
		"",
		"Managers",
		"  s x              start, stop       a  start another target",
		"",
		"Map of the nodes",
		"  . free   M m mine, mine and shared   O o of others, and shared",
		"  R runs my processes   x mine, whose processes there have ended",
		"  - down   d down, but used when it was seen last   ! in error   ? unknown",
		"",
		"Other",
		"  e                what was said so far",
		"  Shift, mouse     select text, as the terminal has it",
		"  Ctrl-L           draw all again    Ctrl-Z  stop for a while",
		"",
		"A job that is in an output page is followed as it writes: Left and Right turn",
		"the pages, Up holds the text, End goes on.",
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
