package check

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/wording"
)

func (c *checker) checkParser(command *config.Command, parser *config.Parser) {
	if parser.MaxMatchLength < 0 {
		c.report(parser.Position, config.Error, "invalid-value", "maxMatchLen is negative", "remove it to split the output at delimiters")
	}
	c.checkSettings(command, parser)
	for _, target := range parser.Targets {
		c.checkTarget(command, target)
	}
	if inspect.ReadsNothing(parser, command) || parser.MaxMatchLength < 0 {
		return // it never sees a segment
	}
	for _, target := range parser.Targets {
		for _, match := range target.Matches {
			if match.Expression != nil {
				c.checkFits(parser, match.Expression, len(match.Actions) > 0)
			}
		}
	}
	c.checkExits(parser)
	c.checkReachable(command, parser)
}

// checkSettings reports settings without effect.
func (c *checker) checkSettings(command *config.Command, parser *config.Parser) {
	if inspect.ReadsNothing(parser, command) {
		c.reportUnread(parser)
	}
	switch {
	case parser.All && parser.Save <= 0:
		c.withoutEffect(parser.Position, `all="true" without save keeps no segment: nothing matches`, `set save="1" for the last segment that is not empty`)
	case !parser.All && parser.Save > 0:
		c.withoutEffect(parser.Position, "save has no effect without all", `set all="true" too`)
	}
	if parser.Type != "" {
		c.report(parser.Position, config.Warning, "unknown-parser-type",
			fmt.Sprintf("rmctl has no parser of type %s: reading the output fails unless a program registers it", wording.Quote(parser.Type)), "describe the output with targets, or with x:read")
	}
	if cut := delimiter(parser); parser.MaxMatchLength == 0 && !isOneCharacter(parser.Delimiter.Text) {
		c.report(parser.Position, config.Warning, "long-delimiter",
			fmt.Sprintf("segments end at one character: of the delimiter %s only %q counts", wording.Quote(parser.Delimiter.Text), cut), "write one character")
	}
	switch {
	case parser.MaxMatchLength > 0 && parser.Delimiter.Text != "":
		c.withoutEffect(parser.Position, "maxMatchLen makes delim ineffective", "remove one of them")
	case parser.IncludeDelimiter && (parser.MaxMatchLength > 0 || parser.Delimiter.Text == ""):
		c.withoutEffect(parser.Position, "includeDelim has no effect without delim", "")
	}
	for _, target := range parser.Targets {
		c.checkTargetSettings(parser, target)
	}
}

func (c *checker) withoutEffect(at config.Position, message, suggestion string) {
	c.report(at, config.Warning, "without-effect", message, suggestion)
}

// reportUnread reports a parser that reads nothing.
func (c *checker) reportUnread(parser *config.Parser) {
	switch parser.Element {
	case "redirect-parser":
		c.withoutEffect(parser.Position, "the redirect-parser is not used: standard error is not redirected", `set redirectStderr="true", or make it a stdout-parser`)
	case "stdout-parser":
		c.withoutEffect(parser.Position, "the stdout-parser is not used: standard error is redirected, and there is a redirect-parser", "remove one of them")
	default:
		c.withoutEffect(parser.Position, "the stderr-parser reads nothing: with redirectStderr, standard error goes to the parser of standard output",
			"move its targets to the parser of standard output")
	}
}

// checkTargetSettings reports settings of a target without effect.
func (c *checker) checkTargetSettings(parser *config.Parser, target *config.Target) {
	for _, match := range target.Matches {
		switch {
		case !match.MoveToTop:
		case parser.ApplyToAll:
			c.withoutEffect(match.Position, "moveToTop has no effect under applyToAll", "")
		case len(parser.Targets) == 1:
			c.withoutEffect(match.Position, "moveToTop has no effect: the parser has no other target", "")
		}
	}
	if target.MatchAll && len(target.Matches) == 1 {
		c.withoutEffect(target.Position, "matchAll has no effect: the target has one match only", "")
	}
	if target.AllowOverwrites && target.Ref.Set {
		c.withoutEffect(target.Position, "allowOverwrites has no effect: a target with ref constructs nothing", "")
	}
}

