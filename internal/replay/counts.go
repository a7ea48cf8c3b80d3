package replay

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/tokenizer"
)

// Counts are the counts of a tokenizer; the JSON names are a contract.
type Counts struct {
	Bytes       int64              `json:"bytes"`
	Segments    int64              `json:"segments"`
	Matched     int64              `json:"matched"`
	Unmatched   int64              `json:"unmatched"`
	Expressions []expressionCounts `json:"expressions"`
}

// expressionCounts are the counts of a match, an exit-on or an exit-after.
type expressionCounts struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Expression string `json:"expression,omitempty"` // as written; a match may have none
	Engine     string `json:"engine,omitempty"`
	Tried      int64  `json:"tried"`
	Matched    int64  `json:"matched"`

	Milliseconds float64 `json:"milliseconds"` // that the tries took
}

// CountsOf returns the counts of a tokenizer.
func CountsOf(stats tokenizer.Stats) *Counts {
	counts := &Counts{Bytes: stats.Bytes, Segments: stats.Segments, Matched: stats.Matched, Unmatched: stats.Unmatched,
		Expressions: []expressionCounts{}}
	for _, stat := range slices.Concat(stats.Matches, stats.Exits) {
		counted := expressionCounts{Engine: stat.Engine, Tried: stat.Tried, Matched: stat.Matched, Milliseconds: milliseconds(stat.Time)}
		var at config.Position
		if stat.Expression != nil {
			at, counted.Expression = stat.Expression.Position, stat.Expression.Text
		} else {
			at = stat.Match.Position
		}
		counted.File, counted.Line, counted.Column = at.File, at.Line, at.Column
		counts.Expressions = append(counts.Expressions, counted)
	}
	return counts
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}

// Print writes the counts as text.
func (c *Counts) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d bytes, %d segments: %d matched, %d unmatched\n", c.Bytes, c.Segments, c.Matched, c.Unmatched)
	if err != nil {
		return fmt.Errorf("printing the counts: %w", err)
	}
	if len(c.Expressions) == 0 {
		return nil
	}
	rows := make([][]string, 0, len(c.Expressions))
	for _, one := range c.Expressions {
		at := config.Position{File: one.File, Line: one.Line, Column: one.Column}
		rows = append(rows, []string{
			strconv.FormatInt(one.Tried, 10), strconv.FormatInt(one.Matched, 10), strconv.FormatFloat(one.Milliseconds, 'f', 1, 64),
			terminal.OrDash(one.Engine), tui.OneLine(at.String()), terminal.OrDash(one.Expression),
		})
	}
	return terminal.Table(w, []string{"TRIED", "MATCHED", "MS", "ENGINE", "WHERE", "EXPRESSION"}, rows)
}
