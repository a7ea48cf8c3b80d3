package main

import (
	"context"
	"errors"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/job"

	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/internal/initial"
	"github.com/rmctl/rmctl/internal/replay"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/trace"
	"github.com/rmctl/rmctl/tokenizer"
)

type replayFlags struct {
	command     string
	stream      string
	job         string
	values      []string
	environment string
	trace       bool
}

func newReplay(a *app) *cobra.Command {
	var flags replayFlags
	c := &cobra.Command{
		Use:   "replay FILE|NAME|TARGET --command SELECTOR [flags] [INPUT]",
		Short: "Parse captured output as a definition does",
		Long: `Parse the output of a scheduler command with a definition, and print the attributes that
result.

SELECTOR names the command: an element (get-job-status), an element with an index from 1
(start-up-command[3]), or an element with a name (start-up-command:get-queues); a parser
may follow (get-job-status/stderr-parser). probe:NAME prints what rmctl doctor finds in
the output.

If the command has a reader, rmctl prints each record with its row and facts, and the
result of all records. -v prints statistics of expressions, or fields of records. rmctl
exits with 1 if the parser fails.`,
		Example: `  scontrol show job 7 | rmctl replay slurm --command get-job-status --job-id 7
  rmctl replay mysite.xml --command submit-batch --trace captured.txt
  rmctl replay tokenizer.xml --env env.json --json input.txt
  sbatch --version | rmctl replay slurm --command probe:sbatch`,
		Args:              atLeast(1, "the definition"),
		ValidArgsFunction: a.completeOneDefinition(),
		RunE: func(c *cobra.Command, arguments []string) error {
			if len(arguments) > 2 {
				return usage("unexpected argument %q", arguments[2])
			}
			return a.replay(flags, arguments)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.command, "command", "", "`SELECTOR` of the command that printed the input")
	f.StringVar(&flags.stream, "stream", "", "`STREAM` of the input: stdout, stderr or redirect (default: the first with a parser)")
	f.StringVar(&flags.job, "job-id", "", "`JOB` id, the value of @jobId")
	f.StringArrayVarP(&flags.values, "set", "s", nil, "value of an attribute before the run, as `name=value`; repeatable")
	f.StringVar(&flags.environment, "env", "", "JSON `FILE` with attributes before the run, which may also name the command")
	f.BoolVar(&flags.trace, "trace", false, "print each segment, match, action and test on standard error")
	completeFlag(c, "command", completeCommands)
	completeFlag(c, "stream", cobra.FixedCompletions([]cobra.Completion{"stdout", "stderr", "redirect"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

type replayResult struct {
	Status struct {
		State   string `json:"state"`
		Message string `json:"message,omitempty"`
	} `json:"status"`
	Attributes json.RawMessage `json:"attributes"`
	Discovered json.RawMessage `json:"discovered"`
	Statistics *replay.Counts  `json:"statistics,omitempty"` // with -v
}

func (a *app) replay(flags replayFlags, arguments []string) error {
	definition, before, err := a.replayed(flags, arguments[0])
	if err != nil {
		return err
	}
	selector, err := replay.Selector(flags.command, flags.stream, before)
	if err != nil {
		return &usageError{err}
	}
	command, parser, err := definition.Select(selector)
	if err != nil {
		return &usageError{err}
	}
	_, parserName, hasParser := strings.Cut(selector, "/")
	isRead := parser == nil && command.Read != nil && !hasParser
	switch {
	case command.Element == config.ProbeCommand:
		if hasParser || flags.trace || len(flags.values) > 0 || flags.environment != "" {
			return usage("probes cannot be used together with --stream, --trace, -s or --env")
		}
		return a.replayProbe(definition, command, arguments[1:])
	case parser == nil && !isRead:
		return usage("%s: %s %q has no %s", command.Position, command.Element, command.Name, cmp.Or(parserName, "parser"))
	}
	return a.replayOutput(flags, arguments, outputOf{definition, command, parser}, before)
}

// An outputOf is the command that printed an output, and the parser that reads it; nil for a reader.
type outputOf struct {
	definition *config.Definition
	command    *config.Command
	parser     *config.Parser
}

// replayOutput replays the output of a command with a parser or a reader.
func (a *app) replayOutput(flags replayFlags, arguments []string, of outputOf, before initial.Environment) error {
	env, job, err := replay.Environment(of.definition, of.command, flags.job, flags.values, before, flags.environment == "")
	if err != nil {
		return &usageError{err}
	}
	input, err := replay.Input(a.stdin, arguments[1:])
	if err != nil {
		return err
	}
	defer input.Close() //nolint:errcheck // only read
	if of.parser == nil {
		return a.replayReader(of.definition, of.command, env, job, input)
	}
	return a.replayThrough(of.parser, env, job, input, flags.trace)
}

// replayed loads the definition and the initial environment. Errors in other parts of the
// definition do not matter.
func (a *app) replayed(flags replayFlags, name string) (*config.Definition, initial.Environment, error) {
	before := initial.Environment{UseDefinition: flags.environment == ""}
	name, err := a.definitionNamed(name)
	if err != nil {
		return nil, before, err
	}
	definition, problems, err := check.LoadDefinition(name)
	if err != nil {
		return nil, before, &usageError{err}
	}
	if definition == nil {
		return nil, before, problems.Err()
	}
	if flags.environment == "" {
		return definition, before, nil
	}
	text, err := os.ReadFile(flags.environment)
	if err != nil {
		return nil, before, fmt.Errorf("reading the environment: %w", err)
	}
	if err := json.Unmarshal(text, &before); err != nil {
		return nil, before, usage("%s: %v", flags.environment, err)
	}
	return definition, before, nil
}

func (a *app) replayThrough(parser *config.Parser, env *attribute.Environment, job string, input io.Reader, isTraced bool) error {
	options := tokenizer.Options{Timed: a.verbose > 0}
	var traced *trace.Writer
	if isTraced {
		traced = trace.New(a.stderr, parser, a.json)
		options.Trace = traced.Write
	}
	result := replayResult{}
	result.Status.State = "OK"
	run, err := options.Compile(parser, env, job)
	if err == nil {
		err = run.Run(input)
		if a.verbose > 0 {
			result.Statistics = replay.CountsOf(run.Stats())
		}
	}
	if err != nil {
		result.Status.State, result.Status.Message = "ERROR", err.Error()
	}
	if printErr := a.printReplay(result, env); printErr != nil {
		return printErr
	}
	switch {
	case err != nil:
		return &exitError{code: exitFailed}
	case traced != nil:
		return traced.Err()
	}
	return nil
}

func (a *app) printReplay(result replayResult, env *attribute.Environment) error {
	text, err := env.MarshalJSON()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return fmt.Errorf("printing the attributes: %w", err)
	}
	if a.json {
		return terminal.JSON(a.stdout, result)
	}
	if result.Status.State != "OK" {
		a.say("%s", result.Status.Message)
	}
	if result.Statistics != nil {
		if err := result.Statistics.Print(a.stderr); err != nil {
			return err
		}
	}
	for _, name := range env.Variables() {
		if err := a.printAttribute("", name, env.Variable(name)); err != nil {
			return err
		}
	}
	for _, name := range env.Discovered() {
		if err := a.printAttribute("discovered ", name, env.DiscoveredAttribute(name)); err != nil {
			return err
		}
	}
	return nil
}

// printAttribute prints the fields that a parser can set.
func (a *app) printAttribute(kind, key string, attr *attribute.Attribute) error {
	if attr.Value() == nil && attr.Name() == key {
		return nil
	}
	line := fmt.Sprintf("%s%s = %s", kind, key, attribute.Text(attr.Value()))
	if attr.Name() != key {
		line += fmt.Sprintf(" (name %s)", attr.Name())
	}
	_, err := fmt.Fprintln(a.stdout, oneLine(line))
	return err
}

// maxProbeOutput bounds the output of a probe that is read, in bytes.
const maxProbeOutput = 16 << 20

// replayProbe prints what doctor would find if the program of an x:probe printed the input and
// succeeded.
func (a *app) replayProbe(definition *config.Definition, selected *config.Command, arguments []string) error {
	input, err := replay.Input(a.stdin, arguments)
	if err != nil {
		return err
	}
	defer input.Close() //nolint:errcheck // only read
	output, err := io.ReadAll(io.LimitReader(input, maxProbeOutput))
	if err != nil {
		return fmt.Errorf("reading the captured output: %w", err)
	}
	for _, probe := range definition.Probes {
		if probe.Command != selected {
			continue
		}
		finding := doctor.JudgeProbe(probe, &command.Result{Stdout: string(output)})
		if err := a.printFindings([]doctor.Finding{finding}); err != nil {
			return err
		}
		if finding.Verdict == doctor.Problem {
			return &exitError{code: exitFailed}
		}
	}
	return nil
}

// replayReader prints what a reader makes of captured output: each record with the row and
// the facts that it gives, and what all of them say together.
func (a *app) replayReader(definition *config.Definition, selected *config.Command, env *attribute.Environment, job string, input io.Reader) error {
	result := replay.Reading{Records: []replay.Record{}}
	answer, err := replay.Records(definition, selected, env, job, input, func(record replay.Record) error {
		if a.json {
			result.Records = append(result.Records, record)
			return nil
		}
		return a.printLines(record.Lines(a.verbose > 0))
	})
	if err != nil {
		return err
	}
	result.Elements = replay.ElementsOf(answer)
	if answer.Damage != nil {
		result.Damage = fmt.Sprintf("line %d: %s", answer.Damage.Line, answer.Damage.What)
	}
	if a.json {
		err = terminal.JSON(a.stdout, result)
	} else {
		err = a.printLines(result.Lines())
	}
	if err == nil && answer.Damage != nil {
		err = &exitError{code: exitFailed}
	}
	return err
}

// explainQuery queries the scheduler for a job and prints what readers make of the answers.
// A failed query is shown, and no error.
func (a *app) explainQuery(ctx context.Context, j job.Job) (job.Job, error) {
	asked, problem := "", error(nil)
	a.step = func(which *config.Command, step reader.Step) {
		if line := fmt.Sprintf("%s %q:", which.Element, which.Name); line != asked && !a.json {
			asked = line
			problem = errors.Join(problem, a.printLines([]string{line}))
		}
		record := replay.RecordOf(step)
		if a.json {
			problem = errors.Join(problem, terminal.JSON(a.stdout, struct {
				Record replay.Record `json:"record"`
			}{record}))
		} else {
			problem = errors.Join(problem, a.printLines(record.Lines(a.verbose > 0)))
		}
	}
	controller, err := a.finder().ControllerOf(ctx, j)
	if err != nil {
		return j, err
	}
	now, err := controller.Status(ctx, j, true)
	if isA[*control.QueryError](err) {
		a.say("%v", err)
		err = nil
	}
	if err != nil || a.json || asked == "" {
		return now, errors.Join(err, problem)
	}
	lines := []string{"printed:"}
	for line := range strings.Lines(now.Evidence) {
		lines = append(lines, "  "+line)
	}
	return now, errors.Join(problem, a.printLines(lines))
}

func (a *app) printLines(lines []string) error {
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		if _, err := fmt.Fprintln(a.stdout, line[:len(line)-len(text)]+oneLine(text)); err != nil {
			return err
		}
	}
	return nil
}
