package config

import (
	"errors"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/schemas"
)

// RootElement is the name of a definition's root element.
const RootElement = "resource-manager-builder"

// Load reads a definition. File names it in positions. All problems are
// reported; when there are errors among them the definition must not be used,
// and it is nil when the document could not be read at all.
func Load(file string, source []byte) (*Definition, Diagnostics) {
	return load(&loader{file: file, check: true}, source)
}

// Read reads a definition that was checked before, such as a shipped one,
// without the time that checks take. The error tells that the document is not
// well-formed or has another root element.
func Read(file string, source []byte) (*Definition, error) {
	definition, problems := load(&loader{file: file}, source)
	return definition, problems.Err()
}

func load(l *loader, source []byte) (*Definition, Diagnostics) {
	root := l.readMerged(l.file, source)
	if root == nil {
		return nil, l.problems.sorted(l.documents)
	}
	if l.check {
		l.checkSchema(root)
		l.checkExtensionAttributes(root)
	}
	definition := l.definition(element{root, l})
	definition.documents = l.documents
	if l.check {
		l.checkDefinition(element{root, l}, definition)
	}
	return definition, l.problems.sorted(l.documents)
}

type loader struct {
	file      string
	base      BaseReader // nil: a definition that extends another cannot be read
	check     bool
	documents documents
	origins   *origins // nil: nobody asks
	problems  Diagnostics

	expressions expressionTable // for the checks

	suggested int // how often a name was sought that may have been meant
	placed    placedText
}

// A placedText is a text of a definition of which bytes were placed.
type placedText struct {
	element   *schemas.Element
	attribute string // empty for the element's own text
	places    *schemas.Places
}

func (l *loader) report(at Position, severity Severity, code, message, suggestion string) {
	l.problems = append(l.problems, Diagnostic{Position: at, Severity: severity, Code: code, Message: message, Suggestion: suggestion})
}

func documentProblem(file string, err error) Diagnostic {
	problem := Diagnostic{Position: Position{File: file, Line: 1, Column: 1}, Severity: Error, Code: "xml-syntax", Message: err.Error()}
	var document *schemas.DocumentError
	if errors.As(err, &document) {
		problem.Line, problem.Column = document.Line, document.Column
		problem.Code, problem.Suggestion = document.Code, document.Help
	}
	return problem
}

func (l *loader) definition(root element) *Definition {
	d := &Definition{Position: root.position(), Name: root.text("name")}
	root.children(func(child element) {
		switch child.Name {
		case "site-data":
			d.Site = Site{
				RemoteServices:    child.childText("remote-services").Text,
				ConnectionName:    child.childText("connection-name").Text,
				ControlConnection: child.childText("control-connection").Text,
				MonitorConnection: child.childText("monitor-connection").Text,
			}
		case "control-data":
			l.control(d, child)
		case "monitor-data":
			d.Monitor = Monitor{
				Position:       child.position(),
				SchedulerType:  child.text("schedulerType"),
				RefreshSeconds: child.integer("refreshFrequencyInSeconds", 60),
			}
			d.Commands = append(d.Commands, l.extensionCommands(child, ListJobs, ListNodes, ListQueues)...)
		}
	})
	return d
}

func (l *loader) control(d *Definition, control element) {
	control.children(func(child element) {
		switch child.Name {
		case "attribute", "property": // property: format of 5.0
			d.Attributes = append(d.Attributes, l.attribute(child))
		case "managed-files":
			d.ManagedFiles = append(d.ManagedFiles, l.managedFiles(child))
		case "script":
			d.Script = l.script(child)
		case "launch-tab":
			d.LaunchTab = l.launchTab(child)
		default:
			if isCommandElement(child.Name) {
				d.Commands = append(d.Commands, l.command(child, CommandElement(child.Name)))
			}
		}
	})
	d.Commands = append(d.Commands, l.extensionCommands(control, FindJob)...)
	for _, child := range control.Children {
		if e := (element{child, l}); e.isExtension("outcome") {
			d.Outcomes = append(d.Outcomes, l.outcome(e))
		} else if e.isExtension(string(ProbeCommand)) {
			d.Probes = append(d.Probes, l.probe(e))
		} else if e.isExtension("proven") {
			d.Proofs = append(d.Proofs, Proof{By: e.text("by"), Of: e.text("of")})
		} else if e.isExtension("portable") {
			d.Portable = append(d.Portable, l.portableLink(e))
		}
	}
}

