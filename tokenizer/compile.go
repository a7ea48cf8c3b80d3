package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// Compile prepares a parser for one run on an environment. Job replaces @jobId: it is the id of the job's
// attribute in the environment, empty without a job. References in expressions are resolved now, all
// others when they are needed. The error is an [*Error] with the position of the invalid expression or
// setting.
func (o Options) Compile(parser *config.Parser, env *attribute.Environment, job string) (*Tokenizer, error) {
	t := &Tokenizer{parser: parser, env: env, job: job, options: o, landmarks: anyLandmark, patterns: map[patternKey]*pattern{}}
	if parser.Type != "" {
		return t.withType(parser.Type)
	}
	var err error
	if t.source, err = newSegmenter(t); err != nil {
		return nil, &Error{Position: parser.Position, Err: err}
	}
	if o.Origins != "" {
		t.origins = newOrigins(parser)
	}
	for _, described := range parser.Targets {
		target, err := t.compileTarget(described)
		if err != nil {
			return nil, err
		}
		t.targets = append(t.targets, target)
	}
	t.planRows()
	if t.exitOn, err = t.compileExpression(parser.ExitOn); err != nil {
		return nil, err
	}
	if t.exitAfter, err = t.compileExpression(parser.ExitAfter); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tokenizer) withType(name string) (*Tokenizer, error) {
	factory := t.options.Types[name]
	if factory == nil {
		return nil, &Error{Position: t.parser.Position, Err: fmt.Errorf("unknown parser type %q", name)}
	}
	var err error
	if t.custom, err = factory(t.parser, t.env, t.job); err != nil {
		return nil, &Error{Position: t.parser.Position, Err: fmt.Errorf("creating a parser of type %q: %w", name, err)}
	}
	return t, nil
}

func (t *Tokenizer) compileTarget(described *config.Target) (*target, error) {
	var joining joiner
	compiled := &target{config: described, landmarks: anyLandmark, otherwise: compileActions(onlyElse(described.Else), &joining)}
	for _, one := range described.Matches {
		m := &match{config: one, target: compiled, actions: compileActions(one.Actions, &joining), stats: MatchStats{Match: one, Expression: one.Expression}}
		m.naming = namingAction(m.actions)
		m.givesValue = givesValue(m.actions, t.options.Origins)
		var err error
		if m.regex, err = t.compileExpression(one.Expression); err != nil {
			return nil, err
		}
		compiled.matches = append(compiled.matches, m)
		t.matches = append(t.matches, m)
	}
	for _, one := range described.Tests {
		compiled.tests = append(compiled.tests, compileTest(one, &joining))
	}
	return compiled, nil
}

// onlyElse picks the one action that the else of a target may hold. If a definition has several, PTP runs
// the first kind in this order.
func onlyElse(actions []*config.Action) []*config.Action {
	for _, kind := range []config.ActionKind{config.Add, config.Append, config.Put, config.Set, config.Throw} {
		for i, action := range actions {
			if action.Kind == kind {
				return actions[i : i+1]
			}
		}
	}
	return nil
}

func compileTest(described *config.Test, joining *joiner) *test {
	compiled := &test{
		config:    described,
		actions:   compileActions(described.Actions, joining),
		otherwise: compileActions(described.Else, joining),
	}
	for _, nested := range described.Tests {
		compiled.tests = append(compiled.tests, compileTest(nested, joining))
	}
	for _, value := range described.Values {
		compiled.operands = append(compiled.operands, newOperand(config.Optional{Text: value, Set: true}))
	}
	return compiled
}

func compileActions(described []*config.Action, joining *joiner) []*action {
	actions := make([]*action, 0, len(described))
	storage := make([]action, len(described))
	for i, one := range described {
		compiled := &storage[i]
		compiled.config, compiled.joiner = one, joining
		switch field, known := attribute.ParseField(one.Field.Text); {
		case known:
			compiled.field = field
		case one.Field.Set:
			compiled.fieldErr = unknownField(one.Field.Text)
		case one.Kind != config.Throw:
			compiled.fieldErr = fmt.Errorf("the %s action has no field", one.Kind)
		}
		compiled.entries = make([]*entry, 0, len(one.Entries))
		for _, entry := range one.Entries {
			compiled.entries = append(compiled.entries, newEntry(entry))
		}
		actions = append(actions, compiled)
	}
	return actions
}

func newEntry(described *config.Entry) *entry {
	return &entry{config: described, value: newOperand(described.Value), key: newOperand(described.Key)}
}

// namingAction returns the action that names the attribute a match constructs first, or nil.
func namingAction(actions []*action) *action {
	end := slices.IndexFunc(actions, func(a *action) bool { return a.config.ForceNewObject })
	if end < 0 {
		end = len(actions)
	}
	for _, action := range actions[:end] {
		if action.config.Kind == config.Set && action.field == attribute.FieldName && action.fieldErr == nil && len(action.entries) > 0 {
			return action
		}
	}
	return nil
}

// A patternKey identifies an expression: equal keys share a pattern.
type patternKey struct {
	text  string
	flags javaregex.Flags
}

// compileExpression compiles an expression. It returns nil if there is no expression.
func (t *Tokenizer) compileExpression(described *config.Expression) (*expression, error) {
	if described == nil {
		return nil, nil
	}
	text := t.resolve(described.Position, described.Text)
	key := patternKey{text, described.Flags}
	shared := t.patterns[key]
	if shared == nil {
		compiled, err := t.options.Expressions.Compile(key.text, key.flags)
		if err != nil {
			return nil, expressionError(described, text, err)
		}
		shared = &pattern{regexp: compiled}
		t.patterns[key] = shared
	}
	return &expression{config: described, pattern: shared, exits: MatchStats{Expression: described}}, nil
}

// expressionError adds the position of the error: that of the invalid character if the definition
// contains the expression literally.
func expressionError(described *config.Expression, text string, err error) error {
	at := described.Position
	var syntax *javaregex.SyntaxError
	if text == described.Text && errors.As(err, &syntax) && syntax.Offset <= len(text) {
		before := text[:max(0, syntax.Offset)]
		if lines := strings.Count(before, "\n"); lines > 0 {
			at.Line += lines
			at.Column = len(before) - strings.LastIndexByte(before, '\n')
		} else {
			at.Column += len(before)
		}
	}
	if text != described.Text {
		err = fmt.Errorf("%w (resolved from %q)", err, described.Text)
	}
	return &Error{Position: at, Err: fmt.Errorf("invalid expression: %w", err)}
}
