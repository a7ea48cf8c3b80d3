package importer

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A runtimeAttribute is a declaration of a runtime attribute, in WDL.
type runtimeAttribute struct {
	kind     string // Int, Float, String, Boolean or File
	name     string
	value    string // its default, empty for none
	hasValue bool
	line     int // of the configuration
}

var (
	declaration  = lazyregexp.New(`^(Int|Float|String|Boolean|File)\s*(\?)?\s+([A-Za-z][A-Za-z0-9_]{0,63})\s*(?:=\s*(.*?))?\s*,?$`)
	stringInWDL  = lazyregexp.New(`^(?:"([^"\\$~]*)"|'([^'\\$~]*)')$`)
	numberInWDL  = lazyregexp.New(`^-?[0-9]{1,12}(?:\.[0-9]{1,9})?$`)
	booleanInWDL = lazyregexp.New(`^(?:true|false)$`)
)

// runtimeAttributes reads declarations, one on a line.
func (i *importing) runtimeAttributes(v *hoconValue) ([]runtimeAttribute, error) {
	var found []runtimeAttribute
	names := map[string]bool{}
	for n, line := range strings.Split(v.text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		parts := declaration.FindStringSubmatch(line)
		if parts == nil {
			return nil, i.fail(v.line+n, 1, "%.100q is no declaration of a runtime attribute", line)
		}
		one := runtimeAttribute{kind: parts[1], name: parts[3], line: v.line + n}
		if names[one.name] {
			return nil, i.fail(one.line, 1, "the runtime attribute %q is declared twice", one.name)
		}
		names[one.name] = true
		text := stringInWDL.FindStringSubmatch(parts[4])
		switch {
		case parts[4] == "":
		case text != nil:
			one.value, one.hasValue = text[1]+text[2], true
		case numberInWDL.MatchString(parts[4]), booleanInWDL.MatchString(parts[4]):
			one.value, one.hasValue = parts[4], true
		default:
			i.remark(Lost, one.line, 1, one.name, "its default, %.100q, is an expression", parts[4])
		}
		found = append(found, one)
	}
	return found, nil
}

// variablePrefix begins the names of the variables in which commands find values:
// an attribute of any name is no variable that a shell or a program reads.
const variablePrefix = "wdl_"

// A commandTemplate turns a command of Cromwell, a text for a shell in which
// expressions stand for values, into one in which variables do. Values are never
// part of the text that the shell reads.
type commandTemplate struct {
	*importing
	at    *hoconValue
	known map[string]bool // names that have values
	used  map[string]bool
}

var (
	placeholderStart = lazyregexp.New(`[$~]\{`)
	identifier       = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]*$`)
	plainInShell     = lazyregexp.New(`^[A-Za-z0-9 _=:,./@%+-]*$`)
	withDefault      = lazyregexp.New(`^default\s*=\s*(?:"([^"]*)"|'([^']*)')\s+([A-Za-z][A-Za-z0-9_]*)$`)
	withTruth        = lazyregexp.New(`^true\s*=\s*(?:"([^"]*)"|'([^']*)')\s+false\s*=\s*(?:"([^"]*)"|'([^']*)')\s+([A-Za-z][A-Za-z0-9_]*)$`)
)

// shell returns the command.
func (c *commandTemplate) shell() (string, error) {
	var out strings.Builder
	rest, line := c.at.text, c.at.line
	quote := byte(0) // the quote that the shell is in
	for {
		start := placeholderStart.FindStringIndex(rest)
		upTo := len(rest)
		if start != nil {
			upTo = start[0]
		}
		quote = shellQuote(quote, rest[:upTo])
		line += strings.Count(rest[:upTo], "\n")
		out.WriteString(rest[:upTo])
		if start == nil {
			return strings.TrimSpace(out.String()), nil
		}
		end := endOfExpression(rest[start[1]:])
		if end < 0 {
			return "", c.fail(line, 1, "an expression has no closing brace")
		}
		expression := strings.TrimSpace(rest[start[1] : start[1]+end])
		value, err := c.expression(expression)
		if err != nil {
			return "", c.fail(line, 1, "the expression ${%.200s} cannot be carried over: %v", expression, err)
		}
		if quote == '\'' {
			value = `'"` + value + `"'`
		}
		out.WriteString(value)
		line += strings.Count(rest[start[0]:start[1]+end+1], "\n")
		rest = rest[start[1]+end+1:]
	}
}

// endOfExpression finds the brace that ends an expression, quotes aside.
func endOfExpression(text string) int {
	quote := byte(0)
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '}':
			return at
		}
	}
	return -1
}

// shellQuote returns the quote that a shell is in behind a text.
func shellQuote(quote byte, text string) byte {
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == '\\' && quote != '\'':
			at++
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote
}

func (c *commandTemplate) variable(name string) (string, error) {
	if !c.known[name] {
		return "", fmt.Errorf("%s has no value here", name)
	}
	c.used[name] = true
	return variablePrefix + name, nil
}

func plain(texts ...string) (string, error) {
	text := strings.Join(texts, "")
	if !plainInShell.MatchString(text) {
		return "", fmt.Errorf("%q has characters that mean something to a shell", text)
	}
	return text, nil
}

// expression translates a name, texts joined with names, a default or a choice by
// a truth value.
func (c *commandTemplate) expression(text string) (string, error) {
	if identifier.MatchString(text) {
		name, err := c.variable(text)
		return "${" + name + "}", err
	}
	if parts := withDefault.FindStringSubmatch(text); parts != nil {
		name, err := c.variable(parts[3])
		if err != nil {
			return "", err
		}
		instead, err := plain(parts[1], parts[2])
		return "${" + name + ":-" + instead + "}", err
	}
	if parts := withTruth.FindStringSubmatch(text); parts != nil {
		name, err := c.variable(parts[5])
		if err != nil {
			return "", err
		}
		yes, err := plain(parts[1], parts[2])
		if err != nil {
			return "", err
		}
		no, err := plain(parts[3], parts[4])
		return fmt.Sprintf(`$(if [ "${%s}" = true ]; then echo "%s"; else echo "%s"; fi)`, name, yes, no), err
	}
	return c.joined(text)
}

// joined translates texts and names with + between them: nothing where a name has
// no value.
func (c *commandTemplate) joined(text string) (string, error) {
	var whole string
	var names []string
	for text = strings.TrimSpace(text); ; {
		var part string
		switch {
		case strings.HasPrefix(text, `"`), strings.HasPrefix(text, "'"):
			end := strings.IndexByte(text[1:], text[0])
			if end < 0 {
				return "", fmt.Errorf("a text has no end")
			}
			plain, err := plain(text[1 : end+1])
			if err != nil {
				return "", err
			}
			part, text = plain, text[end+2:]
		default:
			name, rest, _ := strings.Cut(text, "+")
			if name = strings.TrimSpace(name); !identifier.MatchString(name) {
				return "", fmt.Errorf("only names, texts, + between them, default= and true= are known")
			}
			variable, err := c.variable(name)
			if err != nil {
				return "", err
			}
			names = append(names, variable)
			part, text = "${"+variable+"}", text[len(text)-len(rest):]
			if rest != "" {
				text = "+" + rest
			}
		}
		whole += part
		text = strings.TrimSpace(text)
		if text == "" {
			break
		}
		rest, more := strings.CutPrefix(text, "+")
		if !more {
			return "", fmt.Errorf("only names, texts, + between them, default= and true= are known")
		}
		text = strings.TrimSpace(rest)
	}
	for _, name := range names {
		whole = "${" + name + ":+" + whole + "}"
	}
	return whole, nil
}
