package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/processmark"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/schemas"
)

// checkSchema reports violations of the schema. The reference's XML
// binding does not insist on the order of elements, nor its tokenizer on the
// case of operators, so these are warnings.
func (c *checker) checkSchema() {
	for _, violation := range schemas.Validate(c.root) {
		severity := config.Error
		if violation.Code == "misplaced-element" || violation.Code == "invalid-value" && config.Operator(strings.ToUpper(violation.Found)).IsKnown() {
			severity = config.Warning
		}
		c.report(violation.Position, severity, violation.Code, violation.Message, violation.Suggestion)
		c.problems[len(c.problems)-1].Replaces = violation.Found
	}
}

// checkExtensionAttributes reports attributes of ours on the wrong elements. The
// schema allows them everywhere.
func (c *checker) checkExtensionAttributes(e *xmltree.Element) {
	for _, attribute := range e.Attributes {
		if attribute.Space != xmltree.ExtensionNamespace {
			continue
		}
		elements, isBound := extensionAttributes[attribute.Name]
		isMisplaced := isBound && (!xmltree.IsCore(e.Space) || !slices.Contains(elements, e.Name))
		isMisplaced = isMisplaced || attribute.Name == "options" && e.Name == "arg" && !isCommand(e.Parent)
		if isMisplaced || attribute.Name == "timeout" && !isCommand(e) || isOfRoot(attribute.Name) && e.Parent != nil {
			c.report(attribute.Position(), config.Error, "unknown-attribute",
				fmt.Sprintf("%q cannot have the attribute %q", e.QualifiedName(), attribute.QualifiedName()), "")
		}
	}
}

// isOfRoot reports whether only the root can have an attribute of ours.
func isOfRoot(name string) bool { return name == "extends" || name == "lenient" }

// extensionAttributes are attributes of ours that few elements of the format can have.
var extensionAttributes = map[string][]string{
	"option": {"attribute"}, "quote": {"attribute"}, "label": {"attribute"}, "browse": {"attribute"}, "validator": {"attribute"},
	"member": {"input"}, "members": {"input"},
	"stdin": {"start-up-command", "submit-batch", "submit-batch-debug", "get-job-status", "terminate-job", "suspend-job", "resume-job",
		"hold-job", "release-job", "shut-down-command", "button-action"},
	"without-terminal": {"submit-interactive", "submit-interactive-debug"},
	"only":             {"terminate-job", "suspend-job", "resume-job", "hold-job", "release-job"},
	"options":          {"line", "arg"}, "rows": {"composite"}, "others": {"items"}, "beside": {"file"},
}

// isCommand reports whether an element is of command type.
func isCommand(e *xmltree.Element) bool {
	if e.Space != xmltree.ExtensionNamespace {
		return config.CommandElement(e.Name).IsCore()
	}
	return e.Name != "outcome" && e.Name != "process-mark"
}

// checkElement checks the parts of an element that need no context: expressions,
// fields, and elements of ours.
func (c *checker) checkElement(e *xmltree.Element) {
	parent := e.Parent
	switch {
	case parent == nil:
	case e.Space == xmltree.ExtensionNamespace:
		c.checkExtension(e)
	case !xmltree.IsCore(e.Space):
	case config.CommandElement(e.Name).IsCore():
		c.checkFlags(e, commandFlags)
	case isExpression(parent, e):
		c.checkFlags(e, javaregex.FlagNames())
		flags, _ := javaregex.ParseFlags(e.Value("flags"))
		text, at, within := e.Expression()
		c.checkExpression(&config.Expression{Position: at, Text: text, Flags: flags}, within)
	case parent.Name == "match" || parent.Name == "test" || parent.Name == "else":
		c.checkActionOrValue(parent, e)
	}
}

// isExpression reports whether an element is one of regex type that is read: of
// several of one name only a validator has more than the first.
func isExpression(parent, e *xmltree.Element) bool {
	switch e.Name {
	case "regex":
		return parent.Name == "validator"
	case "expression", "exit-on", "exit-after":
		first, _ := parent.First(e.Name)
		return first == e && (parent.Name == "match") == (e.Name == "expression")
	}
	return false
}

// checkActionOrValue checks the fields that an action, or a value of a test, names.
func (c *checker) checkActionOrValue(parent, e *xmltree.Element) {
	switch kind := config.ActionKind(e.Name); kind {
	case config.Set, config.Add, config.Append, config.Put, config.Throw:
		c.checkField(e, kind)
		for _, entry := range e.Named("entry") {
			c.checkEntryFields(entry)
		}
		return
	}
	if field, isField := strings.CutPrefix(e.Text, fieldMark); isField && parent.Name == "test" && e.Name == "value" {
		c.checkFieldName(field, e.TextWithin(len(fieldMark)))
	}
}

