package cases

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/job"
)

// compare returns in what a step came out otherwise than expected.
func (e Expect) compare(where string, got stepResult, err error) []Difference {
	job := got.job
	var found []Difference
	add := func(what string, expected, actual any) {
		found = append(found, Difference{Where: where + ": " + what, Expected: expected, Actual: actual})
	}
	for _, text := range []struct{ what, expected, actual string }{
		{"id", e.ID, job.ID}, {"state", e.State, primary(job)}, {"detail", string(e.Detail), string(job.Detail)}, {"native", e.Native, job.Native},
	} {
		if text.expected != "" && text.expected != text.actual {
			add(text.what, text.expected, orNothing(text.actual))
		}
	}
	for _, number := range []struct {
		what             string
		expected, actual *int
	}{{"exit", e.Exit, job.ExitCode}, {"signal", e.Signal, job.Signal}} {
		if actual := numberOrNothing(number.actual); number.expected != nil && actual != any(*number.expected) {
			add(number.what, *number.expected, actual)
		}
	}
	if e.Missing != job.Missing {
		add("missing", e.Missing, job.Missing)
	}
	if e.States != nil && !slices.Equal(e.States, got.states) {
		add("states", e.States, got.states)
	}
	if !strings.Contains(got.shown, e.Shown) {
		add("shown", e.Shown, orNothing(got.shown))
	}
	if e.Rows != nil {
		for _, difference := range differentRows(e.Rows, got.rows) {
			add(difference.Where, difference.Expected, difference.Actual)
		}
	}
	if message := messageOf(err); (message == "") != (e.Error == "") || !strings.Contains(message, e.Error) {
		add("error", orNothing(e.Error), orNothing(message))
	}
	return found
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// differentRows returns in what listed rows are other than expected.
func differentRows(expected, listed map[string]map[string]string) []Difference {
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		entries, isListed := listed[name]
		if !isListed {
			found = append(found, Difference{Where: "rows." + name, Expected: expected[name]})
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(expected[name])) {
			if expected[name][key] != entries[key] {
				found = append(found, Difference{Where: "rows." + name + "." + key, Expected: expected[name][key], Actual: orNothing(entries[key])})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if _, isExpected := expected[name]; !isExpected {
			found = append(found, Difference{Where: "rows." + name, Actual: listed[name]})
		}
	}
	return found
}

func primary(job job.Job) string {
	if job.Detail == "" {
		return ""
	}
	return string(job.Detail.Primary())
}

func orNothing(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func numberOrNothing(number *int) any {
	if number == nil {
		return nil
	}
	return *number
}

// renewed returns the expectation that fits what came out.
func (e Expect) renewed(got stepResult, err error) Expect {
	job := got.job
	renewed := Expect{
		ID: job.ID, State: primary(job), Detail: job.Detail, Native: job.Native,
		Exit: job.ExitCode, Signal: job.Signal, Missing: job.Missing, States: got.states, Rows: got.rows,
	}
	if job.ID == job.Tag {
		renewed.ID = "" // a tag that is another one in each run
	}
	if strings.Contains(got.shown, e.Shown) {
		renewed.Shown = e.Shown
	}
	if err != nil {
		renewed.Error = lastingPart(err)
		if e.Error != "" && strings.Contains(err.Error(), e.Error) {
			renewed.Error = e.Error
		}
	}
	return renewed
}

var definitionPosition = lazyregexp.New(`\S+:\d+:\d+: `)

// lastingPart returns the first line of an error's text, from after the places
// in a definition, which move with every edit.
func lastingPart(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	parts := definitionPosition.Split(line, -1)
	return parts[len(parts)-1]
}
