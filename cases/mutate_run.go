package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/rms"
	"github.com/rmctl/rmctl/state"
)

// A MutantVerdict is what a definition made of a mutant.
type MutantVerdict string

// The verdicts on mutants.
const (
	MutantSame    MutantVerdict = "same"    // it gave the answer of the recorded output
	MutantRefused MutantVerdict = "refused" // it gave an error, or told nothing of the job
	MutantAstray  MutantVerdict = "astray"  // it gave another state, but none that ends a job: asking again mends that
	MutantFooled  MutantVerdict = "fooled"  // it gave another job id, or a wrong end of the job
)

// MutantVerdicts returns all verdicts in the order of reports.
func MutantVerdicts() []MutantVerdict {
	return []MutantVerdict{MutantSame, MutantRefused, MutantAstray, MutantFooled}
}

// A MutantResult tells what a definition made of one mutant.
type MutantResult struct {
	Mutant
	Verdict MutantVerdict
	Wrong   string // for people: what differs, with MutantAstray and MutantFooled
	// Case is the mutant as a case, which expects what the recorded output gives.
	// Its folder is the name below which a folder for mutants keeps it.
	Case *Case
	// Original is the folder of the case that was damaged.
	Original string
}

// A MutationReport tells how a definition stood up to mutants.
type MutationReport struct {
	Definition string                // its name
	Cases      int                   // that were damaged: those of commands that submit jobs or ask for their state
	Verdicts   map[MutantVerdict]int // how many mutants got each
	Deceptive  []MutantResult        // fooled and astray, in the order of the cases
	Errors     []error               // cases that could not be tried
}

// Mutants returns how many were tried.
func (r MutationReport) Mutants() int {
	sum := 0
	for _, count := range r.Verdicts {
		sum += count
	}
	return sum
}

// Score returns the share of mutants that did not fool the definition, in percent.
func (r MutationReport) Score() float64 {
	return percent(r.Mutants()-r.Verdicts[MutantFooled], r.Mutants())
}

// A Mutation damages cases.
type Mutation struct {
	Runner  *Runner
	PerCase int // mutants of a case at most, an equal share of each operator; 0 for DefaultPerCase
}

// DefaultPerCase is how many mutants of a case are tried unless a Mutation says otherwise.
const DefaultPerCase = 100

