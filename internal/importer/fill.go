package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A filling adds parts of a shipped definition to a document that describes the
// same scheduler.
type filling struct {
	*importing
	from    *shipped
	to      *document
	defined map[string]bool // attributes of the document and its bases
	parts   []string        // of control-data, in order
	readers []string        // that are among the parts
	names   []string        // attributes that the parts need and the document lacks
}

// copyExtensions adds the extensions of a name, notes the attributes that they refer to, and
// reports whether there are any.
func (f *filling) copyExtensions(parent *xmltree.Element, name string) (found bool) {
	for _, e := range parent.Children {
		if !e.IsExtension(name) {
			continue
		}
		found = true
		text := e.Source()
		f.need(text)
		f.needReaders(text)
		if parent == f.from.monitor {
			fmt.Fprintf(&f.to.monitor, "    %s\n", text)
		} else {
			f.parts = append(f.parts, text)
		}
	}
	return found
}

// needReaders adds the readers that a text uses, and what all readers need.
func (f *filling) needReaders(text string) {
	for _, match := range readerNamed.FindAllStringSubmatch(text, -1) {
		name := match[1] + match[2]
		if slices.Contains(f.readers, name) {
			continue
		}
		if len(f.readers) == 0 {
			f.readers = append(f.readers, "")
			f.copyExtensions(f.from.control, "ids")
			f.copyExtensions(f.from.control, "environment")
		}
		f.readers = append(f.readers, name)
		for _, e := range f.from.control.Children {
			if e.IsExtension("reader") && e.Value("name") == name {
				f.needReaders(e.Source())
				f.need(e.Source())
				f.parts = append(f.parts, e.Source())
			}
		}
	}
}

var (
	readerNamed = lazyregexp.New(`<x:read [^>]*reader="([^"]+)"|<x:reader [^>]*extends="([^"]+)"`)
	referenced  = lazyregexp.New(`\$\{ptp_rm:([^#{}$]+)#`)
	named       = lazyregexp.New(`<target ref="([^"$]+)"|<arg[^>]* attribute="([^"$]+)"|<link-value-to>([^<]+)<`)
)

// need notes the attributes that a text refers to, and those that these refer to.
func (f *filling) need(text string) {
	found := append(referenced.FindAllStringSubmatch(text, -1), named.FindAllStringSubmatch(text, -1)...)
	for _, match := range found {
		name := strings.Join(match[1:], "")
		if f.defined[name] || f.from.attribute(name) == nil {
			continue
		}
		f.defined[name] = true
		f.names = append(f.names, name)
		if f.isOwn(name) {
			continue
		}
		f.need(f.from.attribute(name).Source())
	}
}

// isOwn reports whether an attribute is one that users of the shipped definition
// set: in the document it has no value.
func (f *filling) isOwn(name string) bool {
	a := f.from.definition.Attribute(name)
	return a == nil || a.Visible()
}

// finish writes the attributes and then what needs them, elements of the format
// before those of ours.
func (f *filling) finish() {
	for _, name := range f.names {
		text := f.from.attribute(name).Source()
		if f.isOwn(name) {
			text = fmt.Sprintf(`<attribute name="%s" visible="false"/>`, xmltree.Escape(name))
		}
		fmt.Fprintf(&f.to.control, "    %s\n", text)
	}
	for _, isOurs := range []bool{false, true} {
		for _, part := range f.parts {
			if strings.HasPrefix(part, "<x:") == isOurs {
				fmt.Fprintf(&f.to.control, "    %s\n", part)
			}
		}
	}
}

// extras adds listings, outcomes and probes. A document keeps its own ones.
func (f *filling) extras(has func(name string) bool) {
	for _, extra := range []struct {
		name, subject string
		parent        *xmltree.Element
	}{
		{"outcome", "x:outcome, the meaning of failures", f.from.control},
		{"probe", "x:probe, the checks of rmctl doctor", f.from.control},
		{"on-nodes", "x:on-nodes, processes on nodes of jobs", f.from.control},
		{"list-jobs", "x:list-jobs, all jobs with one command", f.from.monitor},
		{"list-ended", "x:list-ended, jobs missing from the listing", f.from.monitor},
		{"list-nodes", "x:list-nodes", f.from.monitor},
		{"list-queues", "x:list-queues", f.from.monitor},
	} {
		if !has(extra.name) && f.copyExtensions(extra.parent, extra.name) {
			f.remark(added, 0, 0, extra.subject, "as in %s", f.from.name)
		}
	}
}

// findJob adds the commands that look up submissions, if jobs carry the text to look for.
func (f *filling) findJob(submit *config.Command, script *config.Script, line int) {
	const subject = "x:find-job"
	model := f.from.definition.Command(config.FindJob)
	own := f.from.definition.Submit(false)
	switch {
	case model == nil:
	case slices.Contains(own.Attributes(), "job.tag"):
		f.remark(Lost, line, 1, subject, "%s finds submissions by their tag; pass ${ptp_rm:job.tag#value} as %s does", f.from.name, f.from.name)
	case submit == nil || submit.Element != config.SubmitBatch || program(submit) != program(own):
		f.remark(Lost, line, 1, subject, "%s finds the submissions of %s", f.from.name, program(own))
	case !slices.Contains(submit.Attributes(), "managed_file_for_script"):
		f.remark(Lost, line, 1, subject, "%s finds submissions by the staged script, which this definition does not submit", f.from.name)
	case script == nil || script.StagingLocation.Set && !isAbsolute(script.StagingLocation.Text):
		f.remark(Lost, line, 1, subject, "%s finds scripts by their absolute path, which this file-staging-location may not have", f.from.name)
	default:
		f.copyExtensions(f.from.control, string(config.FindJob))
		f.remark(added, 0, 0, subject, "as in %s", f.from.name)
	}
}

// isAbsolute reports whether a location begins at the root, or with the directory
// of the job, which does.
func isAbsolute(location string) bool {
	location = strings.TrimSpace(location)
	return strings.HasPrefix(location, "/") || strings.HasPrefix(location, "${ptp_rm:directory#value}") || strings.HasPrefix(location, "${ptp_rm:ptpDirectory#value}")
}

// program returns the first word of a command, without its folder.
func program(c *config.Command) string {
	for _, argument := range c.Arguments {
		if words := strings.Fields(argument.Text); len(words) > 0 {
			return words[0][strings.LastIndexAny(words[0], "/}")+1:]
		}
	}
	return ""
}
