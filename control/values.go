package control

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
)

// An Assignment gives an attribute a value. Several for one attribute make a
// list where the attribute holds one; otherwise the last counts.
type Assignment struct {
	Name, Value string
}

// A Submission is what a user wants to run.
type Submission struct {
	Executable string
	Arguments  []string
	Values     []Assignment
	Launch     command.Launch
	Directory  string // where the program runs; empty for the connection's own
	ScriptFile string // a local file to submit instead of the definition's script
	Tab        string // the title of the form's tab whose controls count; empty for the usual one
	Debug      bool
}

// A ValueError tells which attribute could not be given a value.
type ValueError struct {
	Attribute string
	Reason    string
	Help      string
}

func (e *ValueError) Error() string {
	text := fmt.Sprintf("attribute %q: %s", e.Attribute, e.Reason)
	if e.Help != "" {
		text += "\n" + e.Help
	}
	return text
}

// fill gives the environment the values of a submission, in the order of the
// reference: the caller's values, nothing for visible attributes that no
// control of the form sets, links, and what the engine knows.
func (c *Controller) fill(env *attribute.Environment, s Submission, stat attribute.Stat) error {
	given, err := c.assign(env, s.Values, stat)
	if err != nil {
		return err
	}
	if err := c.applyForm(env, s, given); err != nil {
		return err
	}
	c.setLaunch(env, s)
	if err := env.ResolveLinks(given); err != nil {
		return err
	}
	return nil
}

func (c *Controller) assign(env *attribute.Environment, values []Assignment, stat attribute.Stat) (map[string]bool, error) {
	given := map[string]bool{}
	var problems []error
	// A list of the caller's replaces one of the target, so each begins anew.
	for _, source := range [][]Assignment{c.defaults, values} {
		again := map[string]bool{}
		for _, value := range source {
			if err := c.assignOne(env, value, again[value.Name], stat); err != nil {
				problems = append(problems, err)
			}
			again[value.Name], given[value.Name] = true, true
		}
	}
	return given, errors.Join(problems...)
}

func (c *Controller) assignOne(env *attribute.Environment, value Assignment, again bool, stat attribute.Stat) error {
	a := env.Lookup(value.Name)
	switch {
	case isEngineAttribute(value.Name):
		return &ValueError{value.Name, "it is set by rmctl itself", ""}
	case a == nil && isDebuggerAttribute(value.Name):
		env.SetVariable(value.Name, value.Value)
		return nil
	case a == nil:
		return &ValueError{value.Name, fmt.Sprintf("definition %q has no such attribute", c.definition.Name), c.similar(env, value.Name)}
	case a.ReadOnly():
		return &ValueError{value.Name, "it is read-only", ""}
	}
	converted, err := accepted(a, value.Value)
	if err != nil {
		return err
	}
	if err := a.Check(converted, stat); err != nil {
		return err
	}
	if list, isList := a.Value().([]string); isList || strings.Contains(strings.ToLower(a.Text(attribute.FieldType)), "list") {
		if !again {
			list = nil
		}
		a.SetValue(append(slices.Clone(list), attribute.Text(converted)))
		return nil
	}
	a.SetValue(converted)
	return nil
}

// accepted converts a text as the control of a form would that edits the attribute.
func accepted(a *attribute.Attribute, text string) (attribute.Value, error) {
	refuse := func(reason string) error {
		return &attribute.InvalidError{Attribute: a.Name(), Value: text, Reason: reason}
	}
	kind := strings.ToLower(a.Text(attribute.FieldType))
	on, off, translated := a.Translation()
	switch {
	case a.Field(attribute.FieldTranslateBooleanAs) != nil || strings.Contains(kind, "bool"):
		if translated && (text == on || text == off) {
			return text, nil
		}
		checked, ok := yes(text)
		switch {
		case !ok:
			return nil, refuse("it is a switch: give true or false")
		case translated && checked:
			return on, nil
		case translated:
			return off, nil
		}
		return checked, nil
	case a.Field(attribute.FieldChoice) != nil:
		return chosen(a, text, refuse)
	case strings.Contains(kind, "int") && text != "":
		return integer(a, text, refuse)
	}
	return text, nil
}

func yes(text string) (checked, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0", "":
		return false, true
	}
	return false, false
}

// chosen accepts an item of the attribute's choice, or what it is stored as.
func chosen(a *attribute.Attribute, text string, refuse func(string) error) (attribute.Value, error) {
	var names []string
	isStored := text == ""
	for _, item := range a.Items() {
		if strings.TrimSpace(item.Shown) == strings.TrimSpace(text) {
			return item.Stored, nil
		}
		isStored = isStored || item.Stored == text
		names = append(names, item.Shown)
	}
	if isStored {
		return text, nil
	}
	return nil, refuse("it is none of " + strings.Join(names, ", "))
}

func integer(a *attribute.Attribute, text string, refuse func(string) error) (attribute.Value, error) {
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return nil, refuse("it is not an integer")
	}
	if least, ok := a.Field(attribute.FieldMin).(int); ok && number < least {
		return nil, refuse(fmt.Sprintf("the smallest value is %d", least))
	}
	if most, ok := a.Field(attribute.FieldMax).(int); ok && number > most {
		return nil, refuse(fmt.Sprintf("the largest value is %d", most))
	}
	return number, nil
}

// setLaunch sets what the engine knows of the program. Arguments are quoted so
// that a line of a shell script and the splitting of command lines both give
// them back unchanged.
func (c *Controller) setLaunch(env *attribute.Environment, s Submission) {
	mode := "run"
	if s.Debug {
		mode = "debug"
	}
	env.SetVariable(attributeLaunchMode, mode)
	quoted := make([]string, 0, len(s.Arguments))
	for _, argument := range s.Arguments {
		quoted = append(quoted, quote(argument))
	}
	env.SetVariable(attributeArguments, strings.Join(quoted, " "))
	if s.Executable != "" {
		env.SetVariable(attributeExecutable, quote(s.Executable))
	}
	directory := s.Directory
	executableDir := directory
	if strings.Contains(s.Executable, "/") {
		executableDir = path.Dir(s.Executable)
		if !path.IsAbs(executableDir) && directory != "" {
			executableDir = path.Join(directory, executableDir)
		}
	}
	if directory == "" {
		directory = executableDir
	} else {
		env.SetVariable(attributeWorkingDir, directory)
	}
	setIfKnown(env, attributeExecutableName, jobName(s))
	setIfKnown(env, attributeExecutableDir, executableDir)
	setIfKnown(env, attributeDirectory, directory)
	setIfKnown(env, attributeScriptPath, s.ScriptFile)
}

// quote quotes a text for shells and for the splitting of command lines. What
// looks like a reference is taken apart, since values are resolved, too.
func quote(text string) string {
	return strings.ReplaceAll(shellescape.Quote(text), "${", "$''{")
}

// jobName returns the program's name, or the script's, as schedulers take it for
// a job: without characters that one of them refuses.
func jobName(s Submission) string {
	name := s.Executable
	if name == "" {
		name = s.ScriptFile
	}
	if name == "" {
		return ""
	}
	return plainName(path.Base(name))
}

// plainName replaces what a scheduler or a shell might take for something else.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, name)
}

func setIfKnown(env *attribute.Environment, name, value string) {
	if value != "" {
		env.SetVariable(name, value)
	}
}
