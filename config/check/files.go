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
	{"missing-file", config.Error, "A file that is to stand beside the definition is not there."},
	{"insert-outside-script", config.Warning, "Variables are to be inserted after a line that the script does not have."},
	{"unused-script", config.Warning, "No command takes the generated script."},
	{"missing-script", config.Warning, "A command takes a generated script that the definition does not have."},
	{"quoted-program", config.Warning, "The program or its arguments stand inside of quotes of a script."},
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
		c.report(e.ValuePosition("mode"), config.Warning, "invalid-mode", fmt.Sprintf("%s are no permissions in octal", wording.Quote(mode.Text)), "write them as 0644 or 0700")
	}
}

// checkBeside checks that the files beside the definition are there.
func (c *checker) checkBeside() {
	for _, group := range c.definition.ManagedFiles {
		for _, file := range group.Files {
			if _, isShipped := rms.Beside(file.Position.File, c.definition.SourceOf(file.Position), file.Path.Text); isShipped || !file.IsBeside {
				continue
			}
			name := filepath.Join(filepath.Dir(file.Position.File), file.Path.Text)
			if info, err := os.Stat(name); filepath.Base(file.Path.Text) != file.Path.Text || err != nil || !info.Mode().IsRegular() {
				c.report(file.Position, config.Error, "missing-file", fmt.Sprintf("no file %s stands beside the definition", wording.Quote(file.Path.Text)),
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
				fmt.Sprintf("the script has no line %d: it has %d, counted from 0; %s", index, len(lines), effect), "")
		}
	}
	if c.uses[stagedScript]|c.uses[scriptText] == 0 && !c.dynamicUses {
		c.report(e.Position(), config.Warning, "unused-script", "no command takes the generated script",
			`hand it to the submit command: <arg>"${ptp_rm:managed_file_for_script#value}"</arg>`)
	}
	c.checkQuotedProgram(lines)
}

// checkQuotedProgram reports the program and its arguments inside of quotes:
// they are quoted for a shell already, and inside of other quotes their own
// stay as they are. What is evaluated a second time is left alone.
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

// evaluates reports whether a line hands a text to a shell once more.
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

// reference reports a reference to the program or its arguments that stands
// inside of a quote.
func (s *quoteScan) reference(e *xmltree.Element, at int) bool {
	for _, name := range []string{"executablePath", "progArgs"} {
		if strings.HasPrefix(e.Text[at:], reference.Start+reference.Prefix+":"+name+"#value}") {
			s.report(e.TextWithin(at), config.Warning, "quoted-program",
				name+" is quoted for the shell already, and stands inside of quotes here: its own become a part of it, so that blanks and quotes in it break the command",
				"let it stand outside of quotes")
			return true
		}
	}
	return false
}
