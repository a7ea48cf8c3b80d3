package breaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/sorting"
)

// A change breaks one thing of a definition. Its position identifies the thing, since
// readers share what they inherit.
type change struct {
	what  string // for people, and as the key of a reason
	at    config.Position
	apply func(r *config.Reader) // for readers that may have the thing; nil for things of commands
	drop  func(c *config.Command)
}

// changesOf returns the changes of a definition in document order; its cases should
// notice each.
func changesOf(d *config.Definition) []change {
	found := &changes{known: map[string]bool{}}
	for _, c := range commandsOf(d) {
		found.ofReader(c.Read)
		for _, fallback := range c.Fallbacks {
			found.ofFallback(fallback)
		}
		if c.Batch != nil {
			found.ofReader(c.Batch.Reader)
		}
		if c.Element == config.OnNodes {
			found.ofOnNodes(c)
		}
	}
	// What it inherits is for the cases of its base.
	own := slices.DeleteFunc(found.all, func(c change) bool { return c.at.File != d.File })
	sorting.Stable(own, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	})
	return own
}

// commandsOf returns the commands of a definition, each followed by its fallbacks.
func commandsOf(d *config.Definition) []*config.Command {
	var all []*config.Command
	for _, c := range d.Commands {
		all = append(append(all, c), c.Fallbacks...)
	}
	return all
}

// applyTo applies the change to a definition loaded for it.
func (c change) applyTo(d *config.Definition) {
	for _, command := range commandsOf(d) {
		if c.drop != nil {
			c.drop(command)
			continue
		}
		readers := []*config.Reader{command.Read}
		if command.Batch != nil {
			readers = append(readers, command.Batch.Reader)
		}
		for _, r := range readers {
			if r != nil {
				c.apply(r)
			}
		}
	}
}

// changes collects changes, each once.
type changes struct {
	all   []change
	known map[string]bool
}

func (f *changes) add(c change) {
	c.what = strings.Join(strings.Fields(c.what), " ") // however the definition wraps its lines
	key := fmt.Sprint(c.at, c.what)
	if !f.known[key] {
		f.known[key] = true
		f.all = append(f.all, c)
	}
}

func (f *changes) ofFallback(fallback *config.Command) {
	at := fallback.Position
	f.add(change{what: fmt.Sprintf("delete the fallback %s", fallback.Name), at: at, drop: func(c *config.Command) {
		c.Fallbacks = slices.DeleteFunc(c.Fallbacks, func(other *config.Command) bool { return other.Position == at })
	}})
}

// ofOnNodes deletes the parts of an x:on-nodes, one at a time.
func (f *changes) ofOnNodes(command *config.Command) {
	at := command.Position
	f.add(change{what: fmt.Sprintf("delete the command %s", command.Name), at: at, drop: func(c *config.Command) {
		if c.Position == at {
			c.Arguments, c.Processes, c.Over, c.JobIDs = nil, "", "", config.Pattern{}
		}
	}})
	for _, argument := range command.Arguments {
		f.add(change{what: fmt.Sprintf("delete the arg %s of %s", argument.Text, command.Name), at: argument.Position, drop: func(c *config.Command) {
			c.Arguments = slices.DeleteFunc(slices.Clone(c.Arguments), func(other *config.Argument) bool { return other.Position == argument.Position })
		}})
	}
	if over := command.Over; over != "" {
		f.add(change{what: fmt.Sprintf("delete over %s of %s", over, command.Name), at: at, drop: func(c *config.Command) {
			if c.Position == at {
				c.Over = ""
			}
		}})
	}
	if command.NoSignals {
		f.add(change{what: fmt.Sprintf("let signals end %s", command.Name), at: at, drop: func(c *config.Command) {
			c.NoSignals = c.NoSignals && c.Position != at
		}})
	}
	if ids := command.JobIDs; ids.IsSet() {
		f.add(change{what: fmt.Sprintf("delete the ids %s of %s", ids.Text, command.Name), at: ids.Position, drop: func(c *config.Command) {
			if c.JobIDs.Position == ids.Position {
				c.JobIDs = config.Pattern{}
			}
		}})
	}
	for _, pair := range strings.Fields(command.Processes) {
		f.add(change{what: fmt.Sprintf("delete the variable %s of %s", pair, command.Name), at: at, drop: func(c *config.Command) {
			if c.Position == at {
				pairs := slices.DeleteFunc(strings.Fields(c.Processes), func(other string) bool { return other == pair })
				c.Processes = strings.Join(pairs, " ")
			}
		}})
	}
}

func (f *changes) ofReader(r *config.Reader) {
	if r == nil {
		return
	}
	if r.States != nil {
		for i, row := range r.States.Rows {
			f.ofRow(row)
			if i+1 < len(r.States.Rows) && !exclude(row, r.States.Rows[i+1]) {
				f.swap(row, r.States.Rows[i+1])
			}
		}
	}
	for _, fact := range r.Facts {
		f.ofFact(fact)
	}
	for _, join := range r.Joins {
		f.ofJoin(join)
	}
	for _, source := range r.Sources {
		at := source.Position
		f.ofCondition("the condition where", source.Where, func(r *config.Reader, to func(*config.XPath)) {
			for _, each := range r.Sources {
				if each.Position == at {
					to(&each.Where)
				}
			}
		})
	}
	if r.Tasks != nil {
		f.ofTasks(r.Tasks)
	}
	if r.Absent != nil {
		f.ofCondition("the condition unless", r.Absent.Unless, func(r *config.Reader, to func(*config.XPath)) {
			if r.Absent != nil {
				to(&r.Absent.Unless)
			}
		})
	}
}

