package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// validatorsIn returns the validators with names, which attributes share.
func validatorsIn(control *xmltree.Element) map[string]*xmltree.Element {
	named := map[string]*xmltree.Element{}
	for _, child := range control.Children {
		if child.IsExtension("validator") {
			named[child.Value("name")] = child
		}
	}
	return named
}

// validatorOf returns the validator of an attribute: its own, or the one that it names; nil
// for none.
func (l *loader) validatorOf(e *xmltree.Element) *xmltree.Element {
	if own, has := e.First("validator"); has {
		return own
	}
	named, has := e.Lookup(xmltree.ExtensionNamespace, "validator")
	if !has {
		return nil
	}
	if l.validators[named.Value] == nil {
		l.report(named.ValuePosition(), Error, "unknown-validator", fmt.Sprintf("there is no x:validator %q", named.Value), "")
	}
	return l.validators[named.Value]
}

// script reads the template of the job script. Without a place for the commands that set
// variables of the job, they stand behind the options, and lines behind these that begin so, too.
func (l *loader) script(e *xmltree.Element, attributes []*Attribute) *Script {
	script := &Script{
		Position:               e.Position(),
		StagingLocation:        e.ChildText("file-staging-location"),
		InsertEnvironmentAfter: e.Integer("insertEnvironmentAfter", -1),
		DeleteAfterSubmit:      e.Boolean("deleteAfterSubmit", true),
	}
	for _, line := range e.Named("line") {
		prefix, hasOptions := line.Lookup(xmltree.ExtensionNamespace, "options")
		if hasOptions {
			script.OptionPrefix = prefix.Value
			script.Lines = append(script.Lines, optionLines(line.Position(), prefix.Value, attributes)...)
		} else {
			script.Lines = append(script.Lines, &Line{Position: line.Position(), Arguments: line.Arguments("arg")})
		}
		if script.OptionPrefix != "" && (hasOptions || beginsWith(line, script.OptionPrefix)) && !e.Optional("insertEnvironmentAfter").Set {
			script.InsertEnvironmentAfter = len(script.Lines) - 1
		}
	}
	return script
}

// beginsWith reports whether the first argument of a line begins with a text.
func beginsWith(line *xmltree.Element, text string) bool {
	first, has := line.First("arg")
	return has && strings.HasPrefix(strings.TrimSpace(first.Text), text)
}

// optionLines returns a line for each attribute with an option (x:option), which vanishes
// where the attribute has no value.
func optionLines(at Position, prefix string, attributes []*Attribute) []*Line {
	var lines []*Line
	for _, a := range attributes {
		if !a.Option.Set {
			continue
		}
		argument := &Argument{Position: at, Resolve: true}
		quote := ""
		if a.IsQuoted {
			quote = `"`
		}
		if a.Text(attribute.FieldType) == "boolean" {
			argument.Text = prefix + a.Option.Text
			argument.Attribute, argument.IsUndefinedIfMatches = Optional{Text: a.Name(), Set: true}, Optional{Text: "false|", Set: true}
		} else {
			argument.Text = prefix + a.Option.Text + quote + "${ptp_rm:" + a.Name() + "#value}" + quote
			argument.IsUndefinedIfMatches = Optional{Text: regexp.QuoteMeta(prefix + a.Option.Text + quote + quote), Set: true}
		}
		lines = append(lines, &Line{Position: at, Arguments: []*Argument{argument}})
	}
	return lines
}

// arguments returns the words of a command. An x:options becomes an argument for each attribute
// with an option that has a value.
func (l *loader) arguments(e *xmltree.Element) []*Argument {
	var arguments []*Argument
	written := e.Arguments("arg")
	for at, child := range e.Named("arg") {
		if prefix, isAll := child.Lookup(xmltree.ExtensionNamespace, "options"); isAll {
			for _, line := range optionLines(child.Position(), prefix.Value, l.attributes) {
				arguments = append(arguments, line.Arguments...)
			}
			continue
		}
		if prefix, isMarked := child.Lookup(xmltree.ExtensionNamespace, "marked"); isMarked {
			written[at].Text = marked(prefix.Value, child.Text)
		}
		isWord, _ := child.Lookup(xmltree.ExtensionNamespace, "word")
		written[at].IsWord = isWord.Value == "true"
		arguments = append(arguments, written[at])
	}
	return arguments
}

// inputs returns the input of a command. An x:members becomes a member for each attribute
// with an option that has a value.
func (l *loader) inputs(e *xmltree.Element) []*Argument {
	var inputs []*Argument
	for at, child := range e.Named("input") {
		if _, isAll := child.Lookup(xmltree.ExtensionNamespace, "members"); isAll {
			inputs = append(inputs, members(child.Position(), l.attributes)...)
			continue
		}
		input := e.Arguments("input")[at]
		member, _ := child.Lookup(xmltree.ExtensionNamespace, "member")
		input.Member = member.Value
		inputs = append(inputs, input)
	}
	return inputs
}

// members returns the options of attributes as members of a JSON object.
func members(at Position, attributes []*Attribute) []*Argument {
	var members []*Argument
	for _, a := range attributes {
		if !a.Option.Set {
			continue
		}
		kind := a.Text(attribute.FieldType)
		member := &Argument{
			Position: at, Resolve: true, Text: "${ptp_rm:" + a.Name() + "#value}", Member: a.Option.Text, IsBare: kind == "integer" || kind == "boolean",
		}
		if kind == "boolean" {
			member.IsUndefinedIfMatches = Optional{Text: "false|", Set: true}
		}
		members = append(members, member)
	}
	return members
}

// rowsOf returns what rows of the form (x:rows) show of attributes.
func rowsOf(attributes []*Attribute) func(name string) launchtab.Row {
	return func(name string) launchtab.Row {
		for _, a := range attributes {
			if a.Name() == name {
				return rowOf(a)
			}
		}
		return launchtab.Row{Label: name, Type: launchtab.TextWidget, Tooltip: "description"}
	}
}

func rowOf(a *Attribute) launchtab.Row {
	row := launchtab.Row{Label: a.Label, Browse: a.Browse, Type: launchtab.TextWidget, ItemsFrom: a.Text(attribute.FieldItemsFrom), Tooltip: "description"}
	if row.Label == "" {
		row.Label = labelOf(a.Name())
	}
	if a.Field(attribute.FieldTooltip) != nil {
		row.Tooltip = "tooltip"
	}
	switch kind := a.Text(attribute.FieldType); {
	case kind == "boolean":
		row.Type = launchtab.CheckboxWidget
	case kind == "integer":
		row.Type = launchtab.SpinnerWidget
	case kind == "choice":
		row.Type, row.ReadOnly = launchtab.ComboWidget, true
	case row.ItemsFrom != "":
		row.Type = launchtab.ComboWidget
	}
	return row
}

// labelOf returns what an attribute without a label is called: job-name is "Job name".
func labelOf(name string) string {
	text := strings.NewReplacer("-", " ", "_", " ").Replace(name)
	return strings.ToUpper(text[:1]) + text[1:]
}
