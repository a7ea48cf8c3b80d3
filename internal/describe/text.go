package describe

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/tui"
)

// Text returns the description for a terminal: what users need, or everything.
func (d Description) Text(everything bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s), %s jobs\n", d.Name, d.File, d.Mode)
	if len(d.Extends) > 0 {
		fmt.Fprintf(&text, "extends %s\n", strings.Join(d.Extends, ", which extends "))
	}
	for _, proof := range d.Proven {
		fmt.Fprintf(&text, "proven by %s: %s\n", proof.By, tui.OneLine(proof.Of))
	}
	if monitor := d.monitorText(); monitor != "" {
		text.WriteString(monitor + "\n")
	}
	text.WriteString("\nAttributes, set with -s name=value:\n")
	for _, a := range d.Attributes {
		if a.Settable() {
			text.WriteString(a.text(everything))
		}
	}
	if everything {
		text.WriteString("\nOther attributes:\n")
		for _, a := range d.Attributes {
			if !a.Settable() {
				text.WriteString(a.text(everything))
			}
		}
		d.writeScript(&text)
	}
	d.writePortable(&text, everything)
	text.WriteString("\nCommands:\n")
	for _, c := range d.Commands {
		c.writeText(&text, everything)
	}
	if everything {
		d.writeStates(&text)
		d.writeProbes(&text)
		d.writeForm(&text)
	}
	return text.String()
}

// monitorText describes scheduler, queue and refresh time.
func (d Description) monitorText() string {
	var facts []string
	if d.SchedulerType != "" {
		facts = append(facts, "scheduler "+tui.OneLine(d.SchedulerType))
	}
	if d.Queues != nil {
		queue := "queue: attribute " + d.Queues.Attribute
		if d.Queues.FoundBy != "" {
			queue += ", listed by " + d.Queues.FoundBy
		}
		facts = append(facts, queue)
	}
	if d.Refresh > 0 {
		facts = append(facts, fmt.Sprintf("results count as recent for %d s", d.Refresh))
	}
	return strings.Join(facts, "; ")
}

func (a attributeDescription) text(everything bool) string {
	facts := a.facts(everything)
	line := fmt.Sprintf("  %-22s %s", a.Name, tui.OneLine(a.Description))
	if len(facts) > 0 {
		line += " (" + tui.OneLine(strings.Join(facts, "; ")) + ")"
	}
	line = strings.TrimRight(line, " ") + "\n"
	if everything {
		if tooltip := tui.OneLine(a.Tooltip); tooltip != "" {
			line += fmt.Sprintf("  %-22s   %s\n", "", tooltip)
		}
		line += fmt.Sprintf("  %-22s   %s\n", "", a.Position)
	}
	return line
}

// facts returns the rules for values, and the default.
func (a attributeDescription) facts(everything bool) []string {
	var facts []string
	add := func(isSet bool, format string, arguments ...any) {
		if isSet {
			facts = append(facts, fmt.Sprintf(format, arguments...))
		}
	}
	add(a.Type != "" && a.Type != "string" && len(a.Choice) == 0, "%s", a.Type)
	if a.Value != nil {
		add(*a.Value != "", "value %s", *a.Value)
	}
	if a.Default != nil {
		add(*a.Default != "", "default %s", *a.Default)
	}
	add(a.LinkedTo != "", "the value of %s", a.LinkedTo)
	add(len(a.Choice) > 0, "one of %s", strings.Join(a.Choice, ", "))
	add(a.ItemsFrom != "", "suggestions from %s", a.ItemsFrom)
	add(a.Limits() != "", "%s", a.Limits())
	if a.Validator != nil {
		add(true, "%s", a.Validator.text(everything))
	}
	if everything {
		add(len(a.TranslateChoiceAs) > 0, "stored as %s", strings.Join(a.TranslateChoiceAs, ", "))
		add(a.TranslateBooleanAs != "", "stored as %s", a.TranslateBooleanAs)
		add(a.Status != "", "status %s", a.Status)
		add(a.ReadOnly, "read-only")
	}
	return facts
}

