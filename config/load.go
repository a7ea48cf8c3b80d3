package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// rootElement is the name of a definition's root element.
const rootElement = "resource-manager-builder"

// Load reads a definition, and those that it extends, and has it checked. File
// names it in positions; without a base reader a definition that extends another
// cannot be loaded. All problems are reported; when there are errors among them the
// definition must not be used, and it is nil when the document could not be read at
// all. Where several files make up the definition, problems are sorted by file, its
// own first. The definition keeps the source.
//
// Check returns the problems of a definition, which was read from the elements below a
// root; nil checks nothing. Programs call Load of package check, which has all checks.
func Load(file string, source []byte, base BaseReader, check func(*Definition, *xmltree.Element) Diagnostics) (*Definition, Diagnostics) {
	l := &loader{base: base, strict: check != nil}
	root := l.readMerged(file, source)
	if root == nil {
		return nil, l.problems.sorted(l.documents)
	}
	definition := l.definition(root)
	for _, one := range l.documents {
		definition.Files = append(definition.Files, one.File)
		definition.Sources = append(definition.Sources, sourceText(one, source))
	}
	if check != nil {
		l.problems = append(l.problems, check(definition, root)...)
	}
	problems := l.problems.sorted(l.documents)
	if lenient, _ := root.Lookup(xmltree.ExtensionNamespace, "lenient"); lenient.Value == "true" {
		problems = problems.Lenient()
	}
	return definition, problems
}

// sourceText returns the text of a document, without another copy if it is a source as it was read.
func sourceText(document *xmltree.Document, source []byte) []byte {
	if document.Text == string(source) {
		return source
	}
	return []byte(document.Text)
}

// Read reads a definition that was checked before, such as a shipped one, and its bases,
// without the time that checks take. It returns an error if a file is not well-formed, has
// another root element, or extends an unreadable file.
func Read(file string, source []byte, base BaseReader) (*Definition, error) {
	definition, problems := Load(file, source, base, nil)
	return definition, problems.Err()
}

type loader struct {
	base      BaseReader          // nil: a definition that extends another cannot be read
	strict    bool                // reports elements without a meaning
	documents []*xmltree.Document // the definition's own, and each base after the one that extends it
	printer   *documentPrinter    // nil: nothing is recorded
	problems  Diagnostics

	definitionReaders []*Reader                   // x:reader, before the commands that use them
	validators        map[string]*xmltree.Element // x:validator, by name
	attributes        []*Attribute                // those before the current element
}

func (l *loader) report(at Position, severity Severity, code, message, suggestion string) {
	l.problems = append(l.problems, Diagnostic{Position: at, Severity: severity, Code: code, Message: message, Suggestion: suggestion})
}

func documentProblem(file string, err error) Diagnostic {
	problem := Diagnostic{Position: Position{File: file, Line: 1, Column: 1}, Severity: Error, Code: "xml-syntax", Message: err.Error()}
	var document *xmltree.DocumentError
	if errors.As(err, &document) {
		problem.Position = document.Position
		problem.Code, problem.Suggestion = document.Code, document.Help
	}
	return problem
}

func (l *loader) definition(root *xmltree.Element) *Definition {
	d := &Definition{Position: root.Position(), Name: root.Value("name")}
	if control, has := root.First("control-data"); has {
		l.definitionReaders = l.readers(control) // which the commands use
	}
	root.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "site-data":
			d.Site.ConnectionName = child.ChildText("connection-name").Text
			d.Site.ControlConnection = child.ChildText("control-connection").Text
		case "control-data":
			l.control(d, child)
		case "monitor-data":
			d.Monitor = Monitor{
				Position:       child.Position(),
				SchedulerType:  child.Value("schedulerType"),
				RefreshSeconds: child.Integer("refreshFrequencyInSeconds", 60),
			}
			d.Commands = append(d.Commands, l.extensionCommands(child, ListJobs, ListEnded, ListNodes, ListQueues)...)
		}
	})
	d.setEnvironment(d.Commands)
	for _, probe := range d.Probes {
		d.setEnvironment([]*Command{probe.Command})
	}
	return d
}

