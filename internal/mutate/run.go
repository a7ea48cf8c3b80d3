// Package mutate damages recorded outputs as sites and failures do, and reports what
// definitions make of them.
package mutate

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

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/rms"
)

// A Verdict is what a definition made of a mutant.
type Verdict string

// The verdicts on mutants.
const (
	Same    Verdict = "same"    // the answer of the recorded output
	Refused Verdict = "refused" // an error, or nothing about the job
	astray  Verdict = "astray"  // another state, but not an end: the next query corrects it
	Fooled  Verdict = "fooled"  // another job id, or a wrong end of the job
)

// Verdicts returns all verdicts in the order of reports.
func Verdicts() []Verdict {
	return []Verdict{Same, Refused, astray, Fooled}
}

// A Result is what a definition made of one mutant.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Original is the folder of the case that was damaged.
	Original string `json:"case"`
	Operator string `json:"operator"` // as docs/prove/break.md names it
	Place    string `json:"place"`    // damaged part of the output, for people
	Wrong    string `json:"wrong"`    // for people: what differs
	// Reproduce is a command that reproduces it; the caller of Run sets it.
	Reproduce string `json:"reproduce"`
	// Case is the mutant as a case that expects the result of the recorded output. Its
	// folder is relative to a folder for mutants.
	Case *cases.Case `json:"-"`
}

// A Report says how a definition handled its mutants, as rmctl test --json prints it.
type Report struct {
	Definition string          `json:"definition"`       // its name
	Cases      int             `json:"cases"`            // damaged ones: of submissions, queries and listings
	Mutants    int             `json:"mutants"`          // that were tried
	Score      float64         `json:"score"`            // percentage that did not fool the definition
	Verdicts   map[Verdict]int `json:"verdicts"`         // how many mutants got each
	Deceptive  []Result        `json:"deceptive"`        // fooled and astray, in the order of the cases
	Errors     []string        `json:"errors,omitempty"` // why cases could not run
}

// count adds the results of one case.
func (r *Report) count(one mutated) {
	if one.err != nil {
		r.Errors = append(r.Errors, one.err.Error())
		return
	}
	r.Cases++
	for verdict, count := range one.verdicts {
		r.Verdicts[verdict] += count
		r.Mutants += count
	}
	if r.Mutants > 0 {
		r.Score = 100 * float64(r.Mutants-r.Verdicts[Fooled]) / float64(r.Mutants)
	}
	r.Deceptive = append(r.Deceptive, one.deceptive...)
}

// DefaultPerCase is the default number of mutants of a case.
const DefaultPerCase = 100

