package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// launchFile is a launch configuration as its file has it.
type launchFile struct {
	Target      string                     `toml:"target,omitempty"`
	Definition  string                     `toml:"definition,omitempty"`
	Tab         string                     `toml:"tab,omitempty"`
	Executable  string                     `toml:"executable,omitempty"`
	Arguments   []string                   `toml:"arguments,omitempty"`
	Directory   string                     `toml:"directory,omitempty"`
	Script      string                     `toml:"script,omitempty"`
	Debug       bool                       `toml:"debug,omitempty"`
	Attributes  map[string]attribute.Value `toml:"attributes,omitempty"`
	Environment map[string]string          `toml:"environment,omitempty"`
}

// TOML returns the launch configuration as its file would have it. A text that
// is not UTF-8, which TOML cannot hold, is an error, and so is what
// ReadLaunchConfiguration would refuse.
func (l *LaunchConfiguration) TOML() ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("saving launch configuration %q: %w", l.Name, err)
	}
	for name, value := range l.Attributes {
		switch value.(type) {
		case string, bool, int, []string:
		default:
			return fail(fmt.Errorf("a launch configuration cannot hold the value of attribute %q, %s", name, attribute.Text(value)))
		}
	}
	for what, text := range l.texts() {
		if !utf8.ValidString(text) {
			return fail(fmt.Errorf("%s, %.200q, is not UTF-8", what, text))
		}
	}
	text, err := toml.Marshal(launchFile{
		l.Target, l.Definition, l.Tab, l.Executable, l.Arguments, l.Directory, l.Script, l.Debug, l.Attributes, l.Environment,
	})
	if err != nil {
		return fail(err)
	}
	if _, err := ReadLaunchConfiguration(l.Name, l.Name+launchSuffix, text); err != nil {
		return fail(withoutPlaces(err))
	}
	return text, nil
}

// withoutPlaces returns the errors of a file that does not exist yet.
func withoutPlaces(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var reasons []error
		for _, one := range joined.Unwrap() {
			reasons = append(reasons, withoutPlaces(one))
		}
		return errors.Join(reasons...)
	}
	var wrong *ConfigurationError
	if errors.As(err, &wrong) {
		return errors.New(wrong.Reason)
	}
	return err
}

// texts yields every text with what it is.
func (l *LaunchConfiguration) texts() func(yield func(what, text string) bool) {
	return func(yield func(what, text string) bool) {
		ok := yield("the target", l.Target) && yield("the definition", l.Definition) && yield("the tab", l.Tab) &&
			yield("the executable", l.Executable) && yield("the directory", l.Directory) && yield("the script", l.Script)
		for _, argument := range l.Arguments {
			ok = ok && yield("an argument", argument)
		}
		for _, value := range l.Values() {
			ok = ok && yield("the name of an attribute", value.Name) && yield(fmt.Sprintf("the value of attribute %q", value.Name), value.Value)
		}
		for _, variable := range l.Variables() {
			ok = ok && yield("the name of a variable", variable.Name) && yield(fmt.Sprintf("the value of variable %q", variable.Name), variable.Value)
		}
	}
}

// ReadLaunchConfiguration reads a launch configuration from a text; file names
// it in errors. Errors are *ConfigurationError, several joined.
func ReadLaunchConfiguration(name, file string, text []byte) (*LaunchConfiguration, error) {
	if len(text) > maxLaunchBytes {
		return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("it has more than %d bytes, which no launch configuration has", maxLaunchBytes)}
	}
	// The decoder finds what is wrong with the document as such, keys that stand
	// twice included. It does not tell where values are.
	var document map[string]any
	if err := toml.Unmarshal(text, &document); err != nil {
		return nil, configurationError(file, err)
	}
	r := &launchReader{launch: &LaunchConfiguration{Name: name, File: file, attributes: map[string]attributePlaces{}, settings: map[string]place{}}}
	r.parser.Reset(text)
	r.read()
	r.checkWhole()
	if len(r.problems) > 0 {
		return nil, errors.Join(r.problems...)
	}
	return r.launch, nil
}

// launchReader goes through the keys and values of a document.
type launchReader struct {
	parser   unstable.Parser
	launch   *LaunchConfiguration
	problems []error
}

