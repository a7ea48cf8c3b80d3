package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/tui"
)

const (
	ensemblesPatience = 10 * time.Second
	barrierWidth      = 10
)

// showEnsembles shows the ensembles with their parts and barriers, and keeps them up to date.
func (d *display) showEnsembles() {
	shown := &pager{title: "Ensembles", lines: []string{"Loading ..."}}
	shown.renew = func() { d.loadEnsembles(shown) }
	d.pager = shown
	shown.renew()
}

func (d *display) loadEnsembles(shown *pager) {
	if shown.isRenewing {
		return
	}
	shown.isRenewing = true
	width := d.width
	d.background(func() tui.Apply {
		ctx, cancel := context.WithTimeout(d.ctx, ensemblesPatience)
		defer cancel()
		all, err := d.controls.Ensembles(ctx)
		lines := ensembleLines(all, width)
		if err != nil {
			lines = append([]string{tui.Problem(tui.Fitted(err.Error(), max(width-4, 1)))}, lines...)
		}
		return func() { shown.lines, shown.isRenewing = lines, false }
	})
}

// ensembleLines shows each ensemble, what it waits for, and how many processes of each part are at the barrier.
func ensembleLines(all []coalloc.Status, width int) (lines []string) {
	if len(all) == 0 {
		return []string{"No ensemble is running. rmctl coalloc submit starts one."}
	}
	for i := range all {
		s := &all[i]
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, tui.Styled(tui.StyleTitle, tui.Fitted(strings.TrimSpace(s.ID+" "+s.Name), max(width/2, 8)))+"  "+tui.Fitted(string(s.State), 20))
		lines = append(lines, indented(s.Waits(), "  ", width)...)
		for j := range s.Parts {
			p := &s.Parts[j]
			head := fmt.Sprintf("  %s %d/%d  %s on %s  %s", barrierBar(p), p.CheckedIn, p.Count, tui.Fitted(p.Label, 24), tui.Fitted(p.Target, 16), tui.Fitted(string(p.State), 12))
			lines = append(lines, tui.Cut(head, width))
			lines = append(lines, indented(p.Waits(), strings.Repeat(" ", barrierWidth+5), width)...)
		}
		for j := range s.Sets {
			lines = append(lines, indented("set "+s.Sets[j].Name+": "+s.Sets[j].Waits(), "  ", width)...)
		}
		for _, hint := range s.Hints() {
			lines = append(lines, indented(hint, "  ", width)...)
		}
	}
	return lines
}

// indented breaks a text into lines with blanks before them.
func indented(text, blanks string, width int) []string {
	lines := tui.Wrapped(tui.Safe(text), max(width-len(blanks), 8))
	for i := range lines {
		lines[i] = blanks + lines[i]
	}
	return lines
}

// barrierBar draws how many processes of a part have checked in.
func barrierBar(p *coalloc.PartStatus) string {
	filled := 0
	if p.Count > 0 {
		filled = max(min(barrierWidth*p.CheckedIn/p.Count, barrierWidth), 0)
	}
	if p.State == coalloc.PartReleased || p.State == coalloc.PartDone {
		filled = barrierWidth
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", barrierWidth-filled) + "]"
}
