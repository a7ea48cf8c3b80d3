package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/remote"
)

// A neededProgram is a program that commands of the definition begin with.
type neededProgram struct {
	name     string
	commands []string // the elements that run it
	needed   bool     // jobs cannot run without it
}

// examinePrograms examines whether the programs of the definition's commands exist.
func (e *examiner) examinePrograms(ctx context.Context) []Finding {
	const name = "programs"
	programs, err := e.neededPrograms()
	if err != nil {
		return notAnswered(name, err)
	}
	if len(programs) == 0 {
		return nil
	}
	names := make([]string, 0, len(programs))
	for _, program := range programs {
		names = append(names, program.name)
	}
	lines, err := e.runScript(ctx, `for program; do if command -v "$program" >/dev/null 2>&1; then echo found; else echo missing; fi; done`, names...)
	if err != nil || len(lines) < len(programs) {
		return notAnswered(name, cmp.Or(err, errors.New("the answer is incomplete")))
	}
	var findings []Finding
	var found []string
	for i, program := range programs {
		if lines[i] == "found" {
			found = append(found, program.name)
			continue
		}
		missing := Finding{Name: name, Verdict: Warning, Seen: fmt.Sprintf("%s not found", program.name),
			Impact: "these commands cannot run: " + strings.Join(program.commands, ", "), Fix: "install it, or add its folder to PATH for non-interactive shells"}
		if program.needed {
			missing.Verdict = Problem
		}
		findings = append(findings, missing)
	}
	if len(found) > 0 {
		findings = append([]Finding{{Name: name, Verdict: Fine, Seen: strings.Join(found, ", ")}}, findings...)
	}
	return findings
}

// neededPrograms returns the programs in the order of the definition, without those that depend
// on a job.
func (e *examiner) neededPrograms() ([]neededProgram, error) {
	env, err := e.resolver.InitialEnvironment()
	if err != nil {
		return nil, err
	}
	var programs []neededProgram
	for _, each := range e.definition.Commands {
		for _, one := range append([]*config.Command{each}, each.Fallbacks...) {
			program := firstWord(env, one)
			if program == "" || program == definition.Command {
				continue // an agent answers that
			}
			at := slices.IndexFunc(programs, func(p neededProgram) bool { return p.name == program })
			if at < 0 {
				at = len(programs)
				programs = append(programs, neededProgram{name: program})
			}
			if what := string(one.Element); !slices.Contains(programs[at].commands, what) {
				programs[at].commands = append(programs[at].commands, what)
			}
			programs[at].needed = programs[at].needed || isNeeded(one.Element)
		}
	}
	return programs, nil
}

// isNeeded reports whether jobs cannot run without a command.
func isNeeded(element config.CommandElement) bool {
	switch element {
	case config.StartUpCommand, config.SubmitBatch, config.SubmitInteractive, config.GetJobStatus:
		return true
	}
	return false
}

func firstWord(env *attribute.Environment, c *config.Command) string {
	if len(c.Arguments) == 0 {
		return c.Over // the name of its program
	}
	words, err := config.Scope{Environment: env}.Words(c.Arguments[:1])
	if err != nil || len(words) == 0 {
		return "" // running it says why it cannot be resolved
	}
	return words[0]
}

// examineProbe runs an x:probe.
func (e *examiner) examineProbe(ctx context.Context, probe *config.Probe) Finding {
	env, err := e.resolver.InitialEnvironment()
	if err != nil {
		return missed(probe, excerpt.Line(err.Error()))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, questionTimeout, fmt.Errorf("no answer within %s", questionTimeout))
	defer cancel()
	result, err := e.run(ctx, probe.Command, env)
	switch {
	case errors.Is(err, remote.ErrCommandNotFound):
		return missed(probe, fmt.Sprintf("%s not found", result.Invocation.Arguments[0]))
	case err != nil && probe.AtLeast != "" && !probe.Required:
		return Finding{Name: probe.Name, Verdict: Warning, Seen: probeFailure(result, err), Impact: "rmctl cannot check this"}
	case err != nil:
		return missed(probe, probeFailure(result, err))
	}
	return JudgeProbe(probe, result)
}

// run runs a command of the definition in an environment without a job.
func (e *examiner) run(ctx context.Context, which *config.Command, env *attribute.Environment) (*command.Result, error) {
	request := command.Request{Command: which, Scope: config.Scope{Environment: env}, Outcomes: e.definition.Outcomes}
	invocation, err := request.Resolve()
	if err != nil {
		return &command.Result{ExitCode: -1}, err
	}
	return command.Run(ctx, e.connection, request, invocation)
}

// JudgeProbe returns the finding if the program of an x:probe succeeds and prints the
// standard output and error of a result.
func JudgeProbe(probe *config.Probe, result *command.Result) Finding {
	if probe.Version == nil {
		return Finding{Name: probe.Name, Verdict: Fine, Seen: cmp.Or(excerpt.First(result.Stdout), excerpt.First(result.Stderr), "there")}
	}
	whole, version, found := findVersion(probe.Version, result)
	whole = cmp.Or(excerpt.Line(whole), "there")
	switch {
	case !found:
		said := []string{excerpt.First(result.Stdout), excerpt.First(result.Stderr)}
		if result.ExitCode != 0 {
			slices.Reverse(said)
		}
		return missed(probe, "not found in: "+cmp.Or(said[0], said[1], "an empty answer"))
	case probe.AtLeast != "" && version != "" && compareVersions(version, probe.AtLeast) < 0:
		return missed(probe, fmt.Sprintf("%s, below %s", whole, probe.AtLeast))
	}
	return Finding{Name: probe.Name, Verdict: Fine, Seen: whole}
}

// missed returns the finding for a probe that failed.
func missed(probe *config.Probe, seen string) Finding {
	finding := Finding{Name: probe.Name, Verdict: Warning, Seen: seen, Impact: probe.Impact, Fix: probe.Fix}
	if probe.Required {
		finding.Verdict = Problem
	}
	return finding
}

// probeFailure returns on one line why a probe failed, from the program's output if possible.
func probeFailure(result *command.Result, err error) string {
	if said := cmp.Or(excerpt.First(result.Stderr), excerpt.First(result.Stdout)); said != "" {
		return said
	}
	return excerpt.Line(err.Error())
}

// compareVersions compares numbers separated by dots one by one; missing ones are 0, and text
// after the digits of each is ignored.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if order := cmp.Compare(versionNumber(as, i), versionNumber(bs, i)); order != 0 {
			return order
		}
	}
	return 0
}

func versionNumber(parts []string, at int) uint64 {
	if at >= len(parts) {
		return 0
	}
	digits := parts[at]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	number, _ := strconv.ParseUint(digits, 10, 64) // the largest number if it is too large, 0 without digits
	return number
}
