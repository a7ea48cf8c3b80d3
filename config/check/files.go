package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/rms"
)

var fileCodes = []Code{
	{"duplicate-file", config.Warning, "Two managed files have one name."},
	{"invalid-mode", config.Warning, "The permissions of a file are not octal."},
	{"missing-file", config.Error, "A file next to the definition is missing."},
	{"insert-outside-script", config.Warning, "Variables are inserted after a line that the script lacks."},
	{"unused-script", config.Warning, "No command uses the generated script."},
	{"missing-script", config.Warning, "A command uses a script that the definition lacks."},
	{"quoted-program", config.Warning, "A script quotes the program or its arguments again."},
}

const (
	stagedScript = "managed_file_for_script"
	scriptText   = "script"
)

func (c *checker) checkFiles() {
	c.checkBeside()
	earlier := map[string]*xmltree.Element{}
	for _, control := range c.root.Named("control-data") {
		for _, group := range control.Named("managed-files") {
			for _, file := range group.Named("file") {
				name := file.Value("name")
				if first, twice := earlier[name]; twice {
					c.report(file.ValuePosition("name"), config.Warning, "duplicate-file",
						fmt.Sprintf("a second file is called %s; the path of the one on line %d is lost", wording.Quote(name), first.Position().Line), "")
				}
				earlier[name] = file
				c.checkMode(file)
			}
		}
		for _, script := range control.Named("script") {
			c.checkScript(script)
		}
	}
}

var octalMode = lazyregexp.New(`^\s*0?[0-7]{3,4}\s*$`)

func (c *checker) checkMode(e *xmltree.Element) {
	if mode := e.Optional("mode"); mode.Set && !octalMode.MatchString(mode.Text) {
		c.report(e.ValuePosition("mode"), config.Warning, "invalid-mode", fmt.Sprintf("invalid file mode %s", wording.Quote(mode.Text)), "write octal digits, such as 0644")
	}
}

// checkBeside checks that the files next to the definition exist.
func (c *checker) checkBeside() {
	for _, group := range c.definition.ManagedFiles {
		for _, file := range group.Files {
			if _, isShipped := rms.Beside(file.Position.File, c.definition.SourceOf(file.Position), file.Path.Text); isShipped || !file.IsBeside {
				continue
			}
			name := filepath.Join(filepath.Dir(file.Position.File), file.Path.Text)
			if info, err := os.Stat(name); filepath.Base(file.Path.Text) != file.Path.Text || err != nil || !info.Mode().IsRegular() {
				c.report(file.Position, config.Error, "missing-file", fmt.Sprintf("file %s is missing next to the definition", wording.Quote(file.Path.Text)),
					"name a file in the folder of the definition")
			}
		}
	}
}

func (c *checker) checkScript(e *xmltree.Element) {
	lines := e.Named("line")
	if after := e.Optional("insertEnvironmentAfter"); after.Set {
		index := e.Integer("insertEnvironmentAfter", -1)
		effect := "variables are inserted after line 1"
		if index < 0 {
			effect = "no variables are inserted"
		}
		if index < -1 || index >= len(lines) {
			c.report(e.ValuePosition("insertEnvironmentAfter"), config.Warning, "insert-outside-script",
				fmt.Sprintf("the script has no line %d: its %d lines count from 0; %s", index, len(lines), effect), "")
		}
	}
	if c.uses[stagedScript]|c.uses[scriptText] == 0 && !c.dynamicUses {
		c.report(e.Position(), config.Warning, "unused-script", "no command uses the generated script",
			`pass it to the submit command: <arg>"${ptp_rm:managed_file_for_script#value}"</arg>`)
	}
	c.checkQuotedProgram(lines)
}

// checkQuotedProgram reports the program and its arguments inside quotes:
// rmctl quotes them already, and further quotes would break that. Lines that a
// shell evaluates a second time are skipped.
func (c *checker) checkQuotedProgram(lines []*xmltree.Element) {
	if slices.ContainsFunc(lines, evaluates) {
		return
	}
	for _, line := range lines {
		scan := quoteScan{checker: c}
		for _, argument := range line.Named("arg") {
			if scan.argument(argument) {
				break // once for a line
			}
		}
	}
}

// evaluates reports whether a line passes text to another shell.
func evaluates(line *xmltree.Element) bool {
	return slices.ContainsFunc(line.Named("arg"), func(argument *xmltree.Element) bool {
		return strings.Contains(argument.Text, "eval ") || strings.Contains(argument.Text, "sh -c")
	})
}

// A quoteScan goes over a line of a script as a shell would.
type quoteScan struct {
	*checker
	quote byte // the quote that is open; 0 for none
}

// argument goes over the next argument of the line, and reports whether the
// line needs no further look.
func (s *quoteScan) argument(e *xmltree.Element) (done bool) {
	for i := 0; i < len(e.Text); i++ {
		switch character := e.Text[i]; {
		case character == '\\' && s.quote != '\'':
			i++
		case s.quote == 0 && character == '#' && (i == 0 || isBlank(e.Text[i-1])):
			return true // a comment or a directive
		case s.quote == 0 && isQuote(character):
			s.quote = character
		case character == s.quote:
			s.quote = 0
		case s.quote != 0 && character == '$' && e.Boolean("resolve", true) && s.reference(e, i):
			return true
		}
	}
	return false
}

// reference reports a reference to the program or its arguments inside quotes.
func (s *quoteScan) reference(e *xmltree.Element, at int) bool {
	for _, name := range []string{"executablePath", "progArgs"} {
		if strings.HasPrefix(e.Text[at:], reference.Start+reference.Prefix+":"+name+"#value}") {
			s.report(e.TextWithin(at), config.Warning, "quoted-program",
				name+" is inside quotes, but rmctl quotes it already: blanks and quotes in it break the command",
				"move it outside the quotes")
			return true
		}
	}
	return false
}
