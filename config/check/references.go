package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

var referenceCodes = []Code{
	{"undefined-attribute", config.Warning, "A name refers to an undefined attribute."},
	{"malformed-reference", config.Warning, "A reference is not written as ${ptp_rm:NAME#FIELD}."},
	{"unresolved-reference", config.Warning, "A reference is used where rmctl does not resolve references."},
	{"not-yet-known", config.Warning, "A reference is used before its attribute has a value."},
}

// resolvedTexts are the elements whose texts the engine resolves, besides arguments.
var resolvedTexts = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"file-staging-location": true, "path": true, "contents": true,
		"expression": true, "exit-on": true, "exit-after": true,
		"default": true, "value": true, "description": true, "tooltip": true, "fixed-text": true,
	}
})

// resolvedValues are the attributes of elements whose values the engine resolves.
var resolvedValues = []string{
	"directory", "exec", "isUndefinedIfMatches", "isUndefIfMatches", "ref", "message", "key", "value", "expression",
	"pattern", "separator",
}

// unresolvedValues are exceptions from resolvedValues, by the element.
var unresolvedValues = map[string]string{
	"regex": "expression", "outcome": "expression",
	"rule": "value", "show-if": "value", "hide-if": "value", "enable-if": "value", "disable-if": "value",
}

func isArgument(name string) bool { return name == "arg" || name == "input" || name == "args" }

// resolvesText reports whether the engine resolves the text of an element.
func resolvesText(e *xmltree.Element) bool {
	if isArgument(e.Name) {
		return e.Boolean("resolve", true)
	}
	return resolvedTexts()[e.Name]
}

func resolvesValue(e *xmltree.Element, name string) bool {
	switch {
	case e.Name == "file":
		return name == "name"
	case e.Name == "process-mark":
		return name == "text" || name == "shown"
	case e.IsExtension(string(config.OnNodes)) && name == "processes":
		return true
	case isArgument(e.Name):
		return !e.Optional("attribute").Set && e.Boolean("resolve", true)
	case e.IsExtension("portable"):
		return name == "text"
	case unresolvedValues[e.Name] == name:
		return false
	}
	return slices.Contains(resolvedValues, name)
}

// checkTexts checks the references of an element.
func (c *checker) checkTexts(e *xmltree.Element) {
	part := partOf(e)
	for _, a := range e.Attributes {
		if a.Space == "" && strings.Contains(a.Value, "$") {
			at := func(index int) config.Position { return e.ValueWithin(a.Name, index) }
			c.checkText(a.Value, resolvesValue(e, a.Name), part, e, at)
		}
	}
	if strings.Contains(e.Text, "$") {
		c.checkText(e.Text, resolvesText(e), part, e, e.TextWithin)
	}
}

func (c *checker) checkText(text string, resolved bool, part string, e *xmltree.Element, at func(index int) config.Position) {
	// With resolveContents="false" a file is as a whole the value of the
	// attribute that it refers to, if it does.
	resolved = resolved || e.Name == "contents"
	for _, r := range reference.Find(text) {
		switch {
		case !resolved && e.Name == "error-message": // it may show a reference as an example
		case !resolved && r.Prefix == reference.Prefix && r.Closed:
			c.report(at(r.Offset), config.Warning, "unresolved-reference",
				fmt.Sprintf("%s stays unchanged: references are not resolved here", wording.Quote(r.Written)), unresolvedHelp(e))
			c.use(r.Name, usedElsewhere)
		case !resolved:
		case c.malformed(r, at):
		case r.Prefix == reference.Prefix && r.Nested:
			c.dynamicUses = true
		case r.Prefix == reference.Prefix:
			c.checkReference(r, part, e, at)
		}
	}
}

func unresolvedHelp(e *xmltree.Element) string {
	if isArgument(e.Name) && !e.Boolean("resolve", true) {
		return `remove resolve="false"; shell variables such as ${HOME} stay unchanged anyway`
	}
	return ""
}

// malformed reports a text that only looks like a reference.
func (c *checker) malformed(r reference.Reference, at func(int) config.Position) bool {
	switch {
	case !r.Closed:
		c.report(at(r.Offset), config.Warning, "malformed-reference", fmt.Sprintf("the reference %s has no closing brace", wording.Quote(r.Written)), "end it with }")
	case r.Prefix == "" && strings.HasPrefix(r.Written, reference.Start+reference.Prefix):
		c.report(at(r.Offset), config.Warning, "malformed-reference",
			fmt.Sprintf("%s names no attribute", wording.Quote(r.Written)), "write ${ptp_rm:NAME#value}")
	case r.Prefix != reference.Prefix && r.HasField && wording.Nearest(r.Prefix, []string{reference.Prefix}) != "":
		c.reportReplacement(at(r.Offset+len(reference.Start)), config.Warning, "malformed-reference",
			fmt.Sprintf("%s is not a reference: the word before the colon is not %s", wording.Quote(r.Written), reference.Prefix), r.Prefix, reference.Prefix)
	case r.Prefix == reference.Prefix && !r.Nested && r.Field == "":
		c.report(at(r.Offset), config.Warning, "malformed-reference",
			fmt.Sprintf("%s names no field; PTP inserts the name of a Java object", wording.Quote(r.Written)),
			"write "+strings.TrimSuffix(strings.TrimSuffix(r.Written, "}"), "#")+"#value}")
		return false // its name is still checked
	default:
		return false
	}
	return true
}