// extensionCommands reads the commands of our namespace that stand in an element.
func (l *loader) extensionCommands(parent element, kinds ...CommandElement) []*Command {
	var commands []*Command
	for _, child := range parent.Children {
		e := element{child, l}
		for _, kind := range kinds {
			if e.isExtension(string(kind)) {
				commands = append(commands, l.command(e, kind))
			}
		}
	}
	return commands
}

func isCommandElement(name string) bool {
	switch CommandElement(name) {
	case StartUpCommand, SubmitInteractive, SubmitInteractiveDebug, SubmitBatch, SubmitBatchDebug,
		GetJobStatus, TerminateJob, SuspendJob, ResumeJob, HoldJob, ReleaseJob, ShutDownCommand, ButtonAction:
		return true
	}
	return false
}

var attributeTexts = []struct {
	element string
	field   attribute.Field
}{
	{"description", attribute.FieldDescription},
	{"tooltip", attribute.FieldTooltip},
	{"choice", attribute.FieldChoice},
	{"translateChoiceAs", attribute.FieldTranslateChoiceAs},
	{"items-from", attribute.FieldItemsFrom},
	{"default", attribute.FieldDefault},
	{"value", attribute.FieldValue},
	{"link-value-to", attribute.FieldLinkValueTo},
}

func (l *loader) attribute(e element) *Attribute {
	a := &Attribute{Position: e.position(), Attribute: attribute.New(e.text("name"))}
	set := func(field attribute.Field, value attribute.Value) {
		if err := a.Set(field, value); err != nil {
			l.report(e.position(), Error, "invalid-value", err.Error(), "")
		}
	}
	for _, text := range []struct {
		name  string
		field attribute.Field
	}{{"type", attribute.FieldType}, {"status", attribute.FieldStatus}, {"translateBooleanAs", attribute.FieldTranslateBooleanAs}} {
		if value := e.optional(text.name); value.Set {
			set(text.field, value.Text)
		}
	}
	if e.optional("visible").Set {
		set(attribute.FieldVisible, e.boolean("visible", true))
	}
	if e.optional("readOnly").Set {
		set(attribute.FieldReadOnly, e.boolean("readOnly", false))
	}
	const unset = -1 << 31
	if least := e.integer("min", unset); least != unset {
		set(attribute.FieldMin, least)
	}
	if most := e.integer("max", unset); most != unset {
		set(attribute.FieldMax, most)
	}
	for _, text := range attributeTexts {
		if value := e.childText(text.element); value.Set {
			set(text.field, value.Text)
		}
	}
	if validator, ok := e.first("validator"); ok {
		a.SetValidator(l.validator(validator))
	}
	return a
}

func (l *loader) managedFiles(e element) *ManagedFiles {
	files := &ManagedFiles{Position: e.position(), StagingLocation: e.childText("file-staging-location")}
	for _, child := range e.named("file") {
		files.Files = append(files.Files, &File{
			Position:             child.position(),
			Name:                 child.text("name"),
			UniqueIDPrefix:       child.boolean("uniqueIdPrefix", false),
			ResolveContents:      child.boolean("resolveContents", true),
			DeleteSourceAfterUse: child.boolean("deleteSourceAfterUse", false),
			DeleteTargetAfterUse: child.boolean("deleteTargetAfterUse", false),
			Mode:                 child.text("mode"),
			Lines:                l.lines(child),
			Contents:             child.childText("contents"),
			Path:                 child.childText("path"),
		})
	}
	return files
}

func (l *loader) script(e element) *Script {
	return &Script{
		Position:               e.position(),
		StagingLocation:        e.childText("file-staging-location"),
		InsertEnvironmentAfter: e.integer("insertEnvironmentAfter", -1),
		DeleteAfterSubmit:      e.boolean("deleteAfterSubmit", true),
		Lines:                  l.lines(e),
	}
}

func (l *loader) lines(e element) []*Line {
	var lines []*Line
	for _, child := range e.named("line") {
		lines = append(lines, &Line{Position: child.position(), Arguments: l.arguments(child, "arg")})
	}
	return lines
}

func (l *loader) arguments(e element, name string) []*Argument {
	var arguments []*Argument
	for _, child := range e.named(name) {
		arguments = append(arguments, &Argument{
			Position:             child.position(),
			Text:                 child.Text,
			Attribute:            child.optional("attribute"),
			IsUndefinedIfMatches: child.optional("isUndefinedIfMatches", "isUndefIfMatches"),
			Resolve:              child.boolean("resolve", true),
		})
	}
	return arguments
}
