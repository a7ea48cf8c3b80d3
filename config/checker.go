package config

import "github.com/rmctl/rmctl/schemas"

// A checker finds the problems of a definition that no schema can express. It
// looks at the elements, for the places of what stands in them, and at the
// definition that was read from them.
type checker struct {
	*loader
	root       element
	definition *Definition
	names      *knownNames

	uses        map[string]use // of attributes, by their names
	dynamicUses bool           // references have names that are known only when they are resolved
}

func (l *loader) checkDefinition(root element, d *Definition) {
	c := &checker{loader: l, root: root, definition: d, names: namesOf(root), uses: map[string]use{}}
	c.checkTexts(root, "")
	c.checkAttributes()
	for _, command := range d.Commands {
		l.checkCommand(command)
		for _, fallback := range command.Fallbacks {
			l.checkCommand(fallback)
		}
	}
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
