package submission

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// optionsOf returns the values that the option lines of a user's own script give attributes,
// in the order of the script. Without a readable script the list is empty.
func (r *Resolver) optionsOf(script string) []job.Assignment {
	if script == "" || r.Definition.Script == nil || r.Definition.Script.OptionPrefix == "" {
		return nil
	}
	content, err := readLocal(script)
	if err != nil {
		return nil // a submission reports it
	}
	var values []job.Assignment
	for line := range strings.Lines(content) {
		if options, isOption := strings.CutPrefix(line, strings.TrimSpace(r.Definition.Script.OptionPrefix)); isOption {
			values = append(values, optionsIn(attribute.Words(options), r.Definition.Attributes)...)
		}
	}
	return values
}

// optionsIn returns the values of the options among the words of a line. A word that begins
// with # begins a comment.
func optionsIn(words []string, attributes []*config.Attribute) []job.Assignment {
	if comment := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "#") }); comment >= 0 {
		words = words[:comment]
	}
	var values []job.Assignment
	for len(words) > 0 {
		used := 1
		for _, each := range attributes {
			if value, count := optionAt(words, each); count > 0 {
				values = append(values, job.Assignment{Name: each.Name(), Value: value})
				used = count
				break
			}
		}
		words = words[used:]
	}
	return values
}

// optionAt returns the value of the option of an attribute that words begin with, and how
// many words that are; 0 if they begin with another one. The value is "true" for a switch,
// the rest of the last word of the option, or the next word: --mem=4G, --mem 4G, -q short. An
// option that begins with -- takes either form, however it is defined.
func optionAt(words []string, of *config.Attribute) (value string, count int) {
	parts := strings.Fields(of.Option.Text)
	count = len(parts)
	if count == 0 || len(words) < count || !slices.Equal(words[:count-1], parts[:count-1]) {
		return "", 0
	}
	last, word := parts[count-1], words[count-1]
	switch rest, isPrefix := strings.CutPrefix(word, last); {
	case of.Text(attribute.FieldType) == "boolean" && word == last:
		return "true", count
	case isPrefix && rest != "" && strings.HasSuffix(last, "="):
		return rest, count
	case isPrefix && strings.HasPrefix(last, "--") && strings.HasPrefix(rest, "="):
		return rest[1:], count
	case word == strings.TrimSuffix(last, "=") && len(words) > count:
		return words[count], count + 1
	}
	return "", 0
}

// noteOwnScript notes the portable names of the caller that only the script of the
// definition makes use of: the user's own script takes its place.
func (a *assignment) noteOwnScript() {
	reached := reachedWithoutScript(a.resolver.Definition)
	for _, name := range slices.Sorted(maps.Keys(a.portable.values)) {
		links := slices.DeleteFunc(slices.Clone(a.resolver.Definition.PortableLinks(name)), func(link *config.PortableLink) bool { return link.Attribute == "" })
		isReached := func(link *config.PortableLink) bool { return reached[link.Attribute] }
		if a.portable.source[name] > 0 && len(links) > 0 && !slices.ContainsFunc(links, isReached) {
			a.notes = append(a.notes, name+" has no effect on your own script; set it there")
		}
	}
}

// reachedWithoutScript returns the attributes that the commands of a definition are made of,
// and where its output is, by way of others, too.
func reachedWithoutScript(d *config.Definition) map[string]bool {
	open := []string{AttributeStdoutPath, AttributeStderrPath}
	for _, command := range d.Commands {
		open = append(open, command.Attributes()...)
	}
	reached := map[string]bool{}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		found := d.Attribute(name)
		if found == nil || reached[name] {
			continue
		}
		reached[name] = true
		text, linked := found.Text(attribute.FieldDefault), found.Text(attribute.FieldLinkValueTo)
		for _, other := range d.Attributes {
			if other.Name() == linked || refersTo(text, other.Name()) {
				open = append(open, other.Name())
			}
		}
	}
	return reached
}

// refersTo reports whether a text refers to an attribute by name, or to a computed name that
// may be that attribute.
func refersTo(text, name string) bool {
	if strings.Contains(text, ":"+name+"#") {
		return true
	}
	group, _, isChosen := strings.Cut(name, ".")
	return isChosen && strings.Contains(text, ":"+group+".${")
}