// setEnvironment gives commands, and those that they need, the variables of x:environment,
// before their own.
func (d *Definition) setEnvironment(commands []*Command) {
	if len(d.Environment) == 0 {
		return
	}
	for _, each := range commands {
		each.Environment = slices.Concat(d.Environment, each.Environment)
		d.setEnvironment(each.Fallbacks)
		if each.Batch != nil {
			d.setEnvironment([]*Command{each.Batch.Command})
		}
		if each.Read == nil {
			continue
		}
		for _, join := range each.Read.Joins {
			d.setEnvironment([]*Command{join.Command})
		}
	}
}

func (l *loader) control(d *Definition, control *xmltree.Element) {
	d.Readers = l.definitionReaders
	l.validators = validatorsIn(control)
	control.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "attribute", "property": // property: format of 5.0
			d.Attributes = append(d.Attributes, l.attribute(child))
			l.attributes = d.Attributes
		case "managed-files":
			d.ManagedFiles = append(d.ManagedFiles, l.managedFiles(child))
		case "script":
			d.Script = l.script(child, d.Attributes)
		case "launch-tab":
			d.LaunchTab = launchtab.Read(child, rowsOf(d.Attributes))
		default:
			if CommandElement(child.Name).IsCore() {
				d.Commands = append(d.Commands, l.command(child, CommandElement(child.Name)))
			}
		}
	})
	d.Commands = append(d.Commands, l.extensionCommands(control, FindJob, OnNodes)...)
	for _, child := range control.Children {
		if e := child; e.IsExtension("outcome") {
			d.Outcomes = append(d.Outcomes, l.outcome(e))
		} else if e.IsExtension(string(ProbeCommand)) {
			d.Probes = append(d.Probes, l.probe(e))
		} else if e.IsExtension("proven") {
			d.Proofs = append(d.Proofs, Proof{By: e.Value("by"), Of: e.Value("of")})
		} else if e.IsExtension("portable") {
			d.Portable = append(d.Portable, l.portableLink(e))
		} else if e.IsExtension("ids") {
			d.IDs = idsOf(e)
		} else if e.IsExtension("environment") {
			d.Environment = append(d.Environment, l.environment(e))
		}
	}
}

// extensionCommands reads the commands of our namespace that stand in an element.
func (l *loader) extensionCommands(parent *xmltree.Element, kinds ...CommandElement) []*Command {
	var commands []*Command
	for _, child := range parent.Children {
		e := child
		for _, kind := range kinds {
			if e.IsExtension(string(kind)) {
				commands = append(commands, l.command(e, kind))
			}
		}
	}
	return commands
}

// attributeTexts are the fields of attributes that XML attributes or child elements give as texts.
var attributeTexts = []struct {
	name    string
	isChild bool
	field   attribute.Field
}{
	{"type", false, attribute.FieldType},
	{"status", false, attribute.FieldStatus},
	{"translateBooleanAs", false, attribute.FieldTranslateBooleanAs},
	{"description", true, attribute.FieldDescription},
	{"tooltip", true, attribute.FieldTooltip},
	{"choice", true, attribute.FieldChoice},
	{"translateChoiceAs", true, attribute.FieldTranslateChoiceAs},
	{"items-from", true, attribute.FieldItemsFrom},
	{"default", true, attribute.FieldDefault},
	{"value", true, attribute.FieldValue},
	{"link-value-to", true, attribute.FieldLinkValueTo},
}

func (l *loader) attribute(e *xmltree.Element) *Attribute {
	a := &Attribute{Position: e.Position(), Attribute: attribute.New(e.Value("name"))}
	set := func(field attribute.Field, value attribute.Value) {
		if err := a.Set(field, value); err != nil {
			l.report(e.Position(), Error, "invalid-value", err.Error(), "")
		}
	}
	for _, text := range attributeTexts {
		value := e.Optional(text.name)
		if text.isChild {
			value = e.ChildText(text.name)
		}
		if value.Set {
			set(text.field, value.Text)
		}
	}
	if e.Optional("visible").Set {
		set(attribute.FieldVisible, e.Boolean("visible", true))
	}
	if e.Optional("readOnly").Set {
		set(attribute.FieldReadOnly, e.Boolean("readOnly", false))
	}
	const unset = -1 << 31
	if least := e.Integer("min", unset); least != unset {
		set(attribute.FieldMin, least)
	}
	if most := e.Integer("max", unset); most != unset {
		set(attribute.FieldMax, most)
	}
	if validator := l.validatorOf(e); validator != nil {
		a.Validator = l.validator(validator)
	}
	option, has := e.Lookup(xmltree.ExtensionNamespace, "option")
	a.Option = Optional{Text: option.Value, Set: has}
	quote, _ := e.Lookup(xmltree.ExtensionNamespace, "quote")
	a.IsQuoted = quote.Value == "double"
	label, _ := e.Lookup(xmltree.ExtensionNamespace, "label")
	a.Label = label.Value
	browse, _ := e.Lookup(xmltree.ExtensionNamespace, "browse")
	a.Browse = browse.Value
	return a
}

