// Package check finds the problems of definitions.
//
// [Load] reads a definition and reports all its problems; [Codes] lists
// the kinds of problems. To read a definition without checks, use package config's
// Read.
package check

import (
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A checker finds the problems of a definition that no schema can express. It
// uses the elements, which have positions, and the definition read from them.
type checker struct {
	root       *xmltree.Element
	problems   config.Diagnostics
	definition *config.Definition
	names      *knownNames
	attributes map[string]*config.Attribute // of several of one name the last
	inspector  *javaregex.Inspector

	uses        map[string]use  // of attributes, by their names
	dynamicUses bool            // some references have names that contain references
	listed      map[string]bool // the attributes that parsers add to
	suggested   int             // how many suggestions were looked up
	expressions expressionTable
}

// problemsOf checks a definition that was read from the elements below a root. Effort
// limits the proofs about its expressions.
func problemsOf(d *config.Definition, root *xmltree.Element, effort int) config.Diagnostics {
	c := &checker{
		root: root, definition: d, names: namesOf(root), listed: listsIn(d), attributes: map[string]*config.Attribute{}, uses: map[string]use{},
		inspector:   javaregex.NewInspector(effort),
		expressions: expressionTable{compiled: map[expressionKey]compiledExpression{}, written: map[config.Position]*writtenExpression{}},
	}
	for _, a := range d.Attributes {
		c.attributes[a.Name()] = a
	}
	c.checkSchema()
	for e := range root.All() {
		c.checkExtensionAttributes(e)
		c.checkElement(e)
		c.checkTexts(e)
		c.checkArguments(e)
	}
	c.checkAttributes()
	c.checkLaunchTab()
	c.checkFiles()
	c.checkPortable()
	c.checkCommandNames()
	c.checkCommands()
	c.checkReaders()
	c.checkUses()
	// If proofs are hard, the other inspector has no effort left.
	c.checkRunaways(javaregex.NewInspector(effort))
	return c.problems
}

func (c *checker) report(at config.Position, severity config.Severity, code, message, suggestion string) {
	c.problems = append(c.problems, config.Diagnostic{Position: at, Severity: severity, Code: code, Message: message, Suggestion: suggestion})
}

// A use is what an attribute is used for.
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
	case config.CommandElement(part).IsCore() && !isSessionPart(part):
		return usedByJobs
	}
	return usedElsewhere
}

// Suggestions cost time that grows with the number of names, so their number is
// limited.
const (
	maxSuggestions          = 100
	maxSuggestionCandidates = 2000
)

// reportName reports a name that is wrong, with the candidate that was probably meant.
func (c *checker) reportName(at config.Position, severity config.Severity, code, message, name string, candidates []string) {
	var nearest string
	if c.suggested < maxSuggestions && len(candidates) <= maxSuggestionCandidates {
		nearest = wording.Nearest(name, candidates)
		c.suggested++
	}
	if nearest == "" {
		c.report(at, severity, code, message, "")
		return
	}
	c.reportReplacement(at, severity, code, message, name, nearest)
}

// reportReplacement reports a wrong text at a position, and its replacement.
func (c *checker) reportReplacement(at config.Position, severity config.Severity, code, message, wrong, right string) {
	c.report(at, severity, code, message, right)
	c.problems[len(c.problems)-1].Replaces = wrong
}

// parsers returns the parsers of a command and of its fallbacks.
func parsers(c *config.Command) []*config.Parser {
	var all []*config.Parser
	for _, one := range withFallbacks(c) {
		all = append(all, one.Parsers()...)
	}
	return all
}

// inspectionEffort limits the proofs about the expressions of one definition to
// some ten milliseconds, and to a second where expressions run away. Definitions in
// use take a hundredth of it.
const inspectionEffort = 200_000

// Load reads a definition, and those that it extends, and checks it. File names it in
// positions; without a base reader a definition that extends another cannot be loaded.
// All problems are reported, sorted by file, its own first, and by position; when there
// are errors among them the definition must not be used, and it is nil when the document
// could not be read at all.
func Load(file string, source []byte, base config.BaseReader) (*config.Definition, config.Diagnostics) {
	return config.Load(file, source, base, func(d *config.Definition, root *xmltree.Element) config.Diagnostics {
		return problemsOf(d, root, inspectionEffort)
	})
}
