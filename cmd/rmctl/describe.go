package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

func newDescribe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "describe FILE|NAME",
		Short: "Describe a definition: its attributes and commands",
		Long: `describe shows what a definition offers: the attributes that -s sets, with
defaults, limits and help, and the commands that it runs.`,
		Example: "  rmctl describe slurm\n  rmctl describe --json mysite.xml",
		Args:    exactly(1, "a definition"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			definition, err := a.definition(arguments[0])
			if err != nil {
				return err
			}
			d := describe(definition)
			if a.json {
				return printJSON(a.stdout, d)
			}
			_, err = fmt.Fprint(a.stdout, printable(d.text()))
			return err
		},
	}
}

type description struct {
	Name          string                 `json:"name"`
	File          string                 `json:"file"`
	Mode          string                 `json:"mode"`
	SchedulerType string                 `json:"schedulerType,omitempty"`
	Attributes    []attributeDescription `json:"attributes"`
	Commands      []commandDescription   `json:"commands"`
	Tabs          []string               `json:"tabs,omitempty"`
}

type attributeDescription struct {
	Name        string   `json:"name"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Tooltip     string   `json:"tooltip,omitempty"`
	Default     *string  `json:"default,omitempty"`
	Choice      []string `json:"choice,omitempty"`
	Min         *int     `json:"min,omitempty"`
	Max         *int     `json:"max,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	LinkedTo    string   `json:"linkValueTo,omitempty"`
	ReadOnly    bool     `json:"readOnly,omitempty"`
	Hidden      bool     `json:"hidden,omitempty"`
}

type commandDescription struct {
	Element   string `json:"element"`
	Name      string `json:"name"`
	Program   string `json:"program"`
	Fallbacks int    `json:"fallbacks,omitempty"`
}

func describe(d *config.Definition) description {
	described := description{Name: d.Name, File: d.File, Mode: "none", SchedulerType: d.Monitor.SchedulerType,
		Attributes: []attributeDescription{}, Commands: []commandDescription{}}
	if submit := d.Submit(false); submit != nil {
		described.Mode = "batch"
		if submit.Element.IsInteractive() {
			described.Mode = "interactive"
		}
	}
	for _, defined := range d.Attributes {
		described.Attributes = append(described.Attributes, describeAttribute(defined.Attribute))
	}
	for _, c := range d.Commands {
		one := commandDescription{Element: string(c.Element), Name: c.Name, Fallbacks: len(c.Fallbacks)}
		for _, argument := range c.Arguments {
			if words := strings.Fields(argument.Text); len(words) > 0 && one.Program == "" {
				one.Program = words[0]
			}
		}
		described.Commands = append(described.Commands, one)
	}
	if d.LaunchTab != nil {
		for _, tab := range d.LaunchTab.Tabs {
			described.Tabs = append(described.Tabs, tab.Title)
		}
	}
	return described
}

func describeAttribute(a *attribute.Attribute) attributeDescription {
	d := attributeDescription{
		Name: a.Name(), Type: attribute.Text(a.Field(attribute.FieldType)),
		Description: a.Text(attribute.FieldDescription), Tooltip: a.Text(attribute.FieldTooltip),
		LinkedTo: a.Text(attribute.FieldLinkValueTo), ReadOnly: a.ReadOnly(), Hidden: !a.Visible(),
	}
	if a.Field(attribute.FieldDefault) != nil {
		text := a.Text(attribute.FieldDefault)
		d.Default = &text
	}
	for item := range strings.SplitSeq(a.Text(attribute.FieldChoice), ",") {
		if item = strings.TrimSpace(item); item != "" {
			d.Choice = append(d.Choice, item)
		}
	}
	if least, ok := a.Field(attribute.FieldMin).(int); ok {
		d.Min = &least
	}
	if most, ok := a.Field(attribute.FieldMax).(int); ok {
		d.Max = &most
	}
	if validator := a.Validator(); validator != nil && validator.Regex != nil {
		d.Pattern = validator.Regex.String()
	}
	return d
}

func (d description) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s), %s jobs\n", d.Name, d.File, d.Mode)
	text.WriteString("\nAttributes, set with -s name=value:\n")
	for _, a := range d.Attributes {
		if !a.Hidden && !a.ReadOnly {
			text.WriteString(a.text())
		}
	}
	text.WriteString("\nCommands:\n")
	for _, c := range d.Commands {
		fmt.Fprintf(&text, "  %-22s %-20s %s", c.Element, c.Name, c.Program)
		if c.Fallbacks > 0 {
			fmt.Fprintf(&text, " (%d fallbacks)", c.Fallbacks)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func (a attributeDescription) text() string {
	var facts []string
	if a.Default != nil && *a.Default != "" {
		facts = append(facts, "default "+*a.Default)
	}
	if len(a.Choice) > 0 {
		facts = append(facts, "one of "+strings.Join(a.Choice, ", "))
	}
	if a.Min != nil {
		facts = append(facts, fmt.Sprintf("at least %d", *a.Min))
	}
	if a.Max != nil {
		facts = append(facts, fmt.Sprintf("at most %d", *a.Max))
	}
	line := fmt.Sprintf("  %-22s %s", a.Name, oneLine(a.Description))
	if len(facts) > 0 {
		line += " (" + oneLine(strings.Join(facts, "; ")) + ")"
	}
	return strings.TrimRight(line, " ") + "\n"
}
