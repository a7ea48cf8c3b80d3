package listings

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// A form is the output format of a listing.
type form int

const (
	formTable form = iota
	formJSON
	formYAML
	formIDs
	formTemplate
)

// An Output is where and how listings are printed.
type Output struct {
	Writer io.Writer
	Target string                                // the chosen target: ids are printed without it; or empty
	Seen   string                                // the time of a listing for documents, or empty
	Say    func(format string, arguments ...any) // prints a message next to the listing

	form     form
	isWide   bool
	columns  []string // of the table; nil for the usual ones
	sort     string
	limit    int
	template string
}

// WithJSON returns an output that prints JSON if isJSON, otherwise a table.
func (o Output) WithJSON(isJSON bool) Output {
	o.form = formTable
	if isJSON {
		o.form = formJSON
	}
	return o
}

// WithLimit returns an output that prints that many things at most, unless it has a limit.
func (o Output) WithLimit(most int) Output {
	if o.limit == 0 {
		o.limit = most
	}
	return o
}

// NeedsAll reports whether all things have to be known before the first is printed.
func (o Output) NeedsAll() bool { return o.sort != "" }

// HasDocuments reports whether documents are printed, as a whole or in part.
func (o Output) HasDocuments() bool { return o.form != formTable && o.form != formIDs }

// A ChoiceError means that the flags of a listing are wrong.
type ChoiceError struct{ reason string }

// Error implements error.
func (e *ChoiceError) Error() string { return e.reason }

func wrong(format string, arguments ...any) error {
	return &ChoiceError{fmt.Sprintf(format, arguments...)}
}

// Choices are the flags of a listing.
type Choices struct {
	output, sort, template string
	areIDs                 bool
	limit                  int
}

// OutputHelp describes the flags of a listing.
const OutputHelp = `-o wide adds columns to the table; -o table=COLUMN,... chooses them. -q prints only ids:
TARGET/ID for jobs, or ID with -t. --format is a Go template over the members of the JSON
output, such as '{{.ID}} {{.State}}'.`

// AddTo adds the flags to a command.
func (c *Choices) AddTo(flags *pflag.FlagSet) {
	flags.StringVarP(&c.output, "output", "o", "", "output `FORMAT`: wide, json, yaml or table=COLUMN,...")
	flags.BoolVarP(&c.areIDs, "quiet", "q", false, "print only ids, or names of nodes, queues and targets")
	flags.StringVar(&c.sort, "sort", "", "`COLUMN,...` to sort by; -COLUMN reverses the order")
	flags.IntVar(&c.limit, "limit", 0, "maximum `COUNT` of lines")
	flags.StringVar(&c.template, "format", "", "output `TEMPLATE` such as {{.State}}")
}

// Formats returns what users can write after -o.
func Formats() []string { return []string{"wide", "json", "yaml", "table="} }

// IsJSON reports whether -o chooses JSON.
func (c *Choices) IsJSON() bool { return c.output == "json" }

// Apply returns the output that the flags choose. IsJSON is whether --json is set.
func (c *Choices) Apply(o Output, isJSON bool) (Output, error) {
	chosen := []string{}
	for flag, isSet := range map[string]bool{"--json": isJSON && !c.IsJSON(), "--output": c.output != "", "--quiet": c.areIDs, "--format": c.template != ""} {
		if isSet {
			chosen = append(chosen, flag)
		}
	}
	if len(chosen) > 1 {
		slices.Sort(chosen)
		return o, wrong("%s cannot be used together with %s", chosen[0], chosen[1])
	}
	if c.limit < 0 {
		return o, wrong("--limit %d: enter a positive number, or 0 for all", c.limit)
	}
	o.sort, o.limit, o.template = c.sort, c.limit, c.template
	columns, hasColumns := strings.CutPrefix(c.output, "table=")
	switch {
	case c.areIDs:
		o.form = formIDs
	case c.template != "":
		o.form = formTemplate
	case isJSON || c.IsJSON():
		o.form = formJSON
	case c.output == "yaml":
		o.form = formYAML
	case c.output == "wide":
		o.isWide = true
	case hasColumns:
		o.columns = strings.Split(columns, ",")
	case c.output != "" && c.output != "table":
		return o, wrong("--output %q: unknown format; use wide, json, yaml or table=COLUMN,...", c.output)
	}
	return o, nil
}

// chosen returns the columns of the table.
func (k Kind[T]) chosen(o Output) ([]Column[T], error) {
	if o.columns == nil {
		return slices.DeleteFunc(slices.Clone(k.Columns), func(c Column[T]) bool { return c.IsWide && !o.isWide }), nil
	}
	var chosen []Column[T]
	for _, name := range o.columns {
		column, err := k.column("--output", name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, column)
	}
	return chosen, nil
}

// column returns the column that a user names, in any case; a blank may be written as a hyphen.
func (k Kind[T]) column(flag, name string) (Column[T], error) {
	names := make([]string, len(k.Columns))
	for i, column := range k.Columns {
		names[i] = strings.ReplaceAll(strings.ToLower(column.Title), " ", "-")
		if strings.EqualFold(names[i], strings.TrimSpace(name)) || strings.EqualFold(column.Title, strings.TrimSpace(name)) {
			return column, nil
		}
	}
	return Column[T]{}, wrong("%s: no column %q; the columns are %s", flag, name, strings.Join(names, ", "))
}

// order returns what the rows are sorted by.
func (k Kind[T]) order(text string) (by []order[T], err error) {
	if text == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		name, descending := strings.CutPrefix(name, "-")
		column, err := k.column("--sort", name)
		if err != nil {
			return nil, err
		}
		key := column.Key
		if key == nil {
			key = column.Cell
		}
		by = append(by, order[T]{key, descending})
	}
	return by, nil
}
