package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// readers reads the readers of a definition, those that others extend first.
func (l *loader) readers(control *xmltree.Element) []*Reader {
	elements := map[string]*xmltree.Element{}
	var names []string
	for _, child := range control.Children {
		name := child.Value("name")
		switch {
		case !child.IsExtension("reader"):
		case elements[name] != nil:
			l.report(child.ValuePosition("name"), Error, "duplicate-reader",
				fmt.Sprintf("a second reader is called %q; the first is on line %d", name, elements[name].Position().Line), "")
		default:
			names = append(names, name)
			elements[name] = child
		}
	}
	read := map[string]*Reader{}
	var readers []*Reader
	for _, name := range names {
		readers = append(readers, l.namedReader(name, elements, read, nil))
	}
	return readers
}

// namedReader reads a reader, and before it the one that it extends.
func (l *loader) namedReader(name string, elements map[string]*xmltree.Element, read map[string]*Reader, below []string) *Reader {
	if reader, isRead := read[name]; isRead {
		return reader
	}
	e := elements[name]
	reader := &Reader{}
	if base := e.Value("extends"); base != "" {
		switch {
		case slices.Contains(append(below, name), base):
			l.report(e.ValuePosition("extends"), Error, "reader-extends", fmt.Sprintf("reader %q extends itself", name), "")
		case elements[base] == nil:
			l.report(e.ValuePosition("extends"), Error, "reader-extends", fmt.Sprintf("there is no reader %q", base), "")
		default:
			inherited := l.namedReader(base, elements, read, append(below, name))
			reader = inherited.inherited()
		}
	}
	reader.Position, reader.Name = e.Position(), name
	l.fillReader(reader, e)
	read[name] = reader
	return reader
}

// inherited returns a copy of a reader, to be changed by one that extends it.
func (r *Reader) inherited() *Reader {
	copied := *r
	copied.Facts = nil
	for _, fact := range r.Facts {
		inherited := *fact
		inherited.Inherited = true
		copied.Facts = append(copied.Facts, &inherited)
	}
	copied.Joins = slices.Clone(r.Joins)
	return &copied
}

// commandReader returns the reader of a command (x:read): a named one, with what the
// element adds, or one of its own.
func (l *loader) commandReader(e *xmltree.Element) *Reader {
	name := e.Value("reader")
	if name == "" {
		reader := &Reader{Position: e.Position()}
		l.fillReader(reader, e)
		return reader
	}
	for _, reader := range l.definitionReaders {
		if reader.Name == name {
			used := *reader
			l.fillReader(&used, e)
			return &used
		}
	}
	l.report(e.ValuePosition("reader"), Error, "unknown-reader", fmt.Sprintf("there is no reader %q", name), "")
	return &Reader{Position: e.Position()}
}

// fillReader reads the settings of a reader from an element. They override inherited ones.
func (l *loader) fillReader(r *Reader, e *xmltree.Element) {
	for _, words := range []struct {
		name string
		into *[]string
	}{{"none", &r.None}, {"needs", &r.Needs}} {
		if text := e.Optional(words.name); text.Set {
			*words.into = strings.Fields(text.Text)
		}
	}
	if text := e.Optional("repeats"); text.Set {
		r.RepeatsLast = text.Text == "last"
	}
	r.EndsOnly = e.Boolean("ends-only", r.EndsOnly)
	own := map[string]bool{}
	sources := false
	for _, child := range e.Children {
		if child.Space != xmltree.ExtensionNamespace {
			continue
		}
		switch child.Name {
		case "id":
			r.ID, r.Alias = xpathOf(child, "from"), xpathOf(child, "also")
		case "tasks":
			r.Tasks = tasksOf(child, r.Tasks)
		case "states":
			r.States = statesOf(child, r.States)
		case "fact":
			r.addFact(factOf(child), own)
		case "join":
			r.addJoin(l.join(child))
		case "absent":
			r.Absent = &Absent{
				Position: child.Position(), Within: xpathOf(child, "within"), Since: xpathOf(child, "since"), Unless: xpathOf(child, "unless"),
				Candidates: xpathOf(child, "candidates"), Is: child.Value("is"), After: xpathOf(child, "after"), Reason: child.Value("reason"),
			}
		case string(Table), string(Stanzas), string(Lines), string(Log), string(JSON), string(XML):
			if !sources {
				r.Sources, sources = nil, true
			}
			r.Sources = append(r.Sources, sourceOf(child))
		}
	}
}

