package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/internal/xpath"
	"github.com/rmctl/rmctl/job"
)

// readerCodes are the problems of readers.
var readerCodes = []Code{
	{"unknown-reader", config.Error, "A command uses a reader that the definition does not have."},
	{"duplicate-reader", config.Error, "Two readers have one name."},
	{"reader-extends", config.Error, "A reader extends itself, or one that the definition does not have."},
	{"invalid-reader", config.Error, "The parts of a reader contradict each other."},
	{"invalid-pattern", config.Error, "A pattern of a reader does not compile."},
	{"invalid-xpath", config.Error, "An XPath expression of a reader does not compile."},
	{"missing-source-field", config.Warning, "An expression of a reader uses a field that its source does not have."},
	{"unreachable-row", config.Warning, "A state or a fact of a reader has no effect."},
	{"unused-reader", config.Warning, "No command uses a reader."},
}

// checkIDs checks x:ids.
func (c *checker) checkIDs() {
	ids := c.definition.IDs
	if ids == nil {
		return
	}
	c.checkColumns(ids.Form, ids.Columns, true)
	c.checkPattern(ids.Drop)
	c.checkPattern(ids.Own)
	for _, pair := range ids.Outputs {
		if from, _, isPair := strings.Cut(pair, "="); !isPair || from == "" {
			c.report(ids.Position, config.Error, "invalid-reader", fmt.Sprintf("outputs: %q is not TEXT=TEXT", pair), "")
		}
	}
	if ids.Replacement != "" && !ids.Drop.IsSet() {
		c.report(ids.Position, config.Error, "invalid-reader", "replacement requires drop", "")
	}
}

// checkReaders checks the readers of the definition, and those of its commands.
func (c *checker) checkReaders() {
	c.checkIDs()
	used := map[string]bool{}
	for _, command := range c.definition.Commands {
		for _, one := range withFallbacks(command) {
			if one.Batch != nil {
				c.checkReader(one.Batch.Reader, "")
			}
			if one.Read == nil {
				continue
			}
			if one.StdoutParser != nil {
				c.report(one.Read.Position, config.Error, "invalid-reader", "x:read and a stdout-parser both read standard output", "remove one of them")
			}
			used[one.Read.Name] = true
			c.checkReader(one.Read, command.Element)
		}
	}
	for _, reader := range c.definition.Readers {
		isExtended := slices.ContainsFunc(c.root.Children, func(parent *xmltree.Element) bool { return extendsReader(parent, reader.Name) })
		isOwn := reader.Position.File == c.definition.Position.File // a base may have readers for its own commands
		if isOwn && !used[reader.Name] && !isExtended {
			c.report(reader.Position, config.Warning, "unused-reader", fmt.Sprintf("no command uses the reader %s", wording.Quote(reader.Name)), "")
		}
	}
}

// extendsReader reports whether an element below control-data extends a reader.
func extendsReader(control *xmltree.Element, name string) bool {
	return slices.ContainsFunc(control.Children, func(e *xmltree.Element) bool { return e.IsExtension("reader") && e.Value("extends") == name })
}

// checkReader checks a reader that a command of an element uses.
func (c *checker) checkReader(r *config.Reader, of config.CommandElement) {
	if len(r.Sources) == 0 {
		if r.Name != "" || of != "" {
			c.report(r.Position, config.Error, "invalid-reader", "the reader has no source", "add an x:table, x:stanzas, x:lines, x:log, x:json or x:xml")
		}
		return
	}
	for _, source := range r.Sources {
		if len(r.Sources) > 1 && source.Kind != config.Lines {
			c.report(source.Position, config.Error, "invalid-reader", "a reader has one source, or several x:lines", "")
		}
		c.checkSource(source)
	}
	fields := fieldsOf(r)
	for _, name := range r.Sources[0].Expand {
		c.checkXPath(config.XPath{Position: r.Sources[0].Position, Text: name}, fields)
	}
	c.checkIdentification(r, of, fields)
	c.checkStateTable(r, of, fields)
	c.checkFacts(r, fields)
	for _, join := range r.Joins {
		c.checkXPath(join.When, fields)
		c.checkXPath(join.With, fields)
		c.checkXPath(join.By, nil)
		c.checkReader(join.Reader, "")
	}
}

// checkIdentification checks the ids of a reader's records, and the rules for jobs without
// records.
func (c *checker) checkIdentification(r *config.Reader, of config.CommandElement, fields map[string]bool) {
	hasID := r.ID.IsSet() || slices.ContainsFunc(r.Sources, func(source *config.Source) bool { return slices.Contains(source.Columns, "id") })
	if !hasID && of.ActsOnJob() && of != "" && r.Absent == nil && !setsAttributesOnly(r) {
		c.report(r.Position, config.Error, "invalid-reader", "the records of the reader have no ids", "add an x:id, or name a column id")
	}
	c.checkXPath(r.ID, fields)
	c.checkXPath(r.Alias, fields)
	if t := r.Tasks; t != nil {
		for _, x := range []config.XPath{t.Of, t.Count, t.Complete, t.WithWhole} {
			c.checkXPath(x, nil)
		}
	}
	if a := r.Absent; a != nil {
		c.checkXPath(a.Unless, nil)
		c.checkXPath(a.Since, nil)
		c.checkXPath(a.Candidates, nil)
	}
}

