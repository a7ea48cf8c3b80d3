package coalloc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// maxLabel bounds labels, which become names of jobs and values of variables.
const maxLabel = 128

const zeroByte = "contains a NUL byte"

const noGateJoins = "a part without a barrier cannot exchange messages: other parts would wait for it\nset independent = true"

// Check returns all mistakes of a request that can be found without its targets. Requests that [ReadRequest]
// returns have none.
func (r *Request) Check() error {
	var problems []error
	if reason := oneLine(r.Name); reason != "" {
		problems = append(problems, fmt.Errorf("name: %s", reason))
	}
	if r.ID != "" && !isID(r.ID) {
		problems = append(problems, invalidID(r.ID))
	}
	labels := map[string]bool{}
	for i := range r.Parts {
		p := &r.Parts[i]
		if labels[p.Label] {
			problems = append(problems, fmt.Errorf("part %.200q: %w", p.Label, ErrDuplicateLabel))
		}
		labels[p.Label] = true
		problems = append(problems, p.Check())
	}
	names := map[string]bool{}
	for i, set := range r.Sets {
		name := setName(set, i)
		if names[name] {
			problems = append(problems, fmt.Errorf("set %.200q: two sets have this name", name))
		}
		names[name] = true
		problems = append(problems, checkSet(set, labels))
	}
	return errors.Join(problems...)
}

// setName returns the name of a set, or its number if it has none.
func setName(s Set, place int) string { return cmp.Or(s.Name, strconv.Itoa(place+1)) }

// checkSet refuses sets that no release could satisfy.
func checkSet(s Set, labels map[string]bool) error {
	if s.AtLeast < 1 || s.AtLeast > len(s.Labels) {
		return fmt.Errorf("set of %d parts: at least %d of them cannot check in", len(s.Labels), s.AtLeast)
	}
	if len(s.Name) > maxLabel || oneLine(s.Name) != "" {
		return fmt.Errorf("set %.200q: a name has one line of at most %d bytes", s.Name, maxLabel)
	}
	seen := map[string]bool{}
	for _, label := range s.Labels {
		switch {
		case !labels[label]:
			return fmt.Errorf("set: %w: %.200q", ErrUnknownPart, label)
		case seen[label]:
			return fmt.Errorf("set: it has part %.200q twice", label)
		}
		seen[label] = true
	}
	return nil
}

// Check returns all mistakes of a part that can be found without its target.
func (p *Part) Check() error {
	var problems []error
	refuse := func(reason string) { problems = append(problems, fmt.Errorf("part %.200q: %s", p.Label, reason)) }
	switch {
	case p.Target == "":
		refuse("it has no target")
	case p.Count < 1 || p.Count > 1<<30:
		refuse(fmt.Sprintf("invalid number of processes %d", p.Count))
	case !slices.Contains([]Kind{Required, Interactive, Optional}, p.Kind):
		refuse(fmt.Sprintf("unknown kind %.100q", string(p.Kind)))
	case !slices.Contains([]Gate{Held, Program, NoGate}, p.Gate):
		refuse(fmt.Sprintf("unknown barrier %.100q", string(p.Gate)))
	case !slices.Contains([]JobType{"", Multiple, Single, MPI}, p.JobType):
		refuse(fmt.Sprintf("unknown job type %.100q", string(p.JobType)))
	case p.Gate == NoGate && !p.Independent:
		refuse(noGateJoins)
	case p.Tag != "" && uuid.Validate(p.Tag) != nil:
		refuse(fmt.Sprintf("invalid tag %.100q: not a UUID", p.Tag))
	}
	p.check(func(_ string, _ int, reason string) { refuse(reason) })
	return errors.Join(problems...)
}