// addFact adds a fact. The first of a name replaces those of the reader that is extended or used.
func (r *Reader) addFact(fact *Fact, own map[string]bool) {
	key := fact.Name + "@" + fact.Attribute
	if !own[key] {
		own[key] = true
		r.Facts = slices.DeleteFunc(slices.Clone(r.Facts), func(other *Fact) bool {
			return other.Name == fact.Name && other.Attribute == fact.Attribute
		})
	}
	r.Facts = append(r.Facts, fact)
}

// addJoin adds a join. It replaces an inherited one of the same name.
func (r *Reader) addJoin(join *Join) {
	r.Joins = append(slices.DeleteFunc(slices.Clone(r.Joins), func(other *Join) bool { return other.Name == join.Name }), join)
}

func xpathOf(e *xmltree.Element, name string) XPath {
	return XPath{Position: e.ValuePosition(name), Text: strings.TrimSpace(e.Value(name))}
}

func patternOf(e *xmltree.Element, name string) Pattern {
	return Pattern{Position: e.ValuePosition(name), Text: e.Value(name)}
}

func sourceOf(e *xmltree.Element) *Source {
	s := &Source{
		Position: e.Position(), Kind: e.Name,
		Where: xpathOf(e, "where"), Group: xpathOf(e, "group"), Total: xpathOf(e, "total"),
		Expand:  strings.Fields(e.Value("expand")),
		Columns: strings.Fields(e.Value("columns")), Separator: e.Value("separator"), Header: e.Boolean("header", false),
		Heading: patternOf(e, "heading"), Quote: e.Value("quote"),
		Begin: patternOf(e, "begin"), Field: patternOf(e, "field"), Continued: patternOf(e, "continued"),
		Rest: strings.Fields(e.Value("rest")), Repeated: strings.Fields(e.Value("repeated")), Until: e.Value("until"),
		Expression: patternOf(e, "expression"), Only: e.Boolean("only", false), Time: patternOf(e, "time"), End: patternOf(e, "end"),
		Each: xpathOf(e, "each"),
	}
	if s.Kind == Stanzas {
		s.TotalLine, s.Total, s.MayBeEmpty = patternOf(e, "total"), XPath{}, e.Boolean("may-be-empty", false)
	}
	for width := range strings.FieldsSeq(e.Value("widths")) {
		number, _ := strconv.Atoi(width) // the schema reports other values
		s.Widths = append(s.Widths, number)
	}
	for _, child := range e.Children {
		if child.IsExtension("line") {
			s.Lines = append(s.Lines, &LogEvent{
				Position: child.Position(), Expression: patternOf(child, "expression"), Columns: strings.Fields(child.Value("columns")),
				Time: child.Value("time"), Clears: strings.Fields(child.Value("clears")),
			})
		}
	}
	return s
}

// tasksOf reads x:tasks; each attribute overrides the inherited one.
func tasksOf(e *xmltree.Element, inherited *Tasks) *Tasks {
	t := &Tasks{}
	if inherited != nil {
		*t = *inherited
	}
	t.Position = e.Position()
	for _, part := range []struct {
		name string
		into *XPath
	}{{"of", &t.Of}, {"count", &t.Count}, {"complete", &t.Complete}, {"with-whole", &t.WithWhole}} {
		if e.Optional(part.name).Set {
			*part.into = xpathOf(e, part.name)
		}
	}
	if text := e.Optional("none"); text.Set {
		t.None = strings.Fields(text.Text)
	}
	t.WholeYields = e.Boolean("whole-yields", t.WholeYields)
	return t
}