// setsAttributesOnly reports whether a reader sets attributes and no facts of jobs.
func setsAttributesOnly(r *config.Reader) bool {
	return r.States == nil && len(r.Facts) > 0 && !slices.ContainsFunc(r.Facts, func(fact *config.Fact) bool { return fact.Attribute == "" })
}

// checkSource checks the patterns and expressions of a source.
func (c *checker) checkSource(s *config.Source) {
	c.checkXPath(s.Where, nil)
	c.checkXPath(s.Group, nil)
	c.checkXPath(s.Total, nil)
	switch s.Kind {
	case config.Table:
		c.checkTable(s)
	case config.Stanzas:
		c.checkColumns(s.Begin, s.Columns, false)
		if field := c.checkPattern(s.Field); field != nil && field.NumSubexp() < 2 {
			c.report(s.Field.Position, config.Error, "invalid-reader", "the pattern of a field needs two groups, for its key and its value", "")
		}
		c.checkPattern(s.Continued)
		if total := c.checkPattern(s.TotalLine); total != nil && total.NumSubexp() != 1 {
			c.report(s.TotalLine.Position, config.Error, "invalid-reader", "the pattern of the total needs one group, for the number", "")
		}
	case config.Lines:
		c.checkColumns(s.Expression, s.Columns, true)
	case config.Log:
		c.checkColumns(s.Begin, s.Columns, true)
		c.checkPattern(s.Continued)
		c.checkPattern(s.Time)
		c.checkPattern(s.End)
		for _, line := range s.Lines {
			c.checkColumns(line.Expression, line.Columns, true)
		}
	case config.JSON, config.XML:
		c.checkEach(s.Each)
	}
}

// checkEach reports a path of records other than names and * with at most one condition at its end.
func (c *checker) checkEach(each config.XPath) {
	path, condition, hasCondition := strings.Cut(each.Text, "[")
	inner, isClosed := strings.CutSuffix(condition, "]")
	switch {
	case isClosed:
		c.checkXPath(config.XPath{Position: each.Position, Text: inner}, nil)
	case hasCondition:
		path = ""
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step != "*" && (step == "" || xpath.FieldName(step) != step) {
			c.report(each.Position, config.Error, "invalid-reader", fmt.Sprintf("invalid path of records %s", wording.Quote(each.Text)),
				"write names and * separated by /, with at most one condition at the end")
			return
		}
	}
}

// checkTable checks the columns of a table.
func (c *checker) checkTable(s *config.Source) {
	c.checkPattern(s.Heading)
	if len(s.Columns) == 0 && !s.Header && !s.Heading.IsSet() {
		c.report(s.Position, config.Error, "invalid-reader", "the columns of the table have no names", `add columns="…" or header="true"`)
	}
	if isPlain := s.Separator == "" || s.Separator == config.MarkSeparator; isPlain && (s.Quote != "" || len(s.Rest) > 0) {
		c.report(s.Position, config.Error, "invalid-reader", "quote and rest require a separator", "")
	}
	if len(s.Rest) > 0 && (len(s.Columns) == 0 || !slices.Equal(s.Rest, s.Columns[len(s.Columns)-1:])) {
		c.report(s.Position, config.Error, "invalid-reader", "rest must name the last column", "")
	}
	if s.Widths != nil && len(s.Columns) != len(s.Widths)+1 {
		c.report(s.Position, config.Error, "invalid-reader", fmt.Sprintf("there are %d widths for %d columns", len(s.Widths), len(s.Columns)), "give each column but the last a width")
	}
}

