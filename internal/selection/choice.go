package selection

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A Choice selects the jobs of a command.
type Choice struct {
	// Names are names of jobs and ranges of ids. Without them the jobs are those on record.
	Names []string
	Filter

	// Suits reports whether the command is for a job that is not named by itself; nil for all.
	Suits func(*job.Job) bool
	// Unsuited says what the other jobs of a range have in common, such as "have ended". If it
	// is empty, all jobs of a range are chosen.
	Unsuited string
	// Open leaves out ended jobs unless they are named.
	Open bool
	// Fresh has the states of jobs queried before they are chosen, and no older answer counts.
	// Without it a filter by state takes answers that are shared.
	Fresh bool
}

// A Chosen is a job that was chosen.
type Chosen struct {
	Name    string // as a user wrote it, or the tag of the submission
	IsNamed bool   // by itself
	key     string // that all names of the job share
}

// An unclearError means that a name could not be looked up on record.
type unclearError struct{ err error }

// Error returns the text of the cause.
func (e *unclearError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *unclearError) Unwrap() error { return e.err }

func isUnclear(err error) bool {
	_, is := errors.AsType[*unclearError](err)
	return is
}

// Choose returns the chosen jobs without duplicates: named ones in the order of their names,
// all others newest first. With an error it returns the jobs whose states could be queried.
func (f *Finder) Choose(ctx context.Context, choice Choice) ([]Chosen, error) {
	if len(choice.Names) == 0 {
		jobs, err := f.onRecord(ctx, choice)
		return chosenOf(jobs), err
	}
	var chosen []Chosen
	var problems []error
	known := map[string]bool{}
	for _, name := range choice.Names {
		some, err := f.named(ctx, name, choice)
		if isUnclear(err) || ctx.Err() != nil {
			return nil, err
		}
		problems = append(problems, err)
		for _, one := range some {
			if !known[one.key] {
				chosen = append(chosen, one)
			}
			known[one.key] = true
		}
	}
	return chosen, errors.Join(problems...)
}

// ChooseRecorded returns the chosen jobs, complete. All must be on record.
func (f *Finder) ChooseRecorded(ctx context.Context, choice Choice) ([]job.Job, error) {
	chosen, err := f.Choose(ctx, choice)
	jobs := make([]job.Job, 0, len(chosen))
	for _, one := range chosen {
		known, err := f.Recorded(ctx, one.Name)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, known)
	}
	return jobs, err
}

func chosenOf(jobs []job.Job) []Chosen {
	chosen := make([]Chosen, len(jobs))
	for i := range jobs {
		chosen[i] = Chosen{Name: jobs[i].Tag, key: jobs[i].Tag}
	}
	return chosen
}

// named chooses by one of the names.
func (f *Finder) named(ctx context.Context, name string, choice Choice) ([]Chosen, error) {
	whole, isRange, err := f.Range(ctx, name)
	if err != nil {
		return nil, err
	}
	if isRange {
		jobs, err := f.suitable(ctx, whole, choice, choice.Unsuited == "")
		if left := len(whole) - len(jobs); choice.IsAll() && err == nil && left > 0 {
			f.note("%s: skipped jobs that %s: %d", name, choice.Unsuited, left)
		}
		return chosenOf(jobs), err
	}
	if choice.IsAll() {
		known, err := f.RecordedBrief(ctx, name)
		if err != nil && !errors.Is(err, jobstore.ErrNotFound) {
			return nil, &unclearError{err}
		}
		return []Chosen{{name, true, cmp.Or(known.Tag, name)}}, nil
	}
	one, err := f.jobToShow(ctx, name)
	if err != nil {
		return nil, err
	}
	all := []Handle{one}
	if err := Refresh(ctx, all, choice.Fresh); err != nil || !choice.Matches(&all[0].Job) {
		return nil, err
	}
	return []Chosen{{name, true, cmp.Or(one.Tag, name)}}, nil
}

// onRecord chooses among all jobs on record.
func (f *Finder) onRecord(ctx context.Context, choice Choice) ([]job.Job, error) {
	store, err := f.Store(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.KnowsTarget(ctx, store); err != nil {
		return nil, err
	}
	var jobs []job.Job
	err = store.EachListed(ctx, jobstore.Filter{Target: f.Target, All: !choice.Open}, func(j *job.Job) error {
		if j.Phase != job.PhaseRejected && choice.matchesName(j) && (choice.Fresh || choice.isSuited(j)) {
			jobs = append(jobs, *j)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.suitable(ctx, jobs, choice, false)
}

func (c *Choice) isSuited(j *job.Job) bool { return c.Suits == nil || c.Suits(j) }

// suitable returns the recorded jobs that are suitable, or any, and match the filter. If
// states must be queried and cannot be, it leaves those jobs out with an error.
func (f *Finder) suitable(ctx context.Context, jobs []job.Job, choice Choice, any bool) ([]job.Job, error) {
	var err error
	if choice.Fresh || choice.states != nil {
		jobs, err = f.queried(ctx, jobs, choice.Fresh)
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j job.Job) bool {
		return !any && !choice.isSuited(&j) || !choice.Matches(&j)
	}), err
}

// queried returns recorded jobs with their current states, without those that cannot be
// queried.
func (f *Finder) queried(ctx context.Context, jobs []job.Job, fresh bool) ([]job.Job, error) {
	store, err := f.Store(ctx)
	if err != nil {
		return nil, err
	}
	tags := make([]string, len(jobs))
	for i := range jobs {
		tags[i] = jobs[i].Tag
	}
	complete, err := store.ByTags(ctx, tags)
	if err != nil {
		return nil, err
	}
	open := make([]job.Job, 0, len(jobs))
	for i := range jobs {
		if !jobs[i].Detail.Ended() {
			open = append(open, complete[jobs[i].Tag])
		}
	}
	handles, err := f.WithControllers(ctx, open)
	failed, queryErr := refresh(ctx, handles, fresh)
	now := make(map[string]job.Job, len(handles))
	for _, handle := range handles {
		if handle.Controller != nil && !failed[handle.Controller] {
			now[handle.Tag] = handle.Job
		}
	}
	left := make([]job.Job, 0, len(jobs))
	for _, known := range jobs {
		if queried, isQueried := now[known.Tag]; isQueried {
			left = append(left, queried)
		} else if known.Detail.Ended() {
			left = append(left, known)
		}
	}
	return left, errors.Join(err, queryErr)
}