// check calls refuse for each invalid text of the part, with the key of the document and the index of the item.
func (p *Part) check(refuse refusal) {
	s := p.Submission
	oneLiners := []struct{ key, text string }{
		{keyTarget, p.Target}, {"executable", s.Executable}, {"directory", s.Directory}, {"script", s.Script}, {"tab", s.Tab}, {"rank_from", s.RankFrom},
	}
	for _, one := range oneLiners {
		refuse.unlessEmpty(one.key, 0, oneLine(one.text))
	}
	refuse.unlessEmpty("", 0, checkLabel(p.Label))
	p.checkProgram(refuse)
	for i, argument := range s.Arguments {
		refuse.unlessEmpty("arguments", i, severalLines(argument))
	}
	for _, value := range s.Values {
		if reason := cmp.Or(oneLine(value.Name), oneLine(value.Value)); reason != "" {
			refuse("attributes", 0, fmt.Sprintf("attribute %.100q: %s", value.Name, reason))
		}
	}
	for _, variable := range s.Environment.Variables {
		reason := severalLines(variable.Value)
		if variable.Name == "" || strings.ContainsAny(variable.Name, "=\x00\r\n") {
			reason = "not a name of a variable"
		}
		if reason != "" {
			refuse("environment", 0, fmt.Sprintf("variable %.100q: %s", variable.Name, reason))
		}
	}
}

func (p *Part) checkProgram(refuse refusal) {
	switch s := p.Submission; {
	case s.Executable == "" && s.Script == "" && p.Problem == "":
		refuse("executable", 0, fmt.Sprintf("part %.200q has no executable", p.Label))
	case s.Executable == "" && len(s.Arguments) > 0:
		refuse("arguments", 0, "arguments without an executable")
	case s.Script != "" && p.Gate == Held:
		refuse("script", 0, "rmctl cannot hold the program of your own script at the barrier\nadd barrier = \"program\" and call rmctl-node barrier in the script")
	}
}

// A refusal reports what is wrong with the value of a key, or with one of its items.
type refusal func(key string, item int, reason string)

func (r refusal) unlessEmpty(key string, item int, reason string) {
	if reason != "" {
		r(key, item, reason)
	}
}

func checkLabel(label string) string {
	switch {
	case label == "":
		return "a part has no label"
	case len(label) > maxLabel:
		return fmt.Sprintf("a label has at most %d bytes", maxLabel)
	case strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf("label %.200q has characters that cannot be printed", label)
	}
	return oneLine(label)
}

// directives begin lines of scripts that schedulers read as options.
var directives = []string{"#SBATCH", "#PBS", "#$", "#BSUB", "#COBALT", "#FLUX", "#flux:", "#PJM", "#OAR", "#@", "# @"}

// oneLine returns why a text cannot be a value on a line of a script, empty if it can.
func oneLine(text string) string {
	switch {
	case strings.ContainsRune(text, 0):
		return fmt.Sprintf("%.200q "+zeroByte, text)
	case strings.ContainsAny(text, "\r\n\v\f\u0085\u2028\u2029"):
		return fmt.Sprintf("%.200q has more than one line", text)
	case !utf8.ValidString(text):
		return fmt.Sprintf("%.200q is not UTF-8", text)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }):
		return fmt.Sprintf("%.200q has control characters", text)
	case isDirective(text):
		return fmt.Sprintf("%.200q begins as an option for a scheduler", text)
	}
	return ""
}

// severalLines returns why a text cannot be an argument or the value of a variable. Such texts are quoted, but a
// scheduler reads options in a script from the beginning of any line.
func severalLines(text string) string {
	if strings.ContainsRune(text, 0) {
		return fmt.Sprintf("%.200q "+zeroByte, text)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	if slices.ContainsFunc(lines[1:], isDirective) {
		return fmt.Sprintf("%.200q has a line that begins as an option for a scheduler", text)
	}
	return ""
}

func isDirective(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return slices.ContainsFunc(directives, func(prefix string) bool {
		return len(line) >= len(prefix) && strings.EqualFold(line[:len(prefix)], prefix)
	})
}
