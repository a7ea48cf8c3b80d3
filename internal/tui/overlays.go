package tui

import (
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A menu is a list to choose from.
type menu struct {
	title  string
	lines  []string
	at     int
	choose func(i int) tea.Cmd
}

func (d *display) menuKey(name string) tea.Cmd {
	m := d.menu
	switch name {
	case "up", "k":
		m.at = max(m.at-1, 0)
	case "down", "j":
		m.at = min(m.at+1, len(m.lines)-1)
	case "home":
		m.at = 0
	case "end":
		m.at = len(m.lines) - 1
	case "esc", "q":
		d.menu = nil
	case "enter":
		d.menu = nil
		return m.choose(m.at)
	}
	return nil
}

func (m *menu) view(width, height int) []string {
	lines := []string{styled(styleHeading, cut(m.title, width))}
	first := max(m.at-(height-2), 0)
	for i := first; i < len(m.lines); i++ {
		line := "  " + fitted(m.lines[i], width-2)
		if i == m.at {
			line = styled(styleSelected, filled("> "+fitted(m.lines[i], width-2), width))
		}
		lines = append(lines, line)
	}
	return lines
}

// A pager shows lines over all else.
type pager struct {
	title string
	lines []string // fit to be shown
	top   int
}

func (d *display) pagerKey(name string) {
	p, page := d.pager, max(d.bodyHeight()-1, 1)
	switch name {
	case "up", "k":
		p.top--
	case "down", "j":
		p.top++
	case "pgup", "ctrl+b":
		p.top -= page
	case "pgdown", "ctrl+f", "space":
		p.top += page
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.top = len(p.lines)
	default:
		d.pager = nil
		return
	}
	p.top = p.first(d.bodyHeight())
}

// first returns the first line that is seen.
func (p *pager) first(height int) int { return max(min(p.top, len(p.lines)-height), 0) }

func (p *pager) view(width, height int) []string {
	var lines []string
	first := p.first(height)
	for _, line := range p.lines[first:min(first+height, len(p.lines))] {
		lines = append(lines, cut(line, width))
	}
	return lines
}

// saidPager shows messages, whole ones, from their end.
func saidPager(said []string, width int) *pager {
	p := &pager{title: "What was said", top: math.MaxInt32}
	for _, line := range said {
		p.lines = append(p.lines, wrapped(line, width)...)
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
		"  f                jobs: waiting, running, ended, in error, all",
		"  v                nodes: as a map, or as a table",
		"  Space            mark a row; what is done is done to all marked",
		"",
		"Jobs",
		"  n N              submit one; a launch configuration",
		"  c h r s u        cancel, hold, release, suspend, resume",
		"  R                ask the schedulers as soon as they may be asked",
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
		"  Ctrl-L           draw all anew     Ctrl-Z  stop for a while",
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
	if widthOf(line) <= width {
		return []string{line}
	}
	lines := wrapped(betweenColumns.ReplaceAllString(line, "$1  "), width-len(indent))
	for i := range lines[1:] {
		lines[i+1] = indent + strings.TrimLeft(lines[i+1], " ")
	}
	return lines
}

var betweenColumns = lazyregexp.New(`(\S) {3,}`)