// checkPattern reports a pattern that does not compile, and returns one that does.
func (c *checker) checkPattern(pattern config.Pattern) *regexp.Regexp {
	if !pattern.IsSet() {
		return nil
	}
	compiled, err := regexp.Compile(pattern.Text)
	if err != nil {
		c.report(pattern.Position, config.Error, "invalid-pattern", strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
	}
	return compiled
}

// checkColumns reports a pattern whose number of groups differs from that of the columns.
func (c *checker) checkColumns(pattern config.Pattern, columns []string, mustName bool) {
	compiled := c.checkPattern(pattern)
	if compiled == nil || compiled.NumSubexp() == len(columns) || len(columns) == 0 && !mustName {
		return
	}
	c.report(pattern.Position, config.Error, "invalid-reader", fmt.Sprintf("the pattern has %d groups for %d columns", compiled.NumSubexp(), len(columns)),
		"write groups without a name as (?:…)")
}

// fieldsOf returns the fields that records can have; nil if they depend on the output.
func fieldsOf(r *config.Reader) map[string]bool {
	fields := map[string]bool{"row": true}
	for _, source := range r.Sources {
		switch {
		case source.Kind == config.Table && len(source.Columns) > 0, source.Kind == config.Lines:
		case source.Kind == config.Log:
			for _, line := range source.Lines {
				addFields(fields, append(line.Columns, line.Time))
			}
		default:
			return nil
		}
		addFields(fields, source.Columns)
	}
	if len(r.Joins) > 0 {
		return nil // below them are fields of other outputs
	}
	return fields
}

func addFields(fields map[string]bool, names []string) {
	for _, name := range names {
		fields[xpath.FieldName(name)] = true
	}
}

// checkXPath reports an expression that does not compile, and unknown fields that it uses.
func (c *checker) checkXPath(x config.XPath, fields map[string]bool) {
	if !x.IsSet() {
		return
	}
	compiled, err := xpath.Compile(x.Text)
	if err != nil {
		c.report(x.Position, config.Error, "invalid-xpath", err.Error(), "")
		return
	}
	for _, name := range compiled.Attributes() {
		c.use(name, usedElsewhere)
	}
	for _, name := range compiled.Fields() {
		if fields != nil && !fields[name] {
			c.reportName(x.Position, config.Warning, "missing-source-field", fmt.Sprintf("the source has no field %s", wording.Quote(name)), name, slices.Sorted(maps.Keys(fields)))
		}
	}
}

// checkStateTable checks the states of a reader.
func (c *checker) checkStateTable(r *config.Reader, of config.CommandElement, fields map[string]bool) {
	if r.States == nil {
		return
	}
	c.checkXPath(r.States.Of, fields)
	readsWords := func(row *config.StateRow) bool { return len(row.Words) > 0 || row.Matches.IsSet() }
	if !r.States.Of.IsSet() && slices.ContainsFunc(r.States.Rows, readsWords) {
		c.report(r.States.Position, config.Error, "invalid-reader", "the table of states does not say which word to look up", `add of="…"`)
	}
	taken := map[string]bool{} // words that an earlier row always takes
	takesAll := false
	for _, row := range r.States.Rows {
		c.checkStateRow(row, of, fields)
		isTaken := func(word string) bool { return taken[word] }
		hasWords := len(row.Words) > 0
		if takesAll || hasWords && !row.Matches.IsSet() && !slices.ContainsFunc(row.Words, func(word string) bool { return !isTaken(word) }) {
			c.report(row.Position, config.Warning, "unreachable-row", "earlier rows without a test take all words of this one", "move it up")
		}
		if row.Test.IsSet() {
			continue
		}
		takesAll = takesAll || !hasWords && !row.Matches.IsSet()
		for _, word := range row.Words {
			taken[word] = true
		}
	}
}

// checkStateRow checks the expressions and the states of a row.
func (c *checker) checkStateRow(row *config.StateRow, of config.CommandElement, fields map[string]bool) {
	if row.Inherited {
		fields = nil // a test is false for a field that this source lacks
	}
	c.checkXPath(row.Test, fields)
	c.checkPattern(row.Matches)
	c.checkStateName(row.Is, row.Position, of)
	if row.Beside != "" {
		c.checkStateName(row.Beside, row.Position, of)
	}
}

// statesOf are the states of the elements of a listing.
var statesOf = map[config.CommandElement][]string{
	config.ListNodes:  {"UP", "DOWN", "ERROR", "UNKNOWN"},
	config.ListQueues: {"NORMAL", "COLLECTING", "DRAINING", "STOPPED"},
}

// checkStateName reports an unknown state.
func (c *checker) checkStateName(state string, at config.Position, of config.CommandElement) {
	names := statesOf[of]
	if names == nil {
		if _, isKnown := job.ParseDetail(state); isKnown {
			return
		}
		names = stateNames()
	}
	if !slices.Contains(names, state) {
		c.reportName(at, config.Error, "unknown-state", fmt.Sprintf("unknown state %s", wording.Quote(state)), state, names)
	}
}

// checkFacts checks the facts of a reader.
func (c *checker) checkFacts(r *config.Reader, fields map[string]bool) {
	always := map[string]bool{} // name and expression of facts without a condition
	for _, fact := range r.Facts {
		own := fields
		if fact.Inherited {
			own = nil // a field that this source lacks is skipped
		}
		for _, x := range []config.XPath{fact.From, fact.When, fact.Base, fact.Default} {
			c.checkXPath(x, own)
		}
		c.checkPattern(fact.Find)
		if (fact.Name == "") == (fact.Attribute == "") {
			c.report(fact.Position, config.Error, "invalid-reader", "a fact needs either a name or an attribute", "")
		}
		if fact.From.IsSet() == (fact.SameAs != "") {
			c.report(fact.Position, config.Error, "invalid-reader", "a fact needs either from or same-as", "")
		}
		key := fact.Name + "=" + fact.From.Text
		if fact.SameAs == "" && fact.Attribute == "" && always[key] && !fact.Append.Set {
			c.report(fact.Position, config.Warning, "unreachable-row", "an earlier fact of this name has the same value", "")
		}
		always[key] = always[key] || !fact.When.IsSet() && fact.None == nil && !fact.Find.IsSet() && fact.As == ""
	}
}