// ofTasks deletes and negates the conditions of tasks.
func (f *changes) ofTasks(tasks *config.Tasks) {
	f.ofCondition("the condition complete", tasks.Complete, func(r *config.Reader, to func(*config.XPath)) {
		if r.Tasks != nil {
			to(&r.Tasks.Complete)
		}
	})
	f.ofCondition("the condition with-whole", tasks.WithWhole, func(r *config.Reader, to func(*config.XPath)) {
		if r.Tasks != nil {
			to(&r.Tasks.WithWhole)
		}
	})
}

// ofCondition deletes and negates a condition. In returns where readers have it.
func (f *changes) ofCondition(what string, condition config.XPath, in func(r *config.Reader, to func(*config.XPath))) {
	if !condition.IsSet() {
		return
	}
	for _, verb := range []string{"delete", "negate"} {
		text := ""
		if verb == "negate" {
			text = "not(" + condition.Text + ")"
		}
		f.add(change{what: fmt.Sprintf("%s %s %s", verb, what, condition.Text), at: condition.Position, apply: func(r *config.Reader) {
			in(r, func(x *config.XPath) {
				if x.Position == condition.Position {
					x.Text = text
				}
			})
		}})
	}
}

// rowsAt changes the rows of a table at a position.
func rowsAt(at config.Position, to func(row *config.StateRow)) func(r *config.Reader) {
	return func(r *config.Reader) {
		if r.States == nil {
			return
		}
		for _, row := range r.States.Rows {
			if row.Position == at {
				to(row)
			}
		}
	}
}

// otherState returns another state.
func otherState(is string) string {
	others := map[string]string{"UP": "DOWN", "DOWN": "UP", "ERROR": "UP", "UNKNOWN": "UP", "NORMAL": "STOPPED", "RUNNING": "SUSPENDED", "COMPLETED": "FAILED"}
	if other, has := others[is]; has {
		return other
	}
	if slices.Contains([]string{"COLLECTING", "DRAINING", "STOPPED"}, is) {
		return "NORMAL"
	}
	return "RUNNING"
}

// nameOf identifies a row.
func nameOf(row *config.StateRow) string {
	words := strings.Join(append(slices.Clone(row.Words), row.Matches.Text), " ")
	return strings.TrimSpace(strings.TrimSpace(row.Is+" "+words) + " " + row.Test.Text)
}

func (f *changes) ofRow(row *config.StateRow) {
	at, name, other := row.Position, nameOf(row), otherState(row.Is)
	f.add(change{what: "delete the state " + name, at: at, apply: func(r *config.Reader) {
		if r.States != nil {
			r.States.Rows = slices.DeleteFunc(slices.Clone(r.States.Rows), func(other *config.StateRow) bool { return other.Position == at })
		}
	}})
	f.add(change{what: "another state than " + name, at: at, apply: rowsAt(at, func(row *config.StateRow) { row.Is = other })})
	if row.Beside != "" {
		f.add(change{what: "delete the state of " + name + " beside others", at: at, apply: rowsAt(at, func(row *config.StateRow) { row.Beside = "" })})
	}
	for _, word := range row.Words {
		if len(row.Words) > 1 {
			f.add(change{what: fmt.Sprintf("delete the word %s of %s", word, row.Is), at: at, apply: rowsAt(at, func(row *config.StateRow) {
				row.Words = slices.DeleteFunc(slices.Clone(row.Words), func(other string) bool { return other == word })
			})})
		}
	}
	f.ofCondition("the test", row.Test, func(r *config.Reader, to func(*config.XPath)) {
		rowsAt(at, func(row *config.StateRow) { to(&row.Test) })(r)
	})
}

func (f *changes) swap(first, second *config.StateRow) {
	if first.Is == second.Is && first.Reason == second.Reason && first.Ask == second.Ask && first.Yields == second.Yields && first.Beside == second.Beside {
		return
	}
	f.add(change{what: fmt.Sprintf("swap the states %s and %s", nameOf(first), nameOf(second)), at: first.Position, apply: func(r *config.Reader) {
		if r.States == nil {
			return
		}
		rows := slices.Clone(r.States.Rows)
		for i := range len(rows) - 1 {
			if rows[i].Position == first.Position && rows[i+1].Position == second.Position {
				rows[i], rows[i+1] = rows[i+1], rows[i]
				break
			}
		}
		r.States.Rows = rows
	}})
}

func (f *changes) ofFact(fact *config.Fact) {
	at, name := fact.Position, strings.TrimSpace(fact.Name+fact.Attribute+" "+fact.From.Text)
	f.add(change{what: "delete the fact " + name, at: at, apply: func(r *config.Reader) {
		r.Facts = slices.DeleteFunc(slices.Clone(r.Facts), func(other *config.Fact) bool { return other.Position == at })
	}})
	f.ofCondition("the condition of the fact "+fact.Name, fact.When, func(r *config.Reader, to func(*config.XPath)) {
		for _, each := range r.Facts {
			if each.Position == at {
				to(&each.When)
			}
		}
	})
}

func (f *changes) ofJoin(join *config.Join) {
	at := join.Position
	f.add(change{what: "delete the join " + join.Name, at: at, apply: func(r *config.Reader) {
		r.Joins = slices.DeleteFunc(slices.Clone(r.Joins), func(other *config.Join) bool { return other.Position == at })
	}})
	f.ofCondition("the condition of the join "+join.Name, join.When, func(r *config.Reader, to func(*config.XPath)) {
		for _, each := range r.Joins {
			if each.Position == at {
				to(&each.When)
			}
		}
	})
}
