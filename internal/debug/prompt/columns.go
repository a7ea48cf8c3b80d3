package prompt

import (
	"context"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/tui"
)

// A column is a variable of that name in several ranks.
type column struct {
	name   string
	ranks  debug.Ranks // that have it
	values []labelled
}

// columnsOf merges the variables of ranks by their names.
func (p *prompt) columnsOf(ctx context.Context, parts []debug.Part) []*column {
	type key struct {
		name  string
		count int // variables of inner blocks hide those of outer ones
	}
	known := map[key]*column{}
	var columns []*column
	left := mostExpansions
	for _, part := range parts {
		counts := map[string]int{}
		for _, variable := range part.Variables {
			k := key{variable.Name, counts[variable.Name]}
			counts[variable.Name]++
			if known[k] == nil {
				known[k] = &column{name: variable.Name}
				columns = append(columns, known[k])
			}
			c := known[k]
			c.ranks = c.ranks.Union(part.Ranks)
			c.values = append(c.values, p.expand(ctx, part.Ranks, variable, p.depth(), &left)...)
		}
	}
	return columns
}

// writtenColumns returns a line for each variable. Ranks are named where they differ.
func (p *prompt) writtenColumns(ctx context.Context, parts []debug.Part) string {
	width := p.out.width()
	var answered debug.Ranks
	for _, part := range parts {
		if part.Problem == "" {
			answered = answered.Union(part.Ranks)
		}
	}
	var lines []string
	for _, c := range p.columnsOf(ctx, parts) {
		name, values := plain(c.name), merged(c.values)
		if len(values) == 1 && len(answered.Without(c.ranks)) == 0 {
			lines = append(lines, name+" = "+values[0].text)
			continue
		}
		text := written(values, max(width-tui.Width(name)-len(" = "), 1))
		if strings.Contains(text, "\n") {
			text = "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
			lines = append(lines, name+" ="+text)
			continue
		}
		lines = append(lines, name+" = "+text)
	}
	if problems := problemsOf(parts); len(problems) > 0 {
		lines = append(lines, written(problems, width))
	}
	return strings.Join(lines, "\n")
}
