package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// Attributes returns the names of the attributes that what the command runs is
// made of, sorted; @jobId, the job at hand, may be among them. What only the
// values of these refer to is not.
func (c *Command) Attributes() []string {
	needed := needs{}
	needed.text(c.Directory)
	needed.arguments(c.Arguments)
	needed.arguments(c.Input)
	needed.text(c.InputFile)
	needed.text(c.Processes)
	for _, entry := range c.Environment {
		needed.text(entry.Value.Text)
		needed.arguments(entry.Arguments)
	}
	for _, mark := range c.ProcessMarks {
		needed.text(mark.Text)
		needed.text(mark.Shown)
	}
	for _, simple := range slices.Concat(c.PreLaunch, c.PostLaunch) {
		needed.text(simple.Exec)
		needed.text(simple.Directory)
	}
	return needed.names()
}

// Attributes returns the names of the attributes that the script is made of, sorted.
func (s *Script) Attributes() []string {
	needed := needs{}
	for _, line := range s.Lines {
		needed.arguments(line.Arguments)
	}
	return needed.names()
}

// needs are the names that texts refer to.
type needs map[string]bool

func (n needs) text(text string) {
	for _, r := range reference.Find(text) {
		if r.Prefix == reference.Prefix && !r.Nested && r.Name != "" {
			n[r.Name] = true
		}
	}
	if strings.Contains(text, attribute.JobPlaceholder) {
		n[attribute.JobPlaceholder] = true
	}
}

func (n needs) arguments(arguments []*Argument) {
	for _, argument := range arguments {
		if argument.Resolve {
			n.text(argument.Text)
		}
		if argument.Attribute.Text != "" {
			n[argument.Attribute.Text] = true
		}
	}
}

func (n needs) names() []string { return slices.Sorted(maps.Keys(n)) }
