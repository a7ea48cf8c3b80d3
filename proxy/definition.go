package proxy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/model"
)

// A Definition defines an attribute, as ATTR_DEF has it. Values are texts.
type Definition struct {
	ID          string
	Type        string // of model.Type, or BIGINTEGER
	Name        string
	Description string
	Display     bool
	Default     string // of ARRAY without meaning

	Values           []string // of ENUMERATED
	Minimum, Maximum string   // of INTEGER, DOUBLE, BIGINTEGER and DATE; empty without limits

	// Of DATE: SHORT, MEDIUM, LONG or FULL, and a country such as US.
	DateStyle, TimeStyle, Locale string
}

// Types that stand on the wire in another way than the model has them.
const (
	bigInteger  = "BIGINTEGER"
	fixedFields = 6 // from the id to the default
)

// definitions reads Defined: the number of definitions, then each with the number of its arguments.
func (p *updateParser) definitions(update *Update) {
	number := p.count("definitions", 1+fixedFields)
	if p.broken != nil {
		return
	}
	if number == 1 {
		p.text("the number of arguments") // often too small in agents written in C
		update.Definitions = []Definition{parseDefinition(p.frame.Arguments[p.next:])}
		return
	}
	for range number {
		at := p.next
		arguments := p.count("arguments", 1)
		if p.broken == nil && arguments < fixedFields {
			p.fail(at, "a definition needs six arguments")
		}
		if p.broken != nil {
			return
		}
		update.Definitions = append(update.Definitions, parseDefinition(p.frame.Arguments[p.next:p.next+arguments]))
		p.next += arguments
	}
}

// parseDefinition parses the arguments of one definition, six at least.
func parseDefinition(arguments []string) Definition {
	definition := Definition{
		ID: arguments[0], Type: arguments[1], Name: arguments[2], Description: arguments[3],
		Display: arguments[4] == "1" || isTrue(arguments[4]), Default: arguments[5],
	}
	extra := arguments[fixedFields:]
	switch definition.Type {
	case string(model.Enumerated):
		definition.Values = slices.Clone(extra)
	case string(model.Date):
		if len(extra) >= 3 {
			definition.DateStyle, definition.TimeStyle, definition.Locale = extra[0], extra[1], extra[2]
			extra = extra[3:]
		}
		definition.limits(extra)
	case string(model.Integer), string(model.Double), bigInteger:
		definition.limits(extra)
	}
	return definition
}

// limits takes both limits, or none.
func (d *Definition) limits(extra []string) {
	if len(extra) >= 2 {
		d.Minimum, d.Maximum = extra[0], extra[1]
	}
}

// isTrue parses a BOOLEAN: everything but true is false.
func isTrue(text string) bool { return strings.EqualFold(text, "true") }

// definitionArguments returns the arguments of Defined.
func definitionArguments(definitions []Definition) []string {
	arguments := []string{strconv.Itoa(len(definitions))}
	for _, definition := range definitions {
		fields := definition.arguments()
		arguments = append(append(arguments, strconv.Itoa(len(fields))), fields...)
	}
	return arguments
}

// arguments returns the arguments of one definition.
func (d Definition) arguments() []string {
	fields := []string{d.ID, d.Type, d.Name, d.Description, strconv.FormatBool(d.Display), d.Default}
	switch d.Type {
	case string(model.Enumerated):
		return append(fields, d.Values...)
	case string(model.Date):
		fields = append(fields, d.DateStyle, d.TimeStyle, d.Locale)
	case string(model.Integer), string(model.Double), bigInteger:
	default:
		return fields
	}
	if d.Minimum != "" || d.Maximum != "" {
		fields = append(fields, d.Minimum, d.Maximum)
	}
	return fields
}

// DefinitionOf returns the wire form of a definition. A DATE becomes a STRING: the model
// writes times after RFC 3339, which no style of the protocol does. An INTEGER with limits
// beyond 32 bits becomes a BIGINTEGER: clients written in Java cannot read it otherwise.
func DefinitionOf(d *model.Definition) Definition {
	definition := Definition{
		ID: d.ID, Type: string(d.Type), Name: d.Name, Description: d.Description, Display: d.Display,
		Values: d.Values,
	}
	if len(d.Default) > 0 && d.Type != model.Array {
		definition.Default = d.Default[0]
	}
	switch d.Type {
	case model.Date:
		definition.Type = string(model.String)
	case model.Integer:
		if d.Limited {
			definition.Minimum, definition.Maximum = wholeNumber(d.Min), wholeNumber(d.Max)
		}
		if d.Limited && (d.Min < math.MinInt32 || d.Max > math.MaxInt32) {
			definition.Type = bigInteger
		}
	case model.Double:
		if d.Limited {
			definition.Minimum, definition.Maximum = decimal(d.Min), decimal(d.Max)
		}
	}
	return definition
}

func wholeNumber(number float64) string { return strconv.FormatFloat(number, 'f', 0, 64) }

// decimal writes a number with at least one digit after the point, as Java does.
func decimal(number float64) string {
	text := strconv.FormatFloat(number, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Model returns the definition for a model. A DATE, whose values are in a style of its
// own, and a BIGINTEGER without limits that fit 64 bits become a STRING. The model
// checks the rest when it takes the definition.
func (d Definition) Model() (*model.Definition, error) {
	definition := &model.Definition{
		ID: d.ID, Type: model.Type(d.Type), Name: d.Name, Description: d.Description, Display: d.Display,
		Default: []string{d.Default}, Values: d.Values,
	}
	switch d.Type {
	case string(model.Array):
		definition.Default = nil
	case string(model.Boolean):
		definition.Default = []string{strconv.FormatBool(isTrue(d.Default))}
	case string(model.Date):
		definition.Type = model.String
	case bigInteger:
		definition.Type = model.Integer
		if !is64Bits(d.Minimum) || !is64Bits(d.Maximum) || !is64Bits(d.Default) {
			definition.Type = model.String
			return definition, nil
		}
	}
	if definition.Type != model.Integer && definition.Type != model.Double || d.Minimum == "" && d.Maximum == "" {
		return definition, nil
	}
	low, lowErr := strconv.ParseFloat(d.Minimum, 64)
	high, highErr := strconv.ParseFloat(d.Maximum, 64)
	if lowErr != nil || highErr != nil || !(low <= high) {
		return nil, fmt.Errorf("attribute %q: invalid limits %q and %q", excerpt(d.ID), excerpt(d.Minimum), excerpt(d.Maximum))
	}
	definition.Limited, definition.Min, definition.Max = true, low, high
	return definition, nil
}

func is64Bits(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}
