package describe

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/tui"
)

// A portableDescription describes a portable name in a definition.
type portableDescription struct {
	Name    string                    `json:"name"`
	Meaning string                    `json:"meaning"`
	Syntax  string                    `json:"syntax"`
	Links   []portableLinkDescription `json:"links"`
}

type portableLinkDescription struct {
	Attribute string   `json:"attribute,omitempty"`
	As        string   `json:"as,omitempty"`
	Text      string   `json:"text,omitempty"` // text for the attribute, with {} for the value; empty for the value alone
	When      string   `json:"when,omitempty"`
	Per       []string `json:"per,omitempty"`
	Times     []string `json:"times,omitempty"`
	With      []string `json:"with,omitempty"`
	Unless    []string `json:"unless,omitempty"`
	Excludes  []string `json:"excludes,omitempty"`
	Most      int      `json:"most,omitempty"`
	Note      string   `json:"note,omitempty"`
	Refused   string   `json:"refused,omitempty"`
	Position  string   `json:"position"`
}

// describePortable returns the portable names with links.
func describePortable(d *config.Definition) []portableDescription {
	var described []portableDescription
	for _, name := range portablename.Names() {
		one := portableDescription{Name: name.Name, Meaning: name.Meaning, Syntax: name.Syntax}
		for _, link := range d.PortableLinks(name.Name) {
			shown := portableLinkDescription{
				Attribute: link.Attribute, As: link.As, Per: link.Per, Times: link.Times, With: link.With, Unless: link.Unless,
				Excludes: link.Excludes, Most: link.Most, Note: link.Note, Refused: link.Refused, Position: link.Position.String(),
			}
			if link.Text != "{}" {
				shown.Text = link.Text
			}
			if link.Name == "after" {
				shown.When = link.When
			}
			one.Links = append(one.Links, shown)
		}
		if len(one.Links) > 0 {
			described = append(described, one)
		}
	}
	return described
}

// Effect describes a link in words.
func (l portableLinkDescription) Effect() string {
	var facts []string
	if l.Attribute != "" {
		set := "sets " + l.Attribute
		if l.Text != "" {
			set += " to " + l.Text
		}
		if l.As != "" {
			set += " as " + l.As
		}
		facts = append(facts, set)
	}
	for _, list := range []struct {
		word  string
		names []string
	}{{"divided by", l.Per}, {"times", l.Times}, {"with", l.With}, {"unless", l.Unless}, {"excludes", l.Excludes}} {
		if len(list.names) > 0 {
			facts = append(facts, list.word+" "+strings.Join(list.names, ", "))
		}
	}
	if l.When == "any" {
		facts = append(facts, "for any:")
	}
	if l.Most > 0 {
		facts = append(facts, fmt.Sprintf("at most %d", l.Most))
	}
	if l.Note != "" {
		facts = append(facts, "no effect: "+l.Note)
	}
	if l.Refused != "" {
		facts = append(facts, "refused: "+l.Refused)
	}
	return tui.OneLine(strings.Join(facts, "; "))
}

// writePortable lists the portable names, with everything also their links.
func (d Description) writePortable(text *strings.Builder, everything bool) {
	if len(d.Portable) > 0 {
		text.WriteString("\nPortable names, also set with -s name=value:\n")
	}
	for _, name := range d.Portable {
		var sets []string
		for _, link := range name.Links {
			if everything || link.Attribute == "" {
				sets = append(sets, link.Effect())
			}
		}
		line := fmt.Sprintf("  %-22s %s: %s", name.Name, name.Meaning, name.Syntax)
		if len(sets) > 0 && !everything {
			line += " (" + strings.Join(sets, "; ") + ")"
		}
		text.WriteString(line + "\n")
		if everything {
			for _, effect := range sets {
				fmt.Fprintf(text, "    %s\n", effect)
			}
		}
	}
}
