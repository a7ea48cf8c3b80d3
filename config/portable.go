package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config/internal/tree"
)

// A PortableName is a name by which users ask for something that every scheduler
// has a word of its own for. Definitions link it to their own attributes.
type PortableName struct {
	Name    string
	Syntax  string // how users write values, for messages and help
	Meaning string // one line
	kind    portableKind
}

type portableKind int

const (
	portableCount portableKind = iota
	portableMemory
	portableTime
	portableWord
	portableLine
	portablePath
	portableArray
	portableAfter
	portableMail
)

var portableNames = []PortableName{
	{"nodes", "a whole number", "nodes of the job", portableCount},
	{"tasks", "a whole number", "tasks of the job in all", portableCount},
	{"tasksPerNode", "a whole number", "tasks on each node", portableCount},
	{"cpusPerTask", "a whole number", "CPUs for each task", portableCount},
	{"gpus", "a whole number", "GPUs of the job in all", portableCount},
	{"memory", "a number with a unit, such as 4GiB or 500MB", "memory on each node", portableMemory},
	{"wallTime", "a length of time, such as 1h30m, 2d or 1:30:00", "longest run time", portableTime},
	{"queue", "a name", "queue or partition that the job waits in", portableWord},
	{"account", "a name", "account or project that the job is charged to", portableWord},
	{"jobName", "a text on one line", "name of the job", portableLine},
	{"stdout", "a path, in which %j is the job's id and %a its index in an array", "file for standard output", portablePath},
	{"stderr", "a path, as for stdout", "file for standard error", portablePath},
	{"array", "indices such as 1-100, 1-9:2 or 1,5,8-10; %N behind them runs N at a time", "makes the job an array", portableArray},
	{"after", "ids of jobs separated by commas, any: before them for those that need not succeed", "jobs that have to succeed first", portableAfter},
	{"mail", "begin, end, fail or all, separated by commas, an address, or events:address", "when mail is sent, and to whom", portableMail},
}

// PortableNames returns all portable names in the order of the documentation.
func PortableNames() []PortableName { return slices.Clone(portableNames) }

// IsPortableName reports whether a name is one of the portable ones.
func IsPortableName(name string) bool { return portableNameOf(name) != nil }