// Run damages the cases in the folders and reports results by definition. It tries at most
// perCase mutants of each case, an equal share of each operator; 0 means DefaultPerCase.
// It skips flows: each of their commands can be a case. The error is that of ctx.
func Run(ctx context.Context, runner *cases.Runner, perCase int, folders []string) ([]Report, error) {
	tried := make([]mutated, len(folders))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(max(runner.Parallel, 0), runtime.GOMAXPROCS(0)))
	for i, folder := range folders {
		if cases.IsFlow(folder) {
			continue
		}
		group.Go(func() error {
			tried[i] = mutateCase(ctx, runner, cmp.Or(perCase, DefaultPerCase), folder)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return reported(tried), nil
}

// mutated contains the results of one case.
type mutated struct {
	definition *config.Definition // nil for a case that cannot be read or is not damaged
	verdicts   map[Verdict]int
	deceptive  []Result
	err        error
}

func reported(tried []mutated) []Report {
	var reports []Report
	for _, one := range tried {
		name := ""
		if one.definition != nil {
			name = one.definition.Name
		} else if one.err == nil {
			continue
		}
		at := slices.IndexFunc(reports, func(report Report) bool { return report.Definition == name })
		if at < 0 {
			at = len(reports)
			reports = append(reports, Report{Definition: name, Score: 100, Verdicts: map[Verdict]int{}, Deceptive: []Result{}})
		}
		reports[at].count(one)
	}
	sorting.Stable(reports, func(a, b Report) int { return cmp.Compare(a.Definition, b.Definition) })
	return reports
}

// mutateCase tries the mutants of one case.
func mutateCase(ctx context.Context, r *cases.Runner, perCase int, folder string) (result mutated) {
	c, err := cases.Read(folder)
	if err != nil {
		return mutated{err: err}
	}
	original, err := r.Evaluate(ctx, c)
	result.definition, _ = r.Load(c.Definition, c.Folder) // whose error Evaluate has met before
	if err != nil {
		return mutated{definition: result.definition, err: err}
	}
	command, _, err := result.definition.Select(c.Command)
	if err != nil {
		return mutated{definition: result.definition, err: err}
	}
	purpose := purposeOf(command.Purpose())
	if purpose == noPurpose {
		return mutated{}
	}
	right := purpose.understood(original, c.Exit)
	result.verdicts = map[Verdict]int{}
	for number, mutant := range chosenMutants(mutants(output{Stdout: c.Stdout, Stderr: c.Stderr, Exit: c.Exit}), perCase) {
		damaged := *c
		damaged.Stdout, damaged.Stderr, damaged.Exit = mutant.Output.Stdout, mutant.Output.Stderr, mutant.Output.Exit
		answer, err := r.Evaluate(ctx, &damaged)
		if err != nil {
			result.err = fmt.Errorf("mutant %s, %s: %w", mutant.Operator, mutant.Place, err)
			return result
		}
		got := purpose.understood(answer, damaged.Exit)
		verdict, wrong := judge(right, got)
		if verdict == Fooled && got.isNamed(right, c.Mutants) {
			verdict = astray
		}
		result.verdicts[verdict]++
		if verdict != Fooled && verdict != astray {
			continue
		}
		damaged.Folder = filepath.Join(filepath.Base(c.Folder), fmt.Sprintf("%s-%d", mutant.Operator, number+1))
		damaged.Description = fmt.Sprintf("mutant of %s: %s, %s", filepath.Base(c.Folder), mutant.Operator, mutant.Place)
		damaged.Definition = definitionOutside(r, c)
		expected := original.Reduced(c.Expected)
		damaged.Expected = &expected
		result.deceptive = append(result.deceptive, Result{Operator: mutant.Operator, Place: mutant.Place, Verdict: verdict, Wrong: wrong, Case: &damaged, Original: c.Folder})
	}
	return result
}

// definitionOutside returns the definition of a case as a copy of the case elsewhere must
// name it.
func definitionOutside(r *cases.Runner, c *cases.Case) string {
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

// A commandPurpose is what a command reports about jobs.
type commandPurpose int

const (
	noPurpose commandPurpose = iota
	givesID
	findsID // that none is given is an answer, too
	givesState
	givesStates // of many jobs
)

func purposeOf(element config.CommandElement) commandPurpose {
	switch {
	case element.IsSubmit():
		return givesID
	case element == config.FindJob:
		return findsID
	case element == config.GetJobStatus:
		return givesState
	case element == config.ListJobs, element == config.ListEnded:
		return givesStates
	}
	return noPurpose
}

// An understanding is what a controller accepts from a command: from a failed submission
// no id, from a query the state even if it failed otherwise.
type understanding struct {
	id, shortID, exitCode string
	detail                job.Detail
	absent                bool                  // there is no such job
	ends                  map[string]job.Detail // of the jobs of a listing that have ended
	listed                int                   // jobs of a listing
}

// understood returns what a controller accepts from an answer.
func (p commandPurpose) understood(answer *cases.Answer, exit int) understanding {
	var u understanding
	if job := answer.Job; job != nil {
		u = understanding{id: job.ID, shortID: job.ShortID, detail: job.Detail}
	}
	if u.detail == job.Undetermined {
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
	case givesStates:
		return ofListing(answer)
	}
	if u.detail == "" && answer.Status.Outcome == config.Finished {
		u.detail = job.Completed
	}
	return u
}

// ofListing returns what counts of a listing: nothing if it failed.
func ofListing(answer *cases.Answer) understanding {
	u := understanding{ends: map[string]job.Detail{}}
	if answer.Err != nil {
		return u
	}
	u.listed = len(answer.Discovered)
	for id, row := range answer.Discovered {
		facts, _ := row.Value().(map[string]any)
		if detail, _ := facts["state"].(string); job.Detail(detail).Ended() {
			u.ends[id] = job.Detail(detail)
		}
	}
	return u
}

// ofSearch returns what counts of the answer to a search for a job.
func (u understanding) ofSearch(answer *cases.Answer) understanding {
	switch {
	case answer.HasReader && u.id == "":
		// A listing without some rows is valid by itself; only the exit code shows that it
		// is incomplete.
		return understanding{}
	case answer.Status.Outcome == config.NotFound || answer.Err == nil && u.id == "":
		return understanding{absent: true}
	case answer.Err != nil:
		return understanding{}
	}
	return u
}

// ofSubmission returns what counts of the answer to a submission.
func (u understanding) ofSubmission(answer *cases.Answer, exit int) understanding {
	var failed *command.Error
	isAmbiguous := exit == 0 && errors.As(answer.Err, &failed) && failed.Ambiguous()
	if u.id == "" || answer.Err != nil && !isAmbiguous {
		return understanding{}
	}
	return u
}

// judge compares the understanding of a mutant with the right one.
func judge(right, got understanding) (verdict Verdict, wrong string) {
	if wrong := got.mistake(right); wrong != "" {
		return Fooled, wrong
	}
	isEmpty := got.detail == "" && got.id == "" && (right.listed == 0 || got.listed < right.listed)
	isLost := right.listed > 0 || right.detail != "" || right.id != "" || right.absent && !got.absent
	switch {
	case isEmpty && isLost:
		return Refused, ""
	case got.detail != right.detail:
		return astray, fmt.Sprintf("%s instead of %s", cmp.Or(string(got.detail), "no state"), cmp.Or(string(right.detail), "no state"))
	case got.detail.Ended() && got.exitCode != "" && got.exitCode != right.exitCode:
		return astray, fmt.Sprintf("exit code %s instead of %s", got.exitCode, cmp.Or(right.exitCode, "none"))
	}
	return Same, ""
}

// endOfOther describes a row of a listing with an end that the job does not have.
func (u understanding) endOfOther(right understanding) string {
	for _, id := range u.wrongEnds(right) {
		return fmt.Sprintf("job %q is %s instead of %s", id, u.ends[id], cmp.Or(string(right.ends[id]), "no end"))
	}
	return ""
}

// wrongEnds returns the jobs of a listing with a wrong end. It skips wrong ids, which
// belong to no recorded job.
func (u understanding) wrongEnds(right understanding) []string {
	var wrong []string
	for id, end := range u.ends {
		if right.ends[id] != end {
			wrong = append(wrong, id)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// isNamed reports whether a case permits this result of damaged output: the state or the
// id of its job, or all jobs of a listing with another end.
func (u understanding) isNamed(right understanding, named map[string]string) bool {
	if wrong := u.wrongEnds(right); len(wrong) > 0 {
		return !slices.ContainsFunc(wrong, func(id string) bool { return named[id] == "" })
	}
	return cmp.Or(named[u.id], named[string(u.detail)]) != ""
}

// mistake describes a wrong absence, id or end that a controller would act on. It is empty
// without one.
func (u understanding) mistake(right understanding) string {
	switch {
	case u.absent && !right.absent:
		return fmt.Sprintf("no such job instead of %q", right.id)
	case u.id != "" && u.id != right.id:
		return fmt.Sprintf("job id %q instead of %q", u.id, right.id)
	case u.shortID != "" && u.shortID != right.shortID:
		return fmt.Sprintf("short job id %q instead of %q", u.shortID, right.shortID)
	case u.endOfOther(right) != "":
		return u.endOfOther(right)
	case u.detail.Ended() && u.detail != right.detail:
		return fmt.Sprintf("%s instead of %s", u.detail, cmp.Or(string(right.detail), "no state"))
	}
	return ""
}