func (c *checker) checkReference(r reference.Reference, part string, e *xmltree.Element, at func(int) config.Position) {
	c.use(r.Name, useIn(part))
	if !c.names.has(r.Name) {
		c.undefined(at(r.NameOffset()), r.Name, "the reference is always empty")
		return
	}
	if r.Field != "" {
		if _, known := attribute.ParseField(r.Field); !known {
			c.reportName(at(r.NameOffset()+len(r.Name)+len("#")), config.Error, "unknown-field",
				fmt.Sprintf("attributes have no field %q", r.Field), r.Field, attribute.FieldNames())
			return
		}
	}
	c.checkAvailable(r, part, e, at)
}

// checkAvailable reports references without a value: to the script of a definition
// that has none, and to attributes that are set only later.
func (c *checker) checkAvailable(r reference.Reference, part string, e *xmltree.Element, at func(int) config.Position) {
	if _, defined := c.names.defined[r.Name]; defined {
		return
	}
	if (r.Name == stagedScript || r.Name == scriptText) && c.definition.Script == nil {
		c.report(at(r.Offset), config.Warning, "missing-script", "the definition has no script; the reference is always empty", "add a <script>")
		return
	}
	if only := onlyIn[r.Name]; len(only) > 0 && !slices.Contains(only, config.CommandElement(part)) {
		c.report(at(r.Offset), config.Warning, "not-yet-known", fmt.Sprintf("%s is known only to %s; the reference is empty", r.Name, commandNames(only)), "")
		return
	}
	if r.Name == attribute.JobPlaceholder {
		c.checkJobKnown(r, part, e, at)
		return
	}
	if part == "script" && (c.names.files[r.Name] || r.Name == stagedScript) {
		c.report(at(r.Offset), config.Warning, "not-yet-known", fmt.Sprintf("the path of %s is not known yet when the script is written", wording.Quote(r.Name)),
			"pass it in the environment of the submit command")
	}
}

// checkJobKnown reports a reference to the id of a job before the job has one.
func (c *checker) checkJobKnown(r reference.Reference, part string, e *xmltree.Element, at func(int) config.Position) {
	isGenerated := part == "script" || part == "managed-files"
	isSubmitted := config.CommandElement(part).IsSubmit() && isArgument(e.Name) && e.Parent.Name == part
	switch {
	case isSessionPart(part):
		c.report(at(r.Offset), config.Warning, "not-yet-known", fmt.Sprintf("there is no job when a %s runs; the reference is empty", part), "")
	case isGenerated || isSubmitted:
		c.report(at(r.Offset), config.Warning, "not-yet-known", "the job has no id before it is submitted; the reference is empty",
			"write @jobId alone for a unique identifier, or let the script use the scheduler's own variable")
	}
}

// onlyIn are the attributes that the engine sets for some commands only, and these.
var onlyIn = map[string][]config.CommandElement{
	submissionAge: {config.FindJob, config.ListEnded}, submissionDays: {config.FindJob, config.ListEnded}, submissionSince: {config.FindJob, config.ListEnded},
	submissionSinceSeconds: {config.FindJob, config.ListEnded},
	listingScope:           {config.ListJobs}, listingIDs: {config.ListJobs, config.ListEnded},
	nodeName: {config.OnNodes}, nodeCommand: {config.OnNodes}, nodeIndex: {config.OnNodes},
	jobPart: {config.OnNodes}, taskPart: {config.OnNodes},
}

// commandNames lists commands of our namespace.
func commandNames(elements []config.CommandElement) string {
	names := make([]string, len(elements))
	for i, element := range elements {
		names[i] = "x:" + string(element)
	}
	return strings.Join(names, " and ")
}

// listings are the commands that print an element of the model in each row.
var listings = []config.CommandElement{config.ListJobs, config.ListEnded, config.ListNodes, config.ListQueues}

func isSessionPart(part string) bool {
	kind := config.CommandElement(part)
	return (config.CommandElement(part).IsCore() || kind == config.ProbeCommand || slices.Contains(listings, kind)) && !kind.ActsOnJob()
}

// undefined reports a name that nothing defines.
func (c *checker) undefined(at config.Position, name, consequence string) {
	c.reportName(at, config.Warning, "undefined-attribute", fmt.Sprintf("no attribute %s is defined; %s", wording.Quote(name), consequence), name, c.names.candidates)
}