func (r *launchReader) refuse(at place, format string, arguments ...any) {
	r.problems = append(r.problems, &ConfigurationError{
		File: r.launch.File, Line: at.line, Column: at.column, Reason: fmt.Sprintf(format, arguments...),
	})
}

func (r *launchReader) read() {
	var table []string
	for r.parser.NextExpression() {
		switch node := r.parser.Expression(); node.Kind {
		case unstable.Table:
			table = keyOf(node)
			if !isLaunchTable(table[0]) {
				r.unknown(r.placeOf(node.Child()), table[0])
			}
		case unstable.ArrayTable:
			table = keyOf(node)
			r.refuse(r.placeOf(node.Child()), "%q is written in double brackets; tables have single ones", strings.Join(table, "."))
		case unstable.KeyValue:
			r.setting(table, node)
		}
	}
	if err := r.parser.Error(); err != nil {
		r.problems = append(r.problems, &ConfigurationError{File: r.launch.File, Reason: err.Error(), Err: err})
	}
}

func keyOf(node *unstable.Node) []string {
	var path []string
	for key := node.Key(); key.Next(); {
		path = append(path, string(key.Node().Data))
	}
	return path
}

func (r *launchReader) placeOf(node *unstable.Node) place {
	start := r.parser.Shape(node.Raw).Start
	return place{start.Line, start.Column}
}

// valuePlace is where a value stands; arrays do not know it, so for them it is
// where their key stands.
func (r *launchReader) valuePlace(value *unstable.Node, key place) place {
	if value.Raw.Length == 0 {
		return key
	}
	return r.placeOf(value)
}

const (
	launchAttributes  = "attributes"
	launchEnvironment = "environment"
)

func isLaunchTable(name string) bool { return name == launchAttributes || name == launchEnvironment }

// setting reads one key and its value, in a table or outside of any.
func (r *launchReader) setting(table []string, node *unstable.Node) {
	path := append(slices.Clone(table), keyOf(node)...)
	keys := node.Key()
	keys.Next()
	at, value := r.placeOf(keys.Node()), node.Value()
	switch {
	case len(table) > 0 && !isLaunchTable(table[0]):
		return // was refused with its table
	case isLaunchTable(path[0]) && value.Kind == unstable.InlineTable:
		for children := value.Children(); children.Next(); {
			r.setting(path, children.Node())
		}
	case isLaunchTable(path[0]) && len(path) == 1:
		r.refuse(r.valuePlace(value, at), "%q is %s, but has to be a table: begin it with [%s]", path[0], kindOf(value), path[0])
	case path[0] == launchAttributes:
		// Names of attributes may have dots, which TOML has between keys.
		r.attribute(strings.Join(path[1:], "."), value, at)
	case path[0] == launchEnvironment:
		r.variable(strings.Join(path[1:], "."), value, at)
	default:
		r.plain(path, value, at)
	}
}

func (r *launchReader) attribute(name string, value *unstable.Node, at place) {
	if _, twice := r.launch.Attributes[name]; twice {
		r.refuse(at, "attribute %q has a value already, on line %d", name, r.launch.attributes[name].name.line)
		return
	}
	var converted attribute.Value
	ok := true
	switch value.Kind {
	case unstable.Array:
		converted, ok = r.list(value, at)
	default:
		converted, ok = r.scalar(value, r.valuePlace(value, at))
	}
	if !ok {
		return
	}
	if r.launch.Attributes == nil {
		r.launch.Attributes = map[string]attribute.Value{}
	}
	r.launch.Attributes[name] = converted
	r.launch.attributes[name] = attributePlaces{name: at, value: r.valuePlace(value, at)}
}

func (r *launchReader) variable(name string, value *unstable.Node, at place) {
	if _, twice := r.launch.Environment[name]; twice {
		r.refuse(at, "variable %q has a value already", name)
		return
	}
	if name == "" || strings.ContainsAny(name, "=\x00") {
		r.refuse(at, "%q cannot name a variable", name)
		return
	}
	converted, ok := r.scalar(value, r.valuePlace(value, at))
	if !ok {
		return
	}
	if r.launch.Environment == nil {
		r.launch.Environment = map[string]string{}
	}
	r.launch.Environment[name] = attribute.Text(converted)
}

