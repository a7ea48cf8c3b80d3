package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

var attributeCodes = []Code{
	{"duplicate-attribute", config.Warning, "An attribute is defined twice."},
	{"unused-attribute", config.Warning, "Nothing uses an attribute."},
	{"unreachable-attribute", config.Warning, "No control of the form sets an attribute that jobs use."},
	{"empty-range", config.Warning, "No number lies within the bounds."},
	{"invalid-default", config.Warning, "A default is not a valid value."},
	{"invalid-translation", config.Warning, "The translation of a switch is not a pair of texts."},
	{"different-lengths", config.Warning, "The lists choice and translateChoiceAs have different lengths."},
	{"no-list", config.Warning, "Items come from an attribute that never holds a list."},
	{"link-cycle", config.Warning, "Links between attributes form a cycle."},
	{"reference-cycle", config.Warning, "Defaults refer to each other in a cycle."},
	{"unknown-validator", config.Error, "An attribute names a validator that the definition does not have."},
	{"validator-without-message", config.Warning, "A validator has no error message."},
	{"validator-without-rule", config.Warning, "A validator accepts every value."},
}

func (c *checker) checkAttributes() {
	earlier := map[string]*xmltree.Element{}
	for _, control := range c.root.Named("control-data") {
		for _, e := range control.Named("attribute", "property") {
			name := e.Value("name")
			if first, twice := earlier[name]; twice {
				c.report(e.Position(), config.Warning, "duplicate-attribute",
					fmt.Sprintf("attribute %s is defined twice; rmctl ignores the definition on line %d", wording.Quote(name), first.Position().Line), "")
			}
			earlier[name] = e
			c.checkAttribute(e)
		}
		for _, e := range control.Children {
			if e.IsExtension("validator") {
				c.checkValidator(e)
			}
		}
	}
	c.checkLinkCycles()
	c.checkReferenceCycles()
}

func (c *checker) checkAttribute(e *xmltree.Element) {
	c.checkBounds(e)
	c.checkTranslations(e)
	c.checkDefault(e)
	if from, ok := e.First("items-from"); ok {
		c.checkItems(from.Text, from.TextPosition())
	}
	if link, ok := e.First("link-value-to"); ok {
		c.use(link.Text, usedElsewhere)
		if !c.names.has(link.Text) {
			c.undefined(link.TextPosition(), link.Text, "the link leads nowhere")
		}
	}
	if _, hasOption := e.Lookup(xmltree.ExtensionNamespace, "option"); hasOption {
		c.use(e.Value("name"), usedByJobs) // by the lines of options
	}
	if validator, ok := e.First("validator"); ok {
		c.checkValidator(validator)
	}
}

const unbounded = -1 << 31

func (c *checker) checkBounds(e *xmltree.Element) {
	least, most := e.Integer("min", unbounded), e.Integer("max", unbounded)
	if least != unbounded && most != unbounded && least > most {
		c.report(e.ValuePosition("min"), config.Warning, "empty-range", fmt.Sprintf("min is %d and max is %d: no value is allowed", least, most), "")
	}
}

func (c *checker) checkTranslations(e *xmltree.Element) {
	if pair := e.Optional("translateBooleanAs"); pair.Set && strings.Count(pair.Text, ",") != 1 {
		c.report(e.ValuePosition("translateBooleanAs"), config.Warning, "invalid-translation",
			fmt.Sprintf("%s is not a pair of texts, so the switch stores true and false", wording.Quote(pair.Text)),
			"write the texts for on and off, separated by a comma")
	}
	translated, ok := e.First("translateChoiceAs")
	choice, hasChoice := e.First("choice")
	if !ok || !hasChoice {
		return
	}
	if shown, stored := items(choice.Text), items(translated.Text); len(shown) != len(stored) {
		c.report(translated.TextPosition(), config.Warning, "different-lengths",
			fmt.Sprintf("choice has %d items and translateChoiceAs has %d; PTP cannot show the extra items", len(shown), len(stored)), "")
	}
}

// items returns the items of a list as a form has them: those that are not blank.
func items(list string) []string {
	var found []string
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) != "" {
			found = append(found, item)
		}
	}
	return found
}