// checkTarget checks the attribute, the tests and the actions of a target.
func (c *checker) checkTarget(command *config.Command, target *config.Target) {
	if target.Ref.Set {
		c.checkRef(command, target)
	} else if namesNothing(target) {
		c.report(target.Position, config.Warning, "nameless-target", "the target constructs attributes without a name; they are lost",
			`set the field "name", or add a ref to the attribute that the target acts on`)
	}
	for _, match := range target.Matches {
		c.checkGroups(match.Actions, c.expressions.groups(match.Expression))
		if target.Ref.Set {
			for _, action := range match.Actions {
				if action.ForceNewObject {
					c.report(action.Position, config.Warning, "without-effect", "forceNewObject has no effect: a target with ref constructs nothing", "")
				}
			}
		}
	}
	c.checkTests(target.Tests)
	c.checkNoGroups(target.Else)
}

// checkRef checks the name of the attribute that a target acts on.
func (c *checker) checkRef(command *config.Command, target *config.Target) {
	name := target.Ref.Text
	if strings.Contains(name, reference.Start) {
		return
	}
	_, defined := c.names.defined[name]
	switch {
	case name == attribute.JobPlaceholder && isSessionPart(string(command.Element)) && !defined:
		c.report(target.RefAt, config.Warning, "not-yet-known", fmt.Sprintf("there is no job when a %s runs: the parser fails when the target acts", command.Element), "")
	case !c.names.has(name):
		c.undefined(target.RefAt, name, "the parser fails when the target acts")
	}
}

// namesNothing reports whether a target constructs attributes and gives none of them a name.
func namesNothing(target *config.Target) bool {
	constructs := false
	for _, action := range inspect.Actions(target) {
		if action.Kind == config.Throw {
			continue
		}
		if inspect.Sets(action, attribute.FieldName) {
			return false
		}
		constructs = true
	}
	return constructs
}

// checkTests checks that tests have as many parts as their operators take: the
// parser fails when it evaluates any other.
func (c *checker) checkTests(tests []*config.Test) {
	inspect.EachTest(tests, func(test *config.Test) bool {
		c.checkNoGroups(test.Actions)
		c.checkNoGroups(test.Else)
		var message string
		switch test.Operator {
		case config.And, config.Or:
			if len(test.Tests) < 2 {
				message = fmt.Sprintf("%s takes two or more tests, not %d", test.Operator, len(test.Tests))
			}
		case config.Not:
			if len(test.Tests) != 1 {
				message = fmt.Sprintf("NOT takes one test, not %d", len(test.Tests))
			}
		default:
			if len(test.Values) != 2 {
				message = fmt.Sprintf("%s compares two values, not %d", test.Operator, len(test.Values))
			}
		}
		if message != "" {
			c.report(test.Position, config.Error, "malformed-test", message, "")
		}
		return true
	})
}

// usedGroups returns which groups an entry uses, except those that a text replaces.
// An index that is not 0 comes before the group.
func usedGroups(e *config.Entry, kind config.ActionKind) []int {
	var used []int
	pick := func(index, group int) {
		if index == 0 {
			index = group
		}
		used = append(used, index)
	}
	if !e.Value.Set {
		pick(e.ValueIndex, e.ValueGroup)
	}
	if kind == config.Put && !e.Key.Set {
		pick(e.KeyIndex, e.KeyGroup)
	}
	return used
}

func (c *checker) checkGroups(actions []*config.Action, groups int) {
	for _, action := range actions {
		for _, entry := range action.Entries {
			for _, group := range usedGroups(entry, action.Kind) {
				if group < 0 || groups != unknownGroups && group > groups {
					c.report(entry.Position, config.Error, "no-such-group",
						fmt.Sprintf("the entry uses group %d, but the expression has %d", group, max(groups, 0)), "groups count from 1; 0 is the whole segment")
					break
				}
			}
		}
	}
}

