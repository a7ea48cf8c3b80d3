package config

import (
	"github.com/rmctl/rmctl/config/internal/tree"
	"github.com/rmctl/rmctl/javaregex"
	"github.com/rmctl/rmctl/schemas"
)

// A checker finds the problems of a definition that no schema can express. It
// looks at the elements, for the places of what stands in them, and at the
// definition that was read from them.
type checker struct {
	*loader
	root       tree.Element
	definition *Definition
	names      *knownNames
	attributes map[string]*Attribute // of several of one name the last
	inspector  *javaregex.Inspector

	uses        map[string]use  // of attributes, by their names
	dynamicUses bool            // references have names that are known only when they are resolved
	listed      map[string]bool // the attributes that parsers add to; nil until asked for
}

func (l *loader) checkDefinition(root tree.Element, d *Definition) {
	c := &checker{
		loader: l, root: root, definition: d, names: namesOf(root), attributes: map[string]*Attribute{}, uses: map[string]use{},
		inspector: javaregex.NewInspector(inspectionEffort),
	}
	for _, a := range d.Attributes {
		c.attributes[a.Name()] = a
	}
	c.checkTexts(root, "")
	c.checkAttributes()
	c.checkArguments(root)
	c.checkLaunchTab()
	c.checkFiles()
	c.checkPortable()
	c.checkCommandNames()
	c.checkUses()
	c.checkCommands()
	c.checkRunaways()
}

// use tells what an attribute is used for.
type use uint8

const (
	usedByJobs    use = 1 << iota // by the script, files and commands of a job
	usedElsewhere                 // by other commands, attributes, or as a text of the form
	bound                         // set by a control of the form
	listed                        // shown in a viewer of the form
	parsedInto                    // set by a parser
)

func (c *checker) use(name string, how use) { c.uses[name] |= how }

// useIn returns what a reference in a part of control-data uses an attribute for.
func useIn(part string) use {
	switch {
	case part == "script" || part == "managed-files":
		return usedByJobs
	case isCommandElement(part) && !isSessionPart(part):
		return usedByJobs
	}
	return usedElsewhere
}

// Suggestions cost time that grows with the number of names; whoever has more
// misspellings than this will look again.
const (
	maxSuggestions          = 100
	maxSuggestionCandidates = 2000
)

// reportName reports a name that is wrong, with the candidate that was probably meant.
func (l *loader) reportName(at Position, severity Severity, code, message, name string, candidates []string) {
	var nearest string
	if l.suggested < maxSuggestions && len(candidates) <= maxSuggestionCandidates {
		nearest = schemas.Nearest(name, candidates)
		l.suggested++
	}
	if nearest == "" {
		l.report(at, severity, code, message, "")
		return
	}
	l.reportReplacement(at, severity, code, message, name, nearest)
}

// reportReplacement reports a text that stands at a position and should be another.
func (l *loader) reportReplacement(at Position, severity Severity, code, message, wrong, right string) {
	l.report(at, severity, code, message, right)
	l.problems[len(l.problems)-1].Replaces = wrong
}

// eachParser calls visit for the parsers of all commands.
func eachParser(d *Definition, visit func(*Parser)) {
	for _, command := range d.Commands {
		for _, parser := range command.parsers() {
			visit(parser)
		}
		for _, fallback := range command.Fallbacks {
			for _, parser := range fallback.parsers() {
				visit(parser)
			}
		}
	}
}

// eachAction calls visit for the actions of a target: of its matches, its tests
// and its else.
func eachAction(t *Target, visit func(*Action)) {
	all := func(actions []*Action) {
		for _, action := range actions {
			visit(action)
		}
	}
	for _, match := range t.Matches {
		all(match.Actions)
	}
	all(t.Else)
	var tests func([]*Test)
	tests = func(of []*Test) {
		for _, test := range of {
			all(test.Actions)
			all(test.Else)
			tests(test.Tests)
		}
	}
	tests(t.Tests)
}