// statesOf reads x:states. Without an expression its rows go before the inherited ones;
// without rows it changes the expression only.
func statesOf(e *xmltree.Element, inherited *States) *States {
	s := &States{Position: e.Position(), Of: xpathOf(e, "of"), Split: e.Value("split")}
	for _, child := range e.Children {
		if child.IsExtension("state") {
			s.Rows = append(s.Rows, &StateRow{
				Position: child.Position(), Is: child.Value("is"), Words: strings.Fields(child.Value("words")),
				Matches: patternOf(child, "matches"), Test: xpathOf(child, "test"), Reason: child.Value("reason"), Ask: child.Boolean("ask", false),
				Yields: child.Boolean("yields", false), Beside: child.Value("beside"),
			})
		}
	}
	switch {
	case inherited == nil:
	case !s.Of.IsSet():
		s.Of, s.Split, s.Rows = inherited.Of, inherited.Split, append(s.Rows, inheritedRows(inherited.Rows)...)
	case len(s.Rows) == 0:
		s.Rows = inheritedRows(inherited.Rows)
	}
	return s
}

// inheritedRows returns copies of rows for a reader that extends theirs.
func inheritedRows(rows []*StateRow) []*StateRow {
	copied := make([]*StateRow, len(rows))
	for i, row := range rows {
		one := *row
		one.Inherited = true
		copied[i] = &one
	}
	return copied
}

func factOf(e *xmltree.Element) *Fact {
	f := &Fact{
		Position: e.Position(), Name: e.Value("name"), Attribute: e.Value("attribute"),
		From: xpathOf(e, "from"), As: e.Value("as"), When: xpathOf(e, "when"), None: strings.Fields(e.Value("none")),
		Text: e.Value("text"), Append: e.Optional("append"), SameAs: e.Value("same-as"),
		Find: patternOf(e, "find"), Split: e.Value("split"),
		Format: e.Value("format"), To: e.Value("to"), Unit: e.Value("unit"),
		Base: xpathOf(e, "base"), Words: strings.Fields(e.Value("words")), Default: xpathOf(e, "default"),
	}
	if f.As == "text" {
		f.As = ""
	}
	for base := range strings.FieldsSeq(e.Value("signal-base")) {
		number, _ := strconv.Atoi(base) // the schema reports other values
		f.SignalBase = append(f.SignalBase, number)
	}
	return f
}

// join reads an x:join: a command and the source of its records.
func (l *loader) join(e *xmltree.Element) *Join {
	by := e.Optional("by")
	j := &Join{
		Command: l.command(e, joinCommand), By: xpathOf(e, "by"), ByAll: by.Set && strings.TrimSpace(by.Text) == "",
		With: xpathOf(e, "with"), Split: e.Value("split"), When: xpathOf(e, "when"), Optional: e.Boolean("optional", false),
		Reader: &Reader{Position: e.Position(), Name: e.Value("name")},
	}
	l.fillReader(j.Reader, e)
	return j
}

// joinsOf returns the joins of a command's reader. Their commands get its environment, too.
func joinsOf(c *Command) []*Join {
	var joins []*Join
	for _, join := range c.Read.Joins {
		own, command := *join, *join.Command
		command.Environment = slices.Concat(c.Environment, command.Environment)
		own.Command = &command
		joins = append(joins, &own)
	}
	return joins
}

// batch reads an x:for: a command that prints ids.
func (l *loader) batch(e *xmltree.Element) *Batch {
	b := &Batch{Command: l.command(e, batchCommand), Size: e.Integer("batch", 1), Separator: " ", Reader: &Reader{Position: e.Position()}}
	if text := e.Optional("separator"); text.Set {
		b.Separator = text.Text
	}
	b.Attribute, b.IsUndefinedIfMatches = e.Optional("attribute"), e.Optional("isUndefinedIfMatches")
	l.fillReader(b.Reader, e)
	return b
}

// idsOf reads x:ids.
func idsOf(e *xmltree.Element) *IDs {
	return &IDs{
		Position: e.Position(), Form: patternOf(e, "form"), Columns: strings.Fields(e.Value("columns")),
		Drop: patternOf(e, "drop"), Replacement: e.Value("replacement"), Own: patternOf(e, "own"),
		Outputs: strings.Fields(e.Value("outputs")), IgnoreCase: e.Boolean("ignore-case", false),
	}
}

// markReference refers to the mark of the query.
const markReference = "${ptp_rm:query.mark#value}"

// marked returns the columns of an argument with x:marked as one word: what x:marked says, then
// each column and the mark of the query.
func marked(prefix, columns string) string {
	return prefix + strings.Join(strings.Fields(columns), markReference) + markReference
}