// checkItems checks where the items of a combo come from.
func (c *checker) checkItems(name string, at config.Position) {
	if name == "" {
		return
	}
	c.use(name, usedElsewhere)
	if !c.names.has(name) {
		c.undefined(at, name, "there are no items")
		return
	}
	e, defined := c.names.defined[name]
	if !defined || c.names.openEnded || c.listed[name] || strings.Contains(strings.ToLower(e.Value("type")), "list") {
		return
	}
	c.report(at, config.Warning, "no-list", fmt.Sprintf("no parser adds to the list of %s, so there are no items", wording.Quote(name)),
		fmt.Sprintf(`fill it in a start-up-command: <target ref="%s"> … <add field="value">`, name))
}

// listsIn returns the attributes that a parser of a definition adds to.
func listsIn(d *config.Definition) map[string]bool {
	lists := map[string]bool{}
	for _, command := range d.Commands {
		if command.Read != nil {
			for _, fact := range command.Read.Facts {
				lists[fact.Attribute] = true
			}
		}
		for _, parser := range parsers(command) {
			for _, target := range parser.Targets {
				isList := parser.Type != ""
				for _, action := range inspect.Actions(target) {
					isList = isList || action.Kind == config.Add
				}
				lists[target.Ref.Text] = lists[target.Ref.Text] || isList
			}
		}
	}
	return lists
}

// An attributeValue is a default with its position and its rules.
type attributeValue struct {
	*xmltree.Element
	value string
	at    config.Position
}

func (c *checker) checkDefault(e *xmltree.Element) {
	text, ok := e.First("default")
	if !ok || strings.TrimSpace(text.Text) == "" || strings.Contains(text.Text, reference.Start) {
		return
	}
	d := attributeValue{e, text.Text, text.TextPosition()}
	kind := strings.ToLower(e.Value("type"))
	translation := strings.Split(e.Value("translateBooleanAs"), ",")
	_, hasItems := e.First("items-from")
	choice, hasChoice := e.First("choice")
	switch {
	case len(translation) == 2:
		if d.value != translation[0] && d.value != translation[1] {
			c.refuseDefault(d, fmt.Sprintf("the switch stores %s or %s", wording.Quote(translation[0]), wording.Quote(translation[1])), "")
		}
	case strings.Contains(kind, "bool"):
		if lower := strings.ToLower(strings.TrimSpace(d.value)); lower != "true" && lower != "false" {
			c.refuseDefault(d, "the attribute is a switch", "true or false")
		}
	case hasChoice:
		c.checkDefaultChoice(d, items(choice.Text))
	case strings.Contains(kind, "int") && !hasItems:
		c.checkDefaultNumber(d)
	}
	c.checkDefaultByValidator(d)
}

func (c *checker) refuseDefault(d attributeValue, reason, suggestion string) {
	c.report(d.at, config.Warning, "invalid-default", fmt.Sprintf("invalid default %s: %s", wording.Quote(d.value), reason), suggestion)
}

func (c *checker) checkDefaultChoice(d attributeValue, allowed []string) {
	if translated, ok := d.First("translateChoiceAs"); ok {
		allowed = append(allowed, items(translated.Text)...)
	}
	if slices.ContainsFunc(allowed, func(one string) bool { return strings.TrimSpace(one) == strings.TrimSpace(d.value) }) {
		return
	}
	message := fmt.Sprintf("the default %s is not one of the choices", wording.Quote(d.value))
	c.reportName(d.at, config.Warning, "invalid-default", message, strings.TrimSpace(d.value), allowed)
}

func (c *checker) checkDefaultNumber(d attributeValue) {
	number, err := strconv.Atoi(strings.TrimSpace(d.value))
	least, most := d.Integer("min", unbounded), d.Integer("max", unbounded)
	switch {
	case err != nil:
		c.refuseDefault(d, "enter a whole number", "")
	case least != unbounded && number < least:
		c.refuseDefault(d, fmt.Sprintf("the minimum is %d", least), "")
	case most != unbounded && number > most:
		c.refuseDefault(d, fmt.Sprintf("the maximum is %d", most), "")
	}
}

// checkDefaultByValidator checks a default with the validator of its attribute,
// except for properties of files. An invalid expression is reported elsewhere.
func (c *checker) checkDefaultByValidator(d attributeValue) {
	if _, valid := d.First("validator"); !valid {
		return
	}
	defined := c.attributes[d.Value("name")]
	if defined == nil || defined.Position != d.Position() {
		return // of two with one name the last counts
	}
	var refused *attribute.InvalidError
	if errors.As(defined.Check(d.value, nil), &refused) {
		c.refuseDefault(d, refused.Reason, "")
	}
}