// checkNoGroups checks actions that run without a segment: an entry that uses a
// group there changes nothing.
func (c *checker) checkNoGroups(actions []*config.Action) {
	for _, action := range actions {
		for _, entry := range action.Entries {
			if len(usedGroups(entry, action.Kind)) > 0 {
				c.report(entry.Position, config.Warning, "no-groups-here", "the entry uses a group, but tests and else have no groups: it has no value",
					`add value="…", or value="#value" for what the field holds`)
			}
		}
	}
}

// segments returns which texts a parser tries its expressions on.
func segments(p *config.Parser) javaregex.Texts {
	if p.MaxMatchLength > 0 {
		return javaregex.Texts{}
	}
	return javaregex.Texts{Delimiter: delimiter(p), KeepsDelimiter: p.IncludeDelimiter, NotEmpty: p.All}
}

// delimiter returns the character that segments end at, 0 for none: a line
// break or tabulator written as in a program, or the first character.
func delimiter(p *config.Parser) rune {
	text := p.Delimiter.Text
	switch {
	case text == "":
		return 0
	case strings.Contains(text, `\n`):
		return '\n'
	case strings.Contains(text, `\r`):
		return '\r'
	case strings.Contains(text, `\t`):
		return '\t'
	}
	first, _ := utf8.DecodeRuneInString(text)
	return first
}

// isOneCharacter reports whether a delimiter is a single character.
func isOneCharacter(text string) bool {
	return utf8.RuneCountInString(text) <= 1 || text == `\n` || text == `\r` || text == `\t`
}

func (c *checker) checkExits(parser *config.Parser) {
	for _, exit := range []*config.Expression{parser.ExitOn, parser.ExitAfter} {
		if exit != nil {
			exits := *parser
			exits.All = false // exits are tried on every segment
			c.checkFits(&exits, exit, true)
		}
	}
}

// checkFits reports an expression that no segment of the parser fits, or only an
// empty one.
func (c *checker) checkFits(parser *config.Parser, x *config.Expression, acts bool) {
	compiled := c.expressions.regexp(x)
	if compiled == nil || x.Split {
		return // splitting always succeeds
	}
	if longest := 2 * parser.MaxMatchLength; longest > 0 && compiled.MinLength() > longest {
		c.report(x.Position, config.Warning, "never-matches",
			fmt.Sprintf("the expression needs at least %d characters, but maxMatchLen shows it at most %d", compiled.MinLength(), longest), "raise maxMatchLen")
		return
	}
	texts := segments(parser)
	if acts && isFlagsOnly(x.Text) && !texts.NotEmpty {
		c.report(x.Position, config.Warning, "only-flags", "the expression has only flags: it fits only empty segments, such as the one after the last delimiter",
			fmt.Sprintf("write %s.* to match any text, or an empty expression to match empty segments", x.Text))
	}
	if !c.inspector.Impossible(compiled, texts) {
		return
	}
	at := c.expressions.written[x.Position].at(c.inspector.Culprit(compiled, texts))
	switch {
	case c.inspector.Impossible(compiled, javaregex.Texts{}):
		c.report(at, config.Warning, "never-matches", "the expression must fit a whole segment, but an anchor or an empty class here prevents any match", "")
	case c.inspector.Impossible(compiled, javaregex.Texts{NotEmpty: true}):
		c.report(at, config.Warning, "never-matches", `the expression fits only empty segments, which all="true" skips`, "")
	case texts.KeepsDelimiter:
		c.report(at, config.Warning, "never-matches", fmt.Sprintf("no segment fits the expression: segments contain the delimiter %q only at their end", texts.Delimiter), "")
	default:
		c.report(at, config.Warning, "never-matches", fmt.Sprintf("no segment fits the expression: segments do not contain the delimiter %q", texts.Delimiter),
			`remove it from the expression, or set includeDelim="true"`)
	}
}

// isFlagsOnly reports whether an expression is (?s) or the like.
func isFlagsOnly(text string) bool {
	rest, isGroup := strings.CutPrefix(text, "(?")
	flags, isClosed := strings.CutSuffix(rest, ")")
	return isGroup && isClosed && flags != "" && strings.Trim(flags, "idmsuxU-") == ""
}