// commandFlags are the flags that a command may have.
var commandFlags = []string{"ALLOCATE_PTY", "FORWARD_X11", "NONE"}

// checkFlags reports flags that are not among the known ones: they are ignored.
func (c *checker) checkFlags(e *xmltree.Element, known []string) {
	text := e.Value("flags")
	for at := 0; at < len(text); {
		flag, _, _ := strings.Cut(text[at:], "|")
		name := strings.TrimSpace(flag)
		if name != "" && !slices.Contains(known, name) {
			c.reportName(e.ValueWithin("flags", at+strings.Index(flag, name)), config.Warning, "unknown-flag",
				fmt.Sprintf("unknown flag %s is ignored; flags are %s", wording.Quote(name), strings.Join(known, ", ")), name, known)
		}
		at += len(flag) + 1
	}
}

func (c *checker) checkExtension(e *xmltree.Element) {
	switch e.Name {
	case "outcome":
		c.checkFlags(e, javaregex.FlagNames())
		c.checkSearched(e, "expression", e.Value("flags"))
	case string(config.ProbeCommand):
		c.checkProbe(e)
	case "process-mark":
		c.checkMark(e)
	}
	if isCommand(e) {
		c.checkFlags(e, commandFlags)
	}
}

// checkSearched checks an expression in an attribute.
func (c *checker) checkSearched(e *xmltree.Element, name, flagNames string) {
	text := e.Optional(name)
	if !text.Set {
		return
	}
	flags, _ := javaregex.ParseFlags(flagNames)
	x := &config.Expression{Position: e.ValuePosition(name), Text: text.Text, Flags: flags}
	c.checkExpression(x, func(offset int) config.Position { return e.ValueWithin(name, offset) })
}

// checkProbe reports a required version that cannot be read.
func (c *checker) checkProbe(e *xmltree.Element) {
	c.checkSearched(e, "version", "")
	if strings.TrimSpace(e.Value("at-least")) == "" {
		return
	}
	if !e.Optional("version").Set {
		c.report(e.ValuePosition("at-least"), config.Error, "missing-attribute", `"at-least" requires "version", an expression that finds the version in the output`, `add version="…"`)
		return
	}
	if at := e.ValuePosition("version"); c.expressions.written[at].groups == 0 {
		c.report(at, config.Error, "no-such-group", `"version" has no group to compare with "at-least"`, "put parentheses around the version")
	}
}

// checkMark reports a mark of processes that cannot be found.
func (c *checker) checkMark(e *xmltree.Element) {
	if sample := markSample(e.Value("text")); strings.TrimSpace(sample) != "" { // otherwise an attribute has all of it
		if _, err := processmark.Parse(sample); err != nil {
			c.report(e.ValuePosition("text"), config.Error, "invalid-mark", fmt.Sprintf("the mark can never be found: %s", err), "")
		}
	}
}

// markSample returns the text of a mark with an example for each
// reference, and nothing where references hold others.
func markSample(text string) string {
	for _, r := range reference.Find(text) {
		if r.Nested {
			return ""
		}
		if r.Closed && r.Prefix == reference.Prefix {
			text = strings.ReplaceAll(text, r.Written, " ")
		}
	}
	return text
}

// checkField checks the field of an action.
func (c *checker) checkField(e *xmltree.Element, kind config.ActionKind) {
	field := e.Optional("field")
	if !field.Set {
		if kind != config.Throw {
			c.report(e.Position(), config.Error, "missing-field", fmt.Sprintf("<%s> names no field", kind), `add field="value"`)
		}
		return
	}
	c.checkFieldName(field.Text, e.ValuePosition("field"))
}

// checkFieldName checks the name of a field at a position.
func (c *checker) checkFieldName(name string, at config.Position) {
	if _, known := attribute.ParseField(name); known {
		return
	}
	suggestion := wording.Nearest(name, attribute.FieldNames())
	if suggestion == "" {
		suggestion = "one of " + strings.Join(attribute.FieldNames(), ", ")
	}
	c.report(at, config.Error, "unknown-field", fmt.Sprintf("attributes have no field %q", name), suggestion)
}

// fieldMark begins a value of an entry or test that is a field of the attribute
// at hand.
const fieldMark = "#"

// checkEntryFields checks the fields that an entry takes its value and key from.
func (c *checker) checkEntryFields(entry *xmltree.Element) {
	for _, name := range []string{"value", "key"} {
		if field, isField := strings.CutPrefix(entry.Value(name), fieldMark); isField {
			c.checkFieldName(field, entry.ValueWithin(name, len(fieldMark)))
		}
	}
}