func (l *loader) managedFiles(e *xmltree.Element) *ManagedFiles {
	files := &ManagedFiles{Position: e.Position(), StagingLocation: e.ChildText("file-staging-location")}
	for _, child := range e.Named("file") {
		beside, _ := child.Lookup(xmltree.ExtensionNamespace, "beside")
		files.Files = append(files.Files, &File{
			Position:             child.Position(),
			Name:                 child.Value("name"),
			UniqueIDPrefix:       child.Boolean("uniqueIdPrefix", false),
			ResolveContents:      child.Boolean("resolveContents", true),
			DeleteSourceAfterUse: child.Boolean("deleteSourceAfterUse", false),
			DeleteTargetAfterUse: child.Boolean("deleteTargetAfterUse", false),
			Mode:                 child.Value("mode"),
			Lines:                l.lines(child),
			Contents:             child.ChildText("contents"),
			Path:                 child.ChildText("path"),
			IsBeside:             beside.Value == "true",
		})
	}
	return files
}

func (l *loader) lines(e *xmltree.Element) []*Line {
	var lines []*Line
	for _, child := range e.Named("line") {
		lines = append(lines, &Line{Position: child.Position(), Arguments: child.Arguments("arg")})
	}
	return lines
}

func (l *loader) validator(e *xmltree.Element) *attribute.Validator {
	v := &attribute.Validator{Message: e.ChildText("error-message").Text}
	e.Core(func(child *xmltree.Element) {
		switch child.Name {
		case "regex":
			x := l.expression(child)
			v.Regex, v.Split = &attribute.Pattern{Text: x.Text, Flags: x.Flags}, x.Split
		case "file-info":
			v.File = fileInfo(child)
		case "range":
			v.Ranges = append(v.Ranges, attribute.Range{
				LessThan:       l.bound(child, "lessThan"),
				LessOrEqual:    l.bound(child, "lessThanOrEqualTo"),
				GreaterThan:    l.bound(child, "greaterThan"),
				GreaterOrEqual: l.bound(child, "greaterThanOrEqualTo"),
			})
		}
	})
	return v
}

func (l *loader) bound(e *xmltree.Element, name string) *float64 {
	text := e.Optional(name)
	if !text.Set {
		return nil
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text.Text), 64)
	if err != nil {
		l.report(e.ValuePosition(name), Error, "invalid-value", strconv.Quote(text.Text)+" is not a number", "")
		return nil
	}
	return &number
}

// fileInfo reads what a file must be. A date that cannot be read is ignored,
// as in the reference.
func fileInfo(e *xmltree.Element) *attribute.FileInfo {
	info := &attribute.FileInfo{IsDirectory: e.Boolean("isDirectory", false)}
	if date, err := time.ParseInLocation(xmltree.FileDateLayout, e.Value("lastModifiedAfter"), time.Local); err == nil {
		info.LastModifiedAfter = date
	}
	if date, err := time.ParseInLocation(xmltree.FileDateLayout, e.Value("lastModifiedBefore"), time.Local); err == nil {
		info.LastModifiedBefore = date
	}
	if length, err := strconv.ParseInt(strings.TrimSpace(e.Value("length")), 10, 64); err == nil {
		info.Length = &length
	}
	for bit := range strings.SplitSeq(e.Value("efsAttributes"), "|") {
		info.Permissions |= xmltree.PermissionBits[strings.TrimPrefix(strings.TrimSpace(bit), xmltree.FileAttributePrefix)]
	}
	return info
}

// HasReaders reports whether a command of the definition has a reader.
func (d *Definition) HasReaders() bool {
	return slices.ContainsFunc(d.Commands, func(c *Command) bool { return c.Read != nil })
}
