package portablename

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/wording"
)

// A Setting is what a link makes of a request.
type Setting struct {
	Link  *config.PortableLink
	Value string   // for the link's attribute, as its users write it
	Names []string // the portable names that the value comes of, that of the link first
}

// An Error says why a portable name cannot be used as it was.
type Error struct {
	Name   string
	Reason string
}

// Error names the portable name and what is wrong with it.
func (e *Error) Error() string { return fmt.Sprintf("%q: %s", e.Name, e.Reason) }

// A Request is what a user requests by portable names.
type Request struct {
	Values    map[string]Value
	IsGiven   func(attribute string) bool // whether an attribute of the definition has a value of its own
	Directory string                      // of the job; empty where it is not known
}

// Translate returns what a request sets in the definition, in the order of
// the links, and notes on what has no effect. Whatever the definition cannot do is
// an error, a *Error for each name: nothing that was requested is dropped.
func Translate(d *config.Definition, r Request) (settings []Setting, notes []string, problems []error) {
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(_ string, value Value) bool { return value.isOff() })
	t := translation{definition: d, request: r}
	if r.overfull() {
		t.refuse("tasks", "%d tasks do not fit on %d nodes with %d tasks each", r.Values["tasks"].amount, r.Values["nodes"].amount, r.Values["tasksPerNode"].amount)
	}
	for _, name := range names {
		if value, isGiven := r.Values[name.Name]; isGiven {
			t.translate(name.Name, value)
		}
	}
	return t.settings, t.notes, t.problems
}

// A translation collects what becomes of a request.
type translation struct {
	definition *config.Definition
	request    Request
	settings   []Setting
	notes      []string
	problems   []error
}

// subject names the definition in messages.
func (t *translation) subject() string {
	return wording.Subject(t.definition.Name, t.definition.File, t.definition.Monitor.SchedulerType)
}

func (t *translation) refuse(name, format string, arguments ...any) {
	t.problems = append(t.problems, &Error{name, fmt.Sprintf(format, arguments...)})
}

// translate applies the links of a name to its value. It refuses the value if no link
// uses all of it.
func (t *translation) translate(name string, value Value) {
	links := t.definition.PortableLinks(name)
	if len(links) == 0 && !isUsed(t.definition, t.request, name, nil) {
		t.refuse(name, "%s does not support it", t.subject())
		return
	}
	used := map[string]bool{} // the parts of the value that reach the scheduler
	before := len(t.problems)
	for _, link := range links {
		if t.request.counts(link, value) {
			t.apply(link, value, used)
		}
	}
	if len(t.problems) > before || isUsed(t.definition, t.request, name, used) {
		return
	}
	if unused := value.unused(used); unused != "" {
		t.refuse(name, "%s cannot express %s", t.subject(), unused)
	}
}

// apply adds what a link makes of a value, and notes which parts of it are used.
func (t *translation) apply(link *config.PortableLink, value Value, used map[string]bool) {
	switch {
	case link.Most > 0 && value.amount > int64(link.Most):
		t.refuse(link.Name, "%s supports at most %d", t.subject(), link.Most)
		return
	case link.Refused != "":
		t.refuse(link.Name, "%s cannot express this: %s", t.subject(), link.Refused)
		return
	case link.Attribute == "":
		used[wholePart] = true
		if link.Note != "" {
			t.notes = append(t.notes, fmt.Sprintf("%s has no effect: %s", link.Name, link.Note))
		}
		return
	}
	text, err := t.request.translated(link, value, used)
	if err != nil {
		t.refuse(link.Name, "%v", err)
	} else if text != "" {
		t.settings = append(t.settings, Setting{link, text, t.request.sources(link)})
	}
}

func (r Request) overfull() bool {
	tasks, nodes, each := r.Values["tasks"], r.Values["nodes"], r.Values["tasksPerNode"]
	return tasks.amount > 0 && nodes.amount > 0 && each.amount > 0 && tasks.amount > nodes.amount*each.amount
}

// has reports whether a name was given, or a count as NAME=COUNT says.
func (r Request) has(word string) bool {
	name, count, hasCount := strings.Cut(word, "=")
	if Lookup(name) != nil {
		value, isSet := r.Values[name]
		return isSet && (!hasCount || count == strconv.FormatInt(value.amount, 10))
	}
	return r.IsGiven != nil && r.IsGiven(word)
}

// counts reports whether a link is one for the request.
func (r Request) counts(link *config.PortableLink, value Value) bool {
	if value.name.kind == kindAfter && link.When != value.condition {
		return false
	}
	lacks := func(name string) bool { return !r.has(name) }
	return !slices.ContainsFunc(link.With, lacks) && !slices.ContainsFunc(link.Unless, r.has)
}

