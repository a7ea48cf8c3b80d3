// Package describe describes definitions for people and programs: as text, as JSON
// and as a page for a browser.
package describe

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A Description is the output of rmctl describe; its JSON names are a contract, which
// docs/reference/definition-json.md documents. Positions are file:line:column.
type Description struct {
	Name          string                 `json:"name"`
	File          string                 `json:"file"`
	Extends       []string               `json:"extends,omitempty"` // files, the nearest base first
	Mode          string                 `json:"mode"`              // batch, interactive or none
	SchedulerType string                 `json:"schedulerType,omitempty"`
	Connection    string                 `json:"connection,omitempty"`
	Refresh       int                    `json:"refreshSeconds,omitempty"`
	Queues        *queuesDescription     `json:"queues,omitempty"`
	Attributes    []attributeDescription `json:"attributes"`
	Script        *scriptDescription     `json:"script,omitempty"`
	Files         []fileDescription      `json:"files,omitempty"`
	Commands      []commandDescription   `json:"commands"`
	States        []stateDescription     `json:"states,omitempty"`
	Outcomes      []outcomeDescription   `json:"outcomes,omitempty"`
	Probes        []probeDescription     `json:"probes,omitempty"`
	Portable      []portableDescription  `json:"portable,omitempty"`
	Tabs          []string               `json:"tabs,omitempty"`
	Form          []tabDescription       `json:"form,omitempty"`
	Proven        []Proof                `json:"proven"`
}

// A Proof says what a definition was tested with.
type Proof struct {
	By string `json:"by"` // software, recordings or documentation
	Of string `json:"of"`
}

type queuesDescription struct {
	Attribute string `json:"attribute"`         // that of the job's queue
	FoundBy   string `json:"foundBy,omitempty"` // the command that lists queues
}

type attributeDescription struct {
	Name               string                `json:"name"`
	Type               string                `json:"type,omitempty"`
	Description        string                `json:"description,omitempty"`
	Tooltip            string                `json:"tooltip,omitempty"`
	Default            *string               `json:"default,omitempty"`
	Value              *string               `json:"value,omitempty"`
	Choice             []string              `json:"choice,omitempty"`
	TranslateChoiceAs  []string              `json:"translateChoiceAs,omitempty"`
	TranslateBooleanAs string                `json:"translateBooleanAs,omitempty"`
	ItemsFrom          string                `json:"itemsFrom,omitempty"`
	Min                *int                  `json:"min,omitempty"`
	Max                *int                  `json:"max,omitempty"`
	Validator          *validatorDescription `json:"validator,omitempty"`
	LinkedTo           string                `json:"linkValueTo,omitempty"`
	Status             string                `json:"status,omitempty"`
	Visible            bool                  `json:"visible"`
	ReadOnly           bool                  `json:"readOnly"`
	Position           string                `json:"position"`
}

type validatorDescription struct {
	Expression string   `json:"expression,omitempty"` // must match the whole value
	Ranges     []string `json:"ranges,omitempty"`     // one of them has to hold the value, such as ">= 1, < 9"
	File       []string `json:"file,omitempty"`       // requirements for the file
	Message    string   `json:"message,omitempty"`
}

// settable reports whether users set the attribute.
func (a attributeDescription) Settable() bool { return a.Visible && !a.ReadOnly }

// Of describes a definition that was loaded without errors.
func Of(d *config.Definition) Description {
	described := Description{
		Name: d.Name, File: d.File, Extends: d.Files[1:], Mode: "none", SchedulerType: d.Monitor.SchedulerType,
		Connection: d.Site.ConnectionName, Refresh: d.Monitor.RefreshSeconds, Queues: queuesOf(d),
		Attributes: []attributeDescription{}, Script: describeScript(d.Script), Files: describeFiles(d.ManagedFiles),
		Commands: each(d.Commands, describeCommand), States: describeStates(d), Outcomes: each(d.Outcomes, describeOutcome), Probes: each(d.Probes, describeProbe),
		Portable: describePortable(d), Form: describeForm(d.LaunchTab),
		Proven: each(d.Proofs, func(proof config.Proof) Proof { return Proof{proof.By, proof.Of} }),
	}
	described.Tabs = each(described.Form, func(tab tabDescription) string { return tab.Title })
	if submit := d.Submit(false); submit != nil {
		described.Mode = "batch"
		if submit.Element.IsInteractive() {
			described.Mode = "interactive"
		}
	}
	for i, defined := range d.Attributes {
		if d.Attribute(defined.Name()) == d.Attributes[i] { // of several with one name the last counts
			described.Attributes = append(described.Attributes, describeAttribute(defined))
		}
	}
	return described
}

// each maps a slice; the result is never nil.
func each[T, D any](all []T, describe func(T) D) []D {
	described := make([]D, 0, len(all))
	for _, one := range all {
		described = append(described, describe(one))
	}
	return described
}

// QueueAttribute returns the attribute of a job's queue; empty without queues.
func QueueAttribute(d *config.Definition) string {
	if queues := queuesOf(d); queues != nil {
		return queues.Attribute
	}
	return ""
}

// queuesOf finds the queues by attributes of fixed names.
func queuesOf(d *config.Definition) *queuesDescription {
	chosen := d.Attribute("control.queue.name")
	if chosen == nil && d.Attribute("queues") == nil {
		return nil
	}
	queues := &queuesDescription{Attribute: "control.queue.name"}
	if chosen != nil {
		if link := chosen.Text(attribute.FieldLinkValueTo); link != "" {
			queues.Attribute = link
		}
	}
	for _, c := range d.CommandsOf(config.StartUpCommand) {
		for _, parser := range c.Parsers() {
			if slices.ContainsFunc(parser.Targets, func(t *config.Target) bool { return t.Ref.Text == "queues" }) {
				queues.FoundBy = c.Name
			}
		}
	}
	return queues
}

func describeAttribute(a *config.Attribute) attributeDescription {
	d := attributeDescription{
		Name: a.Name(), Type: attribute.Text(a.Field(attribute.FieldType)),
		Description: a.Text(attribute.FieldDescription), Tooltip: a.Text(attribute.FieldTooltip),
		Default: optionalText(a, attribute.FieldDefault), Value: optionalText(a, attribute.FieldValue),
		Choice: items(a.Text(attribute.FieldChoice)), TranslateChoiceAs: items(a.Text(attribute.FieldTranslateChoiceAs)),
		TranslateBooleanAs: a.Text(attribute.FieldTranslateBooleanAs), ItemsFrom: a.Text(attribute.FieldItemsFrom),
		Validator: describeValidator(a.Validator), LinkedTo: a.Text(attribute.FieldLinkValueTo),
		Status: a.Text(attribute.FieldStatus), Visible: a.Visible(), ReadOnly: a.ReadOnly(), Position: a.Position.String(),
	}
	if least, ok := a.Field(attribute.FieldMin).(int); ok {
		d.Min = &least
	}
	if most, ok := a.Field(attribute.FieldMax).(int); ok {
		d.Max = &most
	}
	return d
}

func optionalText(a *config.Attribute, field attribute.Field) *string {
	if a.Field(field) == nil {
		return nil
	}
	text := a.Text(field)
	return &text
}

// items splits a list at commas.
func items(text string) []string {
	var all []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}

func describeValidator(v *attribute.Validator) *validatorDescription {
	if v == nil {
		return nil
	}
	d := &validatorDescription{Message: v.Message, Ranges: each(v.Ranges, describeRange)}
	if v.Regex != nil {
		d.Expression = v.Regex.Text
	}
	if v.File != nil {
		d.File = describeFileInfo(v.File)
	}
	return d
}