// scalar converts a value that is no list.
func (r *launchReader) scalar(value *unstable.Node, at place) (attribute.Value, bool) {
	switch value.Kind {
	case unstable.String:
		text := string(value.Data)
		if strings.ContainsRune(text, 0) {
			r.refuse(at, "%.200q holds a zero byte, which no program can be given", text)
			return nil, false
		}
		return text, true
	case unstable.Bool:
		return string(value.Data) == "true", true
	case unstable.Integer:
		number, err := strconv.ParseInt(strings.ReplaceAll(string(value.Data), "_", ""), 0, strconv.IntSize)
		if err != nil {
			r.refuse(at, "%s is too large for an integer", value.Data)
			return nil, false
		}
		return int(number), true
	case unstable.Array, unstable.InlineTable:
		r.refuse(at, "a value cannot be %s here", kindOf(value))
	default:
		r.refuse(at, "a value cannot be %s: write it in quotes, \"%s\"", kindOf(value), value.Data)
	}
	return nil, false
}

// list converts an array.
func (r *launchReader) list(value *unstable.Node, at place) ([]string, bool) {
	list, ok := []string{}, true
	for items := value.Children(); items.Next(); {
		item, itemOK := r.scalar(items.Node(), r.valuePlace(items.Node(), at))
		ok = ok && itemOK
		list = append(list, attribute.Text(item))
	}
	return list, ok
}

// plain reads a setting outside of the tables.
func (r *launchReader) plain(path []string, value *unstable.Node, at place) {
	l := r.launch
	texts := map[string]*string{
		"target": &l.Target, "definition": &l.Definition, "tab": &l.Tab,
		"executable": &l.Executable, "directory": &l.Directory, "script": &l.Script,
	}
	name := path[0]
	text, isText := texts[name]
	if isKnown := isText || name == "arguments" || name == "debug"; !isKnown {
		r.unknown(at, name)
		return
	}
	wrong := func(wanted string) {
		r.refuse(r.valuePlace(value, at), "%q is %s, but has to be %s", name, kindOf(value), wanted)
	}
	l.settings[name] = at
	switch {
	case len(path) > 1:
		r.refuse(at, "%q is no table", name)
	case isText && value.Kind != unstable.String:
		wrong("a text")
	case isText:
		if converted, ok := r.scalar(value, r.placeOf(value)); ok {
			*text = attribute.Text(converted)
		}
	case name == "debug" && value.Kind != unstable.Bool:
		wrong("true or false")
	case name == "debug":
		l.Debug = string(value.Data) == "true"
	case value.Kind != unstable.Array:
		wrong("a list of texts")
	default:
		if list, ok := r.list(value, at); ok && len(list) > 0 {
			l.Arguments = list
		}
	}
}

func (r *launchReader) unknown(at place, name string) {
	known := []string{"target", "definition", "tab", "executable", "arguments", "directory", "script", "debug", launchAttributes, launchEnvironment}
	hint := "settings are " + strings.Join(known, ", ")
	if near := config.Similar(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.refuse(at, "there is no setting %.200q; %s", name, hint)
}

// checkWhole refuses settings that contradict each other.
func (r *launchReader) checkWhole() {
	l := r.launch
	if l.Target != "" && l.Definition != "" {
		r.refuse(l.settings["definition"], "a target is named already; say either target or definition")
	}
	if len(l.Arguments) > 0 && l.Executable == "" {
		r.refuse(l.settings["arguments"], "there are arguments, but no executable")
	}
	slices.SortStableFunc(r.problems, func(a, b error) int {
		var x, y *ConfigurationError
		if !errors.As(a, &x) || !errors.As(b, &y) {
			return 0
		}
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
}

// kindOf names the kind of a value as people call it.
func kindOf(value *unstable.Node) string {
	switch value.Kind {
	case unstable.String:
		return "a text"
	case unstable.Bool:
		return "true or false"
	case unstable.Integer:
		return "an integer"
	case unstable.Float:
		return "a number with a fraction"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or time"
}
