package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/initial"
	"github.com/rmctl/rmctl/tokenizer"
)

// No check reports a match as useless that takes a segment in a golden case of the
// tokenizer.
func TestUsedMatchesAreNotReported(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "tokenizer", "*", "tokenizer.xml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	useless := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, problems := check.Load(file, source, nil)
		require.NotNil(t, definition, file)
		took := matchesThatTook(t, definition, filepath.Dir(file))
		for _, problem := range problems {
			if problem.Code != "never-matches" && problem.Code != "unreachable-match" {
				continue
			}
			useless++
			for _, match := range took {
				require.False(t, isWithin(problem.Position, match, definition), "%s, but the match took a segment", problem)
			}
		}
	}
	require.NotZero(t, useless, "some cases have useless matches")
}

func matchesThatTook(t *testing.T, definition *config.Definition, folder string) []*config.Match {
	var before initial.Environment
	text, err := os.ReadFile(filepath.Join(folder, "env.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &before))
	stream, err := os.ReadFile(filepath.Join(folder, "input.txt"))
	if os.IsNotExist(err) {
		return nil // packed, because it is long
	}
	require.NoError(t, err)
	_, parser, err := definition.Select(before.Selector)
	require.NoError(t, err)
	environment := attribute.NewEnvironment()
	before.Define(environment)
	var took []*config.Match
	options := tokenizer.Options{Trace: func(event tokenizer.TraceEvent) {
		if event.Kind == "match" {
			took = append(took, event.Match)
		}
	}}
	run, err := options.Compile(parser, environment, before.Job)
	if err != nil {
		return nil
	}
	_ = run.Run(bytes.NewReader(stream)) // some cases end with an error
	return took
}

// isWithin reports whether a position is in a match and not in a later one.
func isWithin(at config.Position, match *config.Match, definition *config.Definition) bool {
	var last *config.Match
	for _, command := range definition.Commands {
		for _, parser := range []*config.Parser{command.StdoutParser, command.StderrParser, command.RedirectParser} {
			if parser == nil {
				continue
			}
			for _, target := range parser.Targets {
				for _, candidate := range target.Matches {
					if !isBefore(at, candidate.Position) && (last == nil || isBefore(last.Position, candidate.Position)) {
						last = candidate
					}
				}
			}
		}
	}
	return last == match
}

func isBefore(a, b config.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// parserCodes are the problems of commands, parsers and expressions.
var parserCodes = []string{
	"invalid-expression", "runaway-expression", "never-matches", "only-flags", "unreachable-match", "no-such-group", "no-groups-here",
	"missing-field", "malformed-test", "nameless-target", "no-job-id", "job-id-from-banner", "no-status-command", "no-job-state", "lists-nothing",
	"unknown-state", "unmapped-native-state",
}

// The problems of parsers in definitions from the field were verified one by one.
func TestProblemsOfParsersInTheFieldAreKnown(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	var found strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		_, problems := check.Load(filepath.Base(file), source, nil)
		for _, problem := range problems {
			if slices.Contains(parserCodes, problem.Code) {
				fmt.Fprintln(&found, problem)
			}
		}
	}
	golden := filepath.Join("testdata", "field-problems.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(found.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), found.String())
}
