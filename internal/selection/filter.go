package selection

import (
	"fmt"
	"path"
	"strings"

	"github.com/rmctl/rmctl/job"
)

// A Filter chooses jobs by state and name. The zero value chooses all.
type Filter struct {
	states map[job.Detail]bool // nil for all
	name   string              // a glob; empty for all
}

// A FilterError reports an invalid job state or glob.
type FilterError struct{ reason string }

// Error implements error.
func (e *FilterError) Error() string { return e.reason }

// NewFilter returns a filter for jobs in one of the states whose names match a glob. A state
// is a word, a detail or a primary state, in any case; separate several with commas.
func NewFilter(states, name string) (Filter, error) {
	f := Filter{name: withoutSlashes(name)}
	if _, err := path.Match(f.name, ""); err != nil {
		return f, &FilterError{fmt.Sprintf("--name %q: invalid glob; use * for any text and ? for a character", name)}
	}
	if states == "" {
		return f, nil
	}
	f.states = map[job.Detail]bool{}
	for text := range strings.SplitSeq(states, ",") {
		named := detailsOf(strings.ToUpper(strings.TrimSpace(text)))
		if len(named) == 0 {
			return f, &FilterError{fmt.Sprintf("--state %q: unknown state; use one of %s", text, strings.Join(Words(), ", "))}
		}
		for _, detail := range named {
			f.states[detail] = true
		}
	}
	return f, nil
}

// detailsOf returns the details that a text names. COMPLETED is the word: jobs that ended well.
func detailsOf(text string) (named []job.Detail) {
	for _, names := range []func(job.Detail) string{job.Detail.Word, primary, asDetail} {
		for _, detail := range job.Details() {
			if names(detail) == text {
				named = append(named, detail)
			}
		}
		if named != nil {
			return named
		}
	}
	return nil
}

func asDetail(d job.Detail) string { return string(d) }
func primary(d job.Detail) string  { return string(d.Primary()) }

// Words returns the words for states, each once.
func Words() (all []string) {
	known := map[string]bool{}
	for _, detail := range job.Details() {
		if word := detail.Word(); !known[word] {
			known[word] = true
			all = append(all, word)
		}
	}
	return all
}

// IsAll reports whether the filter chooses every job.
func (f Filter) IsAll() bool { return f.states == nil && f.name == "" }

// Matches reports whether the filter chooses a job.
func (f Filter) Matches(j *job.Job) bool {
	if f.states != nil && !f.states[j.DetailOrUndetermined()] {
		return false
	}
	return f.matchesName(j)
}

func (f Filter) matchesName(j *job.Job) bool {
	if f.name == "" {
		return true
	}
	matches, err := path.Match(f.name, withoutSlashes(j.Name))
	return err == nil && matches
}

// withoutSlashes replaces slashes, which * would not match.
func withoutSlashes(text string) string { return strings.ReplaceAll(text, "/", "\x00") }
