package config

import (
	"cmp"
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A PortableLink (x:portable) defines the effect of a portable name.
type PortableLink struct {
	Position
	Name      string
	Attribute string            // the attribute that gets the value; empty for a name without effect
	As        string            // the unit or form that the value is converted to; empty for the plain one
	Text      string            // the value of the attribute, with {} for the user's value
	Separator string            // between the parts of a list
	Words     map[string]string // translates the users' words into those of the definition
	When      string            // of after: ok or any
	Per       []string          // counts by which the value is divided first
	Times     []string          // multiplied by these
	With      []string          // names that have to be given, and
	Unless    []string          // names that must not be given, for the link to count; NAME=COUNT is a count that was given so
	Excludes  []string          // attributes with the same meaning
	Most      int               // the highest count; 0 for any
	Note      string            // why it has no effect
	Refused   string            // why this is unsupported, and what to do
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

// portableLink reads an x:portable; the schema reports unknown names and units.
func (l *loader) portableLink(e *xmltree.Element) *PortableLink {
	link := &PortableLink{
		Position: e.Position(), Name: e.Value("name"), Attribute: e.Value("attribute"), As: e.Value("as"), Text: cmp.Or(e.Value("text"), "{}"),
		Separator: ",", Words: map[string]string{}, When: cmp.Or(e.Value("when"), "ok"), Note: e.Value("note"), Refused: e.Value("refused"), Most: e.Integer("most", 0),
		Per: strings.Fields(e.Value("per")), Times: strings.Fields(e.Value("times")),
		With: strings.Fields(e.Value("with")), Unless: strings.Fields(e.Value("unless")), Excludes: strings.Fields(e.Value("excludes")),
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