func portableNameOf(name string) *PortableName {
	at := slices.IndexFunc(portableNames, func(p PortableName) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &portableNames[at]
}

// A PortableLink (x:portable) tells what a portable name sets in a definition.
type PortableLink struct {
	Position
	Name      string
	Attribute string            // what gets the value; empty for a name that sets nothing
	As        string            // the unit or form that the value is converted to; empty for the plain one
	Text      string            // what the attribute gets, with {} for the value
	Separator string            // between the parts of a list
	Words     map[string]string // the definition's words for those of users
	When      string            // of after: ok or any
	Per       []string          // counts that the value is divided by, before it is
	Times     []string          // multiplied by these
	With      []string          // names that have to be given, and
	Unless    []string          // names that must not be given, for the link to count; NAME=COUNT is a count that was given so
	Excludes  []string          // attributes that say the same in another way
	Most      int               // the highest count; 0 for any
	Note      string            // why there is no effect
	Refused   string            // why this cannot be asked for, and what to do
}

// PortableLinks returns the links of a portable name, in document order.
func (d *Definition) PortableLinks(name string) []*PortableLink {
	var links []*PortableLink
	for _, link := range d.Portable {
		if link.Name == name {
			links = append(links, link)
		}
	}
	return links
}

// wholePart stands for the whole value in the text of a link.
const wholePart = "{}"

// partsOf are what the text of a link may hold, by the kind of the name.
var partsOf = map[portableKind][]string{
	portableArray: {wholePart, "{ranges}", "{limit}"},
	portableMail:  {"{events}", "{address}"},
}

func (k portableKind) parts() []string {
	if parts, ok := partsOf[k]; ok {
		return parts
	}
	return []string{wholePart}
}

// unitsOf are what values can be converted to, by the kind of the name; without
// one a time is in seconds and a memory in bytes.
var unitsOf = map[portableKind][]string{
	portableTime:   {"s", "min", "h", "h:mm", "h:mm:ss", "d-hh:mm:ss"},
	portableMemory: {"B", "KiB", "MiB", "GiB", "kB", "MB", "GB"},
	portablePath:   {absolutePath},
}

const absolutePath = "absolute"

// portableLink reads an x:portable; the schema reports names and units that are none.
func (l *loader) portableLink(e tree.Element) *PortableLink {
	link := &PortableLink{
		Position: e.Position(), Name: e.Value("name"), Attribute: e.Value("attribute"), As: e.Value("as"), Text: e.Value("text"),
		Separator: ",", Words: map[string]string{}, When: e.Value("when"), Note: e.Value("note"), Refused: e.Value("refused"), Most: e.Integer("most", 0),
		Per: strings.Fields(e.Value("per")), Times: strings.Fields(e.Value("times")),
		With: strings.Fields(e.Value("with")), Unless: strings.Fields(e.Value("unless")), Excludes: strings.Fields(e.Value("excludes")),
	}
	if link.Text == "" {
		link.Text = wholePart
	}
	if link.When == "" {
		link.When = conditionOK
	}
	if separator := e.Optional("separator"); separator.Set {
		link.Separator = separator.Text
	}
	for _, pair := range strings.Fields(e.Value("words")) {
		word, text, _ := strings.Cut(pair, "=")
		link.Words[word] = text
	}
	return link
}

// checkPortable reports links that lead nowhere, or that cannot convert what they
// are for.
func (c *checker) checkPortable() {
	for _, child := range c.root.Children {
		for _, inner := range child.Children {
			if e := (c.root.Of(inner)); child.Name == "control-data" && e.IsExtension("portable") {
				c.checkPortableLink(e, c.portableLink(e))
			}
		}
	}
}

func (c *checker) checkPortableLink(e tree.Element, link *PortableLink) {
	name := portableNameOf(link.Name)
	if name == nil {
		return // reported by the schema
	}
	c.checkPortableEffect(e, link)
	c.checkPortableOptions(e, link, name)
	c.checkPortableText(e, link, name)
	if link.Attribute != "" {
		c.checkPortableAttributes(e, "attribute", link.Attribute)
	}
	c.checkPortableAttributes(e, "excludes", link.Excludes...)
	for _, where := range []struct {
		attribute string
		names     []string
	}{{"with", link.With}, {"unless", link.Unless}} {
		c.checkPortableAttributes(e, where.attribute, slices.DeleteFunc(slices.Clone(where.names), isPortableCondition)...)
	}
}

func (c *checker) invalidPortableLink(e tree.Element, attribute, format string, arguments ...any) {
	c.report(e.ValuePosition(attribute), Error, "invalid-portable-link", fmt.Sprintf(format, arguments...), "")
}

// checkPortableEffect reports a link that does nothing, or says that it does two things.
func (c *checker) checkPortableEffect(e tree.Element, link *PortableLink) {
	switch {
	case link.Attribute == "" && link.Note == "" && link.Refused == "" && link.Most == 0:
		c.invalidPortableLink(e, "name", "the link of %q sets no attribute, and says neither in a note why nor the most that is possible", link.Name)
	case link.Attribute != "" && link.Note != "":
		c.invalidPortableLink(e, "note", "a note tells that %q has no effect, but it sets %q", link.Name, link.Attribute)
	case link.Refused != "" && (link.Attribute != "" || link.Note != "" || link.Most != 0):
		c.invalidPortableLink(e, "refused", "the link tells why %q cannot be asked for, and what it does", link.Name)
	}
}

// checkPortableOptions reports a unit or another option that values of the name do not
// have.
func (c *checker) checkPortableOptions(e tree.Element, link *PortableLink, name *PortableName) {
	isUnit := slices.ContainsFunc([]portableKind{portableTime, portableMemory, portablePath}, func(kind portableKind) bool { return slices.Contains(unitsOf[kind], link.As) })
	if isUnit && !slices.Contains(unitsOf[name.kind], link.As) {
		c.invalidPortableLink(e, "as", "%q cannot be converted to %q%s", link.Name, link.As, oneOf(unitsOf[name.kind]))
	}
	for _, only := range []struct {
		attribute string
		kinds     []portableKind
	}{
		{"most", []portableKind{portableCount}},
		{"per", []portableKind{portableCount, portableMemory}},
		{"times", []portableKind{portableCount, portableMemory}},
		{"words", []portableKind{portablePath, portableMail}},
		{"when", []portableKind{portableAfter}},
		{"separator", []portableKind{portableAfter, portableMail}},
	} {
		if e.Optional(only.attribute).Set && !slices.Contains(only.kinds, name.kind) {
			c.invalidPortableLink(e, only.attribute, "%q has no meaning for %q", only.attribute, link.Name)
		}
	}
}

// isPortableCondition reports whether a word of with or unless is a portable name,
// or NAME=COUNT of one that is a count. What else it is has to be an attribute.
func isPortableCondition(word string) bool {
	of, count, hasCount := strings.Cut(word, "=")
	name := portableNameOf(of)
	if name == nil || !hasCount {
		return name != nil
	}
	number, err := strconv.ParseInt(count, 10, 64)
	return name.kind == portableCount && err == nil && number > 0
}

func oneOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return "; it is one of " + strings.Join(texts, ", ")
}

// checkPortableText reports parts in the text of a link that its name does not have.
func (c *checker) checkPortableText(e tree.Element, link *PortableLink, name *PortableName) {
	text := link.Text
	if !e.Optional("text").Set {
		if link.Attribute != "" && !slices.Contains(name.kind.parts(), wholePart) {
			c.report(e.ValuePosition("name"), Error, "invalid-portable-link",
				fmt.Sprintf("the link of %q does not say which part of it %q gets", link.Name, link.Attribute), `text="`+name.kind.parts()[0]+`"`)
		}
		return
	}
	for _, part := range []string{wholePart, "{ranges}", "{limit}", "{events}", "{address}"} {
		if at := strings.Index(text, part); at >= 0 && !slices.Contains(name.kind.parts(), part) {
			c.report(e.ValueWithin("text", at), Error, "invalid-portable-link",
				fmt.Sprintf("%q has no part %s%s", link.Name, part, oneOf(name.kind.parts())), "")
		}
	}
}

// checkPortableAttributes reports names in a link that no attribute has.
func (c *checker) checkPortableAttributes(e tree.Element, where string, names ...string) {
	for _, name := range names {
		c.use(name, usedElsewhere)
		if _, defined := c.names.defined[name]; !defined {
			at := strings.Index(e.Value(where), name)
			c.reportName(e.ValueWithin(where, max(at, 0)), Error, "invalid-portable-link",
				fmt.Sprintf("the definition has no attribute %q to link %q to", name, e.Value("name")), name, c.names.candidates)
		}
	}
}