// Run damages the cases in the folders and reports, by definition, what came
// of it. Flows are left out: each of their commands can be a case of its own. The
// error is that of ctx.
func (m Mutation) Run(ctx context.Context, folders []string) ([]MutationReport, error) {
	tried := make([]mutated, len(folders))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(max(m.Runner.Parallel, 0), runtime.GOMAXPROCS(0)))
	for i, folder := range folders {
		if isFlow(folder) {
			continue
		}
		group.Go(func() error {
			tried[i] = m.mutate(ctx, folder)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return reported(tried), nil
}

// mutated is what came of the mutants of one case.
type mutated struct {
	definition *config.Definition // nil for a case that cannot be read or is not damaged
	verdicts   map[MutantVerdict]int
	deceptive  []MutantResult
	err        error
}

func reported(tried []mutated) []MutationReport {
	var reports []MutationReport
	for _, one := range tried {
		name := ""
		if one.definition != nil {
			name = one.definition.Name
		} else if one.err == nil {
			continue
		}
		at := slices.IndexFunc(reports, func(report MutationReport) bool { return report.Definition == name })
		if at < 0 {
			at = len(reports)
			reports = append(reports, MutationReport{Definition: name, Verdicts: map[MutantVerdict]int{}})
		}
		report := &reports[at]
		if one.err != nil {
			report.Errors = append(report.Errors, one.err)
			continue
		}
		report.Cases++
		for verdict, count := range one.verdicts {
			report.Verdicts[verdict] += count
		}
		report.Deceptive = append(report.Deceptive, one.deceptive...)
	}
	slices.SortStableFunc(reports, func(a, b MutationReport) int { return cmp.Compare(a.Definition, b.Definition) })
	return reports
}

// mutate tries the mutants of one case.
func (m Mutation) mutate(ctx context.Context, folder string) (result mutated) {
	r := m.Runner
	c, err := Read(folder)
	if err != nil {
		return mutated{err: err}
	}
	definition, err := r.Load(c.Definition, c.Folder)
	if err != nil {
		return mutated{err: fmt.Errorf("%s: definition %q: %w", filepath.Join(c.Folder, CaseFile), c.Definition, err)}
	}
	result.definition = definition
	selector, err := config.ParseSelector(c.Command)
	if err != nil {
		return mutated{definition: definition, err: fmt.Errorf("%s: %w", filepath.Join(c.Folder, CaseFile), err)}
	}
	purpose := purposeOf(selector.Element)
	if purpose == tellsNothing {
		return mutated{}
	}
	evaluation := Evaluation{Definition: definition, Types: r.Types, Expressions: &r.expressions}
	original, err := evaluation.Run(ctx, c)
	if err != nil {
		return mutated{definition: definition, err: fmt.Errorf("%s: %w", filepath.Join(c.Folder, CaseFile), err)}
	}
	right := purpose.understood(original, c.Exit)
	result.verdicts = map[MutantVerdict]int{}
	for number, mutant := range chosenMutants(Mutants(Output{Stdout: c.Stdout, Stderr: c.Stderr, Exit: c.Exit}), cmp.Or(m.PerCase, DefaultPerCase)) {
		damaged := *c
		damaged.Stdout, damaged.Stderr, damaged.Exit = mutant.Output.Stdout, mutant.Output.Stderr, mutant.Output.Exit
		answer, err := evaluation.Run(ctx, &damaged)
		if err != nil {
			result.err = fmt.Errorf("%s: mutant %s, %s: %w", filepath.Join(c.Folder, CaseFile), mutant.Operator, mutant.Place, err)
			return result
		}
		verdict, wrong := judge(right, purpose.understood(answer, damaged.Exit))
		result.verdicts[verdict]++
		if verdict != MutantFooled && verdict != MutantAstray {
			continue
		}
		damaged.Folder = filepath.Join(filepath.Base(c.Folder), fmt.Sprintf("%s-%d", mutant.Operator, number+1))
		damaged.Description = fmt.Sprintf("mutant of %s: %s, %s", filepath.Base(c.Folder), mutant.Operator, mutant.Place)
		damaged.Definition = r.definitionOutside(c)
		expected := original.reduced(c.Expected)
		damaged.Expected = &expected
		result.deceptive = append(result.deceptive, MutantResult{Mutant: mutant, Verdict: verdict, Wrong: wrong, Case: &damaged, Original: c.Folder})
	}
	return result
}

// definitionOutside names the definition of a case so that a copy of the case
// elsewhere finds it.
func (r *Runner) definitionOutside(c *Case) string {
	name, folder := c.Definition, c.Folder
	if r.Definition != "" {
		name, folder = r.Definition, ""
	}
	if _, isShipped := rms.Source(name); isShipped || filepath.IsAbs(name) || !strings.HasSuffix(name, ".xml") {
		return name
	}
	absolute, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		return name // without a working directory nothing relative can be found anyway
	}
	return absolute
}

// A commandPurpose is what a command finds out of jobs.
type commandPurpose int

const (
	tellsNothing commandPurpose = iota
	givesID
	findsID // that none is given is an answer, too
	givesState
)

func purposeOf(element config.CommandElement) commandPurpose {
	switch {
	case element.IsSubmit():
		return givesID
	case element == config.FindJob:
		return findsID
	case element == config.GetJobStatus, element == config.Fallback:
		return givesState
	}
	return tellsNothing
}

// An understanding is what a controller takes from a command: of a submission
// that failed no id, of a query the state even if it failed otherwise.
type understanding struct {
	id, shortID, exitCode string
	detail                state.Detail
	absent                bool // there is no such job
}

// understood returns what a controller takes from an answer.
func (p commandPurpose) understood(answer *Answer, exit int) understanding {
	var u understanding
	if job := answer.Job; job != nil {
		u = understanding{id: job.ID, shortID: job.ShortID, detail: job.Detail}
	}
	if u.detail == state.Undetermined {
		u.detail = ""
	}
	if code := answer.Attributes["job.exitCode"].Value(); code != nil {
		u.exitCode = fmt.Sprint(code)
	}
	switch p {
	case findsID:
		return u.ofSearch(answer)
	case givesID:
		return u.ofSubmission(answer, exit)
	}
	if u.detail == "" && answer.Status.Outcome == config.Finished {
		u.detail = state.Completed
	}
	return u
}

// ofSearch returns what counts of the answer to a search for a job.
func (u understanding) ofSearch(answer *Answer) understanding {
	switch {
	case answer.Status.Outcome == config.NotFound || answer.Err == nil && u.id == "":
		return understanding{absent: true}
	case answer.Err != nil:
		return understanding{}
	}
	return u
}

// ofSubmission returns what counts of the answer to a submission.
func (u understanding) ofSubmission(answer *Answer, exit int) understanding {
	var failed *command.Error
	isAmbiguous := exit == 0 && errors.As(answer.Err, &failed) && failed.Ambiguous()
	if u.id == "" || answer.Err != nil && !isAmbiguous {
		return understanding{}
	}
	return u
}

// judge compares what was understood of a mutant with what is right.
func judge(right, got understanding) (verdict MutantVerdict, wrong string) {
	if wrong := got.mistake(right); wrong != "" {
		return MutantFooled, wrong
	}
	isEmpty := got.detail == "" && got.id == ""
	isLost := right.detail != "" || right.id != "" || right.absent && !got.absent
	switch {
	case isEmpty && isLost:
		return MutantRefused, ""
	case got.detail != right.detail:
		return MutantAstray, fmt.Sprintf("%s in place of %s", cmp.Or(string(got.detail), "no state"), cmp.Or(string(right.detail), "no state"))
	case got.detail.Ended() && got.exitCode != "" && got.exitCode != right.exitCode:
		return MutantAstray, fmt.Sprintf("exit code %s in place of %s", got.exitCode, cmp.Or(right.exitCode, "none"))
	}
	return MutantSame, ""
}

// mistake describes what a controller would act on and must not: an absence, an id or
// an end that is not the right one. It is empty if there is nothing.
func (u understanding) mistake(right understanding) string {
	switch {
	case u.absent && !right.absent:
		return fmt.Sprintf("no such job in place of %q", right.id)
	case u.id != "" && u.id != right.id:
		return fmt.Sprintf("job id %q in place of %q", u.id, right.id)
	case u.shortID != "" && u.shortID != right.shortID:
		return fmt.Sprintf("short job id %q in place of %q", u.shortID, right.shortID)
	case u.detail.Ended() && u.detail != right.detail:
		return fmt.Sprintf("%s in place of %s", u.detail, cmp.Or(string(right.detail), "no state"))
	}
	return ""
}
