package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// newest is the name of the newest job on record.
const newest = "last"

// newestOf returns the tag of the newest job on record, of one target or of all.
func newestOf(ctx context.Context, store *jobstore.Store, target string) (tag string, err error) {
	errFound := errors.New("found")
	err = store.EachListed(ctx, jobstore.Filter{Target: target, All: true}, func(j *job.Job) error {
		if j.Phase == job.PhaseRejected {
			return nil
		}
		tag = j.Tag
		return errFound
	})
	if err == nil {
		err = fmt.Errorf("looking up the last job: %w", jobstore.ErrNotFound)
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	return tag, err
}

// A span is a range of ids, both ends included.
type span struct{ first, last uint64 }

// parseSpan reports whether a text is a range of ids.
func parseSpan(text string) (span, bool) {
	before, after, isCut := strings.Cut(text, "-")
	first, err := strconv.ParseUint(before, 10, 64)
	last, otherErr := strconv.ParseUint(after, 10, 64)
	return span{first, last}, isCut && err == nil && otherErr == nil && last < math.MaxUint64
}

// Range finds the recorded jobs of one target whose ids are in a range such as 1-50 or
// TARGET/1-50, ordered by id, and notes ids of the range that are not on record. If a job has
// the text as its id, it is no range.
func (f *Finder) Range(ctx context.Context, name string) (jobs []job.Job, isRange bool, err error) {
	target, text, err := f.Split(name)
	if err != nil {
		return nil, false, &unclearError{err}
	}
	within, isSpan := parseSpan(text)
	if !isSpan {
		return nil, false, nil
	}
	if _, err := f.RecordedBrief(ctx, name); !errors.Is(err, jobstore.ErrNotFound) {
		return nil, false, nil
	}
	if within.first > within.last {
		return nil, true, &unclearError{&NameError{fmt.Sprintf("range %s ends before it begins", text)}}
	}
	numbered, err := f.within(ctx, within, target, text)
	if err != nil {
		return nil, true, err
	}
	if missing := within.without(numbered); missing != "" {
		f.note("%s: not on record: %s", name, missing)
	}
	jobs = make([]job.Job, len(numbered))
	for i := range numbered {
		jobs[i] = numbered[i].Job
	}
	return jobs, true, nil
}

// A numbered is a job with the number that its id is.
type numbered struct {
	number uint64
	job.Job
}

// within finds the jobs of a range, in order. An error says that no job is on record, or that
// they are of several targets.
func (f *Finder) within(ctx context.Context, within span, target, text string) ([]numbered, error) {
	store, err := f.Store(ctx)
	if err != nil {
		return nil, err
	}
	var found []numbered
	known := map[uint64]bool{}
	err = store.EachListed(ctx, jobstore.Filter{Target: target, All: true}, func(j *job.Job) error {
		number, isIn := within.number(j)
		if !isIn {
			return nil
		}
		if len(found) > 0 && found[0].Target != j.Target {
			return &unclearError{&NameError{fmt.Sprintf("ambiguous jobs %s: on record for targets %s and %s\nuse %s/%s or %s/%s",
				text, found[0].Target, j.Target, found[0].Target, text, j.Target, text)}}
		}
		if !known[number] { // otherwise it is an earlier job with a reused id
			known[number] = true
			found = append(found, numbered{number, *j})
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("looking up jobs %s: %w", text, jobstore.ErrNotFound)
	}
	sorting.Stable(found, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	return found, err
}

// number returns the number that the id of a job is, or its short id, if it is in the range.
func (s span) number(j *job.Job) (number uint64, isIn bool) {
	for _, id := range []string{j.ID, j.ShortID} {
		if number, err := strconv.ParseUint(id, 10, 64); err == nil && s.first <= number && number <= s.last {
			return number, true
		}
	}
	return 0, false
}

// mostNamed is how many gaps of a range are named.
const mostNamed = 10

// without returns the numbers of a range that jobs, in order, do not have, in words.
func (s span) without(jobs []numbered) string {
	var gaps []string
	next := s.first
	add := func(until uint64) { // without it
		switch {
		case next+1 == until:
			gaps = append(gaps, strconv.FormatUint(next, 10))
		case next < until:
			gaps = append(gaps, fmt.Sprintf("%d-%d", next, until-1))
		}
	}
	for _, job := range jobs {
		add(job.number)
		next = job.number + 1
	}
	add(s.last + 1)
	if len(gaps) > mostNamed {
		gaps = append(gaps[:mostNamed], "…")
	}
	return strings.Join(gaps, ", ")
}