// Limits returns the bounds of a number.
func (a attributeDescription) Limits() string {
	switch {
	case a.Min != nil && a.Max != nil:
		return fmt.Sprintf("%d to %d", *a.Min, *a.Max)
	case a.Min != nil:
		return fmt.Sprintf("at least %d", *a.Min)
	case a.Max != nil:
		return fmt.Sprintf("at most %d", *a.Max)
	}
	return ""
}

// text returns the rule for values: the message for users, otherwise, or with everything
// set, the rule itself.
func (v validatorDescription) text(everything bool) string {
	var parts []string
	if v.Message != "" {
		parts = append(parts, v.Message)
	}
	if everything || v.Message == "" {
		if v.Expression != "" {
			parts = append(parts, "matches "+v.Expression)
		}
		if len(v.Ranges) > 0 {
			parts = append(parts, strings.Join(v.Ranges, " or "))
		}
		if len(v.File) > 0 {
			parts = append(parts, strings.Join(v.File, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// writeText writes the command line, shortened unless everything is set, and then also its
// details.
func (c commandDescription) writeText(text *strings.Builder, everything bool) {
	fmt.Fprintf(text, "  %-22s %-20s %s", c.Element, c.Name, shortened(tui.OneLine(line(c.Arguments)), everything))
	if len(c.Fallbacks) > 0 && !everything {
		names := each(c.Fallbacks, func(fallback commandDescription) string { return fallback.Name })
		fmt.Fprintf(text, " (else %s)", tui.OneLine(strings.Join(names, ", ")))
	}
	text.WriteByte('\n')
	if !everything {
		return
	}
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(text, "    %s: %s\n", name, tui.OneLine(value))
		}
	}
	fact("after", strings.Join(c.On, ", "))
	fact("needs", strings.Join(c.Needs, ", "))
	fact("directory", c.Directory)
	fact("input", line(c.Input))
	fact("stdin", c.InputFile)
	fact("only", c.Only)
	for _, variable := range c.Environment {
		fact("environment", variable.text())
	}
	for _, before := range c.Before {
		fact("before", before)
	}
	for _, after := range c.After {
		fact("then", after)
	}
	fact("set", strings.Join(c.Properties, ", "))
	fact("time", c.Timeout)
	fact("at", c.Position)
	for _, mark := range c.Marks {
		if mark.Output {
			fact("mark of the output of a process", mark.Text)
		} else {
			fact("mark of a process", mark.Text)
		}
	}
	for _, parser := range c.Parsers {
		parser.writeText(text)
	}
	for _, fallback := range c.Fallbacks {
		fallback.writeText(text, everything)
	}
}

func (v variableDescription) text() string {
	value := v.Value
	if value == "" {
		value = line(v.Arguments)
	}
	if value == "" && v.Preserve {
		return v.Name + " unchanged"
	}
	return v.Name + "=" + value
}

func shortened(text string, everything bool) string {
	const longest = 60
	if everything || utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest]) + "…"
}

func (p parserDescription) writeText(text *strings.Builder) {
	fmt.Fprintf(text, "    %s: %s\n", p.Element, tui.OneLine(p.Segments))
	if p.Type != "" {
		fmt.Fprintf(text, "      of type %s\n", tui.OneLine(p.Type))
	}
	for _, target := range p.Targets {
		fmt.Fprintf(text, "      %s:\n", tui.OneLine(target.Title()))
		for _, match := range target.Matches {
			fmt.Fprintf(text, "        %s: %s\n", match.Title(), tui.OneLine(joined(match.Actions)))
		}
		for _, test := range target.Tests {
			if len(test.Actions) > 0 {
				fmt.Fprintf(text, "        if %s: %s\n", tui.OneLine(test.Condition), tui.OneLine(joined(test.Actions)))
			}
			if len(test.Else) > 0 {
				fmt.Fprintf(text, "        unless %s: %s\n", tui.OneLine(test.Condition), tui.OneLine(joined(test.Else)))
			}
		}
		if len(target.Else) > 0 {
			fmt.Fprintf(text, "        otherwise: %s\n", tui.OneLine(joined(target.Else)))
		}
	}
	if p.ExitOn != "" {
		fmt.Fprintf(text, "      ends at %s\n", tui.OneLine(p.ExitOn))
	}
	if p.ExitAfter != "" {
		fmt.Fprintf(text, "      ends after %s\n", tui.OneLine(p.ExitAfter))
	}
}

// Title returns what a target changes.
func (t targetDescription) Title() string {
	if t.Attribute == "" {
		return "new attributes"
	}
	return t.Attribute
}

// Title returns what a match takes.
func (m matchDescription) Title() string {
	switch {
	case m.Expression == "":
		return "anything"
	case m.Split:
		return "split at " + tui.OneLine(m.Expression)
	}
	return tui.OneLine(m.Expression)
}

func joined(actions []string) string {
	if len(actions) == 0 {
		return "nothing"
	}
	return strings.Join(actions, "; ")
}

func (d Description) writeScript(text *strings.Builder) {
	if d.Script == nil {
		return
	}
	text.WriteString("\nScript:\n")
	for i, line := range d.Script.Lines {
		fmt.Fprintf(text, "  %s\n", tui.OneLine(line.Text))
		if i == d.Script.InsertEnvironmentAfter {
			text.WriteString("  (the variables of -e)\n")
		}
	}
}

func (d Description) writeStates(text *strings.Builder) {
	if len(d.States) > 0 {
		text.WriteString("\nStates:\n")
	}
	for _, state := range d.States {
		fmt.Fprintf(text, "  %-22s if %s (%s)\n", state.State, tui.OneLine(state.When), state.Command)
	}
	if len(d.Outcomes) > 0 {
		text.WriteString("\nFailures:\n")
	}
	for _, outcome := range d.Outcomes {
		fmt.Fprintf(text, "  %-22s %s\n", outcome.Kind, tui.OneLine(outcome.Condition()))
	}
}

// Condition describes the failures with this outcome.
func (o outcomeDescription) Condition() string {
	text := "any exit code except 0"
	if len(o.ExitCodes) > 0 {
		text = "exit code " + strings.Trim(fmt.Sprint(o.ExitCodes), "[]")
	}
	if o.Expression != "" {
		text += ", output with " + o.Expression
	}
	return text
}

func (d Description) writeForm(text *strings.Builder) {
	if len(d.Form) > 0 {
		text.WriteString("\nForm:\n")
	}
	for _, tab := range d.Form {
		fmt.Fprintf(text, "  %s", tui.OneLine(tab.Title))
		if len(tab.Includes) > 0 {
			fmt.Fprintf(text, " (with the values of %s)", tui.OneLine(strings.Join(tab.Includes, ", ")))
		}
		if tab.Import {
			text.WriteString(" (submits a script of your own)")
		}
		text.WriteByte('\n')
		for _, control := range tab.Controls {
			control.writeText(text, "    ")
		}
	}
}

// writeText writes a control and those inside. It skips labels without text and rules.
func (c controlDescription) writeText(text *strings.Builder, indent string) {
	if !c.IsSeen() {
		return
	}
	fmt.Fprintf(text, "%s%s\n", indent, tui.OneLine(c.Summary()))
	for _, inside := range c.Inside {
		inside.writeText(text, indent+"  ")
	}
}

// IsSeen reports whether the control is more than empty space.
func (c controlDescription) IsSeen() bool {
	return c.Kind != "label" || c.Title != "" || c.Text != "" || c.Attribute != "" || len(c.Rules) > 0
}

// Summary returns a line about the control.
func (c controlDescription) Summary() string {
	words := []string{c.Kind}
	add := func(isSet bool, format string, arguments ...any) {
		if isSet {
			words = append(words, fmt.Sprintf(format, arguments...))
		}
	}
	add(c.Title != "", "%q", c.Title)
	add(c.Text != "" && c.Text != c.Title, "%q", c.Text)
	add(c.Attribute != "", "→ %s", c.Attribute)
	add(len(c.Attributes) > 0, "of %s", strings.Join(c.Attributes, ", "))
	add(c.Action != "", "runs %s", c.Action)
	add(c.ButtonID != "", "[%s]", c.ButtonID)
	add(c.ReadOnly, "(read-only)")
	add(len(c.Rules) > 0, "(%s)", strings.Join(c.Rules, "; "))
	return strings.Join(words, " ")
}
