package definition

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/proxy"
)

// An attribute of submissions that an agent defined.
type attribute struct {
	proxy.Definition
	name string // in the definition
}

const (
	mostAttributes = 1000
	longestText    = 2000 // of a description
	longestDefault = 500
)

// idOfAttribute matches valid attribute names of definitions.
var idOfAttribute = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// engineNames matches the names of attributes that rmctl sets itself.
var engineNames = lazyregexp.New(`^(directory|working\.directory|launchMode|script|script_path|managed_file_for_script|executable(Path|Name|Directory)|` +
	`queues|ptpDirectory|stdout_remote_path|stderr_remote_path|ems|debugger\w*|(os|control|job|query|process|agent|portable)\..*)$`)

// taken are the attributes of SUBMIT_JOB that rmctl sets itself.
var taken = []string{"jobSubId", "jobId", "queueId", "execName", "execPath", "workingDir", "progArgs", "env"}

// usable returns the attributes that submissions may have, and the ids of unusable ones. It omits
// attributes of elements.
func usable(definitions []proxy.Definition) (attributes []attribute, refused []string) {
	at := map[string]int{}
	for _, d := range definitions {
		switch i, isAgain := at[d.ID]; {
		case slices.Contains(taken, d.ID) || vocabulary.IsKnown(d.ID):
			continue
		case isAgain:
			attributes[i].Definition = d
			continue
		case !idOfAttribute.MatchString(d.ID) || len(attributes) == mostAttributes:
			refused = append(refused, d.ID)
			continue
		}
		name := d.ID
		if engineNames.MatchString(name) {
			name = "agent." + name
		}
		at[d.ID] = len(attributes)
		attributes = append(attributes, attribute{d, name})
	}
	return attributes, refused
}

// attribute writes an attribute with its type, limits, choices and default.
func (w *writer) attribute(a attribute) {
	kind, rule := a.rule()
	label := ""
	if name := plain(a.Name, 80); name != "" && name != "???" && name != a.ID {
		label = fmt.Sprintf(` x:label="%s"`, escape(name))
	}
	w.line(`    <attribute name="%s" type="%s"`+kind.limits+label+`>`, a.name, kind.name)
	if text := plain(a.Description, longestText); text != "" {
		w.line(`      <description>%s</description>`, text)
	}
	if kind.name == "choice" {
		w.text.WriteString(rule)
	}
	if value, has := a.byDefault(); has {
		w.line(`      <default>%s</default>`, value)
	}
	if kind.name != "choice" {
		w.text.WriteString(rule)
	}
	w.line(`    </attribute>`)
}

// A kind is the type of an attribute in a definition, with its limits as attributes of XML.
type kind struct{ name, limits string }

// rule returns the type of an attribute and the XML elements that restrict its values.
func (a attribute) rule() (kind, string) {
	switch a.Type {
	case "BOOLEAN":
		return kind{name: "boolean"}, ""
	case "INTEGER", "BIGINTEGER":
		least, lowest := whole(a.Minimum, math.MinInt32+1)
		most, highest := whole(a.Maximum, math.MaxInt32)
		if a.Type == "INTEGER" && lowest && highest && least <= most {
			return kind{"integer", fmt.Sprintf(` min="%d" max="%d"`, least, most)}, ""
		}
		return kind{name: "string"}, validator(`|[+-]?\d+`, "a whole number"+a.between())
	case "DOUBLE":
		return kind{name: "string"}, validator(`|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`, "a number"+a.between())
	case "ENUMERATED":
		return a.choice()
	}
	return kind{name: "string"}, ""
}

// whole parses a limit of 32 bits and reports whether it is valid. An empty text gives the default.
func whole(text string, without int64) (int64, bool) {
	if text == "" {
		return without, true
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return number, err == nil && number > math.MinInt32 && number <= math.MaxInt32
}

func (a attribute) between() string {
	if a.Minimum == "" && a.Maximum == "" {
		return ""
	}
	return fmt.Sprintf(" from %s to %s", plain(a.Minimum, 40), plain(a.Maximum, 40))
}

func validator(expression, message string) string {
	return fmt.Sprintf("      <validator><regex expression=\"%s\"/><error-message>%s</error-message></validator>\n", escape(expression), escape(message))
}

// choice returns the permitted values. A list of choices cannot contain commas; an expression is used
// instead.
func (a attribute) choice() (kind, string) {
	isPlain := func(value string) bool {
		return value != "" && value == plain(value, longestDefault) && !strings.Contains(value, ",")
	}
	values := slices.DeleteFunc(slices.Clone(a.Values), func(value string) bool { return value != plain(value, longestDefault) || strings.Contains(value, "${") })
	if !slices.ContainsFunc(values, func(value string) bool { return !isPlain(value) }) && len(values) > 0 {
		return kind{name: "choice"}, fmt.Sprintf("      <choice>%s</choice>\n", escape(strings.Join(values, ",")))
	}
	expressions := []string{""}
	for _, value := range values {
		expressions = append(expressions, regexp.QuoteMeta(value))
	}
	return kind{name: "string"}, validator(strings.Join(expressions, "|"), "one of: "+strings.Join(values, "; "))
}

// byDefault returns the default of an attribute, if it is valid in a definition.
func (a attribute) byDefault() (string, bool) {
	value := a.Default
	isUsable := value != "" && value == plain(value, longestDefault) && !strings.Contains(value, "${") && a.Type != "ARRAY" && a.Type != "DATE"
	switch {
	case !isUsable:
		return "", false
	case a.Type == "BOOLEAN":
		return strings.ToLower(value), strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case a.Type == "ENUMERATED":
		return value, slices.Contains(a.Values, value)
	case a.Type == "INTEGER" || a.Type == "BIGINTEGER":
		number, err := strconv.ParseInt(value, 10, 64)
		least, _ := whole(a.Minimum, math.MinInt64)
		most, _ := whole(a.Maximum, math.MaxInt64)
		return value, err == nil && number >= least && number <= most
	}
	return value, true
}

// unless returns an expression for values that need not be submitted: an empty one, and the agent's
// default.
func (a attribute) unless() string {
	value, has := a.byDefault()
	if !has {
		return ""
	}
	return "(?:" + regexp.QuoteMeta(value) + ")?"
}

// plain returns a text on one line, without control characters, of at most so many bytes.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