// sources returns the portable names that a link's value comes of.
func (r Request) sources(link *config.PortableLink) []string {
	names := []string{link.Name}
	for _, word := range slices.Concat(link.Per, link.Times, link.With) {
		name, _, _ := strings.Cut(word, "=")
		if _, isSet := r.Values[name]; isSet && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// isUsed reports whether a count, though it sets nothing itself, is part of what
// another name sets.
func isUsed(d *config.Definition, r Request, name string, used map[string]bool) bool {
	if used[wholePart] {
		return true
	}
	return slices.ContainsFunc(d.Portable, func(link *config.PortableLink) bool {
		value, isSet := r.Values[link.Name]
		return isSet && link.Attribute != "" && r.counts(link, value) && (slices.Contains(link.Per, name) || slices.Contains(link.Times, name))
	})
}

// unused names what of a value no link has used, empty for nothing.
func (v Value) unused(used map[string]bool) string {
	switch v.name.kind {
	case kindArray:
		if used["{ranges}"] && v.limit != "" && !used["{limit}"] {
			return "how many jobs of an array run at a time"
		}
		if used["{ranges}"] {
			return ""
		}
	case kindMail:
		if len(v.list) > 0 && !used["{events}"] {
			return "when to send mail"
		}
		if v.address != "" && !used["{address}"] {
			return "whom to send mail to"
		}
		return ""
	case kindAfter:
		if v.condition == conditionOK {
			return "that jobs must succeed first, only that they must end: prefix the ids with any:"
		}
		return "that jobs must end first, successfully or not"
	}
	return "this combination of attributes"
}

// translated returns what a link makes of a value, empty where the part that it is
// for was not given, and notes which parts it has used.
func (r Request) translated(link *config.PortableLink, v Value, used map[string]bool) (string, error) {
	parts, err := r.parts(link, v)
	if err != nil {
		return "", err
	}
	named := slices.DeleteFunc(slices.Clone(v.name.Parts()), func(part string) bool { return !strings.Contains(link.Text, part) })
	if slices.ContainsFunc(named, func(part string) bool { return parts[part] == "" }) {
		return "", nil
	}
	var values []string
	for _, part := range named {
		used[part] = true
		values = append(values, part, parts[part])
	}
	if len(named) == 0 {
		used[wholePart] = true // a text that says it all
	}
	return strings.NewReplacer(values...).Replace(link.Text), nil
}

// parts returns the texts of the parts of a value that a link may take.
func (r Request) parts(link *config.PortableLink, v Value) (map[string]string, error) {
	switch v.name.kind {
	case kindCount, kindMemory, kindTime:
		text, err := r.amount(link, v)
		return map[string]string{wholePart: text}, err
	case kindPath:
		text, err := r.pathFor(link, v)
		return map[string]string{wholePart: text}, err
	case kindArray:
		whole := v.text
		if v.limit != "" {
			whole += "%" + v.limit
		}
		return map[string]string{wholePart: whole, "{ranges}": v.text, "{limit}": v.limit}, nil
	case kindAfter:
		return map[string]string{wholePart: strings.Join(v.list, link.Separator)}, nil
	case kindMail:
		events := make([]string, 0, len(v.list))
		for _, event := range v.list {
			word, known := link.Words[event]
			if !known && strings.Contains(link.Text, "{events}") {
				return nil, fmt.Errorf("mail at %q is not supported", event)
			}
			events = append(events, word)
		}
		return map[string]string{"{events}": strings.Join(events, link.Separator), "{address}": v.address}, nil
	}
	return map[string]string{wholePart: v.text}, nil
}

func dividedUp(a, b int64) int64 { return (a + b - 1) / b }

// amount divides, multiplies and converts, rounding up each time.
func (r Request) amount(link *config.PortableLink, v Value) (string, error) {
	amount := v.amount
	for _, name := range link.Per {
		if by, isSet := r.Values[name]; isSet {
			amount = dividedUp(amount, by.amount)
		}
	}
	for _, name := range link.Times {
		by, isSet := r.Values[name]
		if isSet && amount > maxMemory/by.amount {
			return "", fmt.Errorf("%d times %d %s is too much", amount, by.amount, name)
		}
		if isSet {
			amount *= by.amount
		}
	}
	return inUnit(amount, link.As), nil
}

// inUnit writes seconds or bytes in a unit of a link.
func inUnit(amount int64, unit string) string {
	switch unit {
	case "min":
		return strconv.FormatInt(dividedUp(amount, 60), 10)
	case "h":
		return strconv.FormatInt(dividedUp(amount, 3600), 10)
	case "h:mm":
		minutes := dividedUp(amount, 60)
		return fmt.Sprintf("%d:%02d", minutes/60, minutes%60)
	case "h:mm:ss":
		return fmt.Sprintf("%d:%02d:%02d", amount/3600, amount/60%60, amount%60)
	case "d-hh:mm:ss":
		return fmt.Sprintf("%d-%02d:%02d:%02d", amount/86400, amount/3600%24, amount/60%60, amount%60)
	}
	if bytes, ok := memoryUnits()[unit]; ok {
		amount = dividedUp(amount, bytes)
	}
	return strconv.FormatInt(amount, 10)
}

// pathFor writes a path with the definition's words for the id and the index.
func (r Request) pathFor(link *config.PortableLink, v Value) (string, error) {
	text := v.text
	for _, word := range []string{"%j", "%a"} {
		if !strings.Contains(v.text, word) {
			continue
		}
		if _, known := link.Words[word]; !known {
			return "", fmt.Errorf("file names cannot contain %s", word)
		}
	}
	text = placeholder.ReplaceAllStringFunc(text, func(word string) string { return link.Words[word] })
	if link.As == absolutePath && !path.IsAbs(text) {
		if r.Directory == "" {
			return "", fmt.Errorf("the path must be absolute: the directory of the job is unknown")
		}
		text = path.Join(r.Directory, text)
	}
	return text, nil
}
