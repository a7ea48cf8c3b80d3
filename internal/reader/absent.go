package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/quantity"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/internal/xpath"
	"github.com/rmctl/rmctl/job"
)

// An Absence says which submissions did not become a job, as proved by an output that lacks them.
type Absence struct {
	Within time.Duration // only of submissions younger than this; 0 without a limit
	Since  time.Time     // only of submissions after this; zero without a limit
	Doubt  string        // why it proves nothing; empty if it proves something
	// Candidates are the ids of jobs that do not name their submission and may be the missing job.
	Candidates []string

	State  job.Detail    // of a job that is still absent after After; may be empty
	After  time.Duration // delay before State applies
	Reason string        // explains the state
}

// String describes the absence.
func (a *Absence) String() string {
	switch {
	case a.Doubt != "":
		return "proves nothing: " + a.Doubt
	case len(a.Candidates) > 0:
		return "proves that there is no job, unless it is one of " + strings.Join(a.Candidates, " ")
	case a.State != "":
		return fmt.Sprintf("means %s for a job that has been missing for %s and %s", a.State, a.After, afterAbsence)
	case a.Within > 0:
		return fmt.Sprintf("proves that there is no job younger than %s", a.Within)
	case !a.Since.IsZero():
		return "proves that there is no job since " + a.Since.Format(time.DateTime)
	}
	return "proves that there is no job"
}

// Proves reports whether a submission made at a time did not become a job.
func (a *Absence) Proves(submitted, now time.Time) bool {
	return a != nil && a.Doubt == "" && (a.Within == 0 || now.Sub(submitted) < a.Within) && !submitted.Before(a.Since)
}

// afterAbsence is added to the delay in the definition, since schedulers may be late.
const afterAbsence = 10 * time.Minute

// StateOf returns the state of a job that has been missing for some time, false if it has none yet. A job
// that rmctl canceled gets no extra time.
func (a *Absence) StateOf(missing time.Duration, isCanceled bool) (job.Detail, bool) {
	if a == nil || a.Doubt != "" || a.State == "" {
		return "", false
	}
	if isCanceled && a.State == job.Canceled {
		return a.State, missing >= a.After
	}
	return a.State, missing >= a.After+afterAbsence
}

// absence evaluates x:absent for an output that lacks the job. It returns nil without x:absent.
func (r *Reader) absence() (*Absence, error) {
	defined := r.definition.Absent
	if defined == nil {
		return nil, nil
	}
	record := r.last
	if record == nil {
		record = &Record{Root: &xpath.Node{Name: "record", Children: slices.Clip(r.lastFields)}}
		for _, field := range r.lastFields {
			field.Parent = record.Root
		}
		if err := r.joinAll(record); err != nil {
			return nil, err
		}
	}
	on := r.evaluation(record)
	found := &Absence{Reason: defined.Reason}
	if state, isState := job.ParseDetail(defined.Is); isState {
		found.State = state
	}
	if r.answer.rejections > 0 || r.answer.damage != nil {
		found.Doubt = "a part of the output is damaged"
	}
	if r.isSilent() && r.definition.Sources[0].Total.IsSet() {
		found.Doubt = silence
	}
	var err error
	if found.Candidates, err = newExpression(defined.Candidates).texts(on); err != nil {
		return nil, err
	}
	if defined.Unless.IsSet() {
		isDoubtful, err := newExpression(defined.Unless).isTrue(on)
		if err != nil {
			return nil, err
		}
		if isDoubtful {
			found.Doubt = "the unless condition is true: " + defined.Unless.Text
		}
	}
	return found, found.limit(defined, on)
}

// lengthOfTime returns the seconds of a duration such as 30d, of an expression, or of the first of
// several fields and durations with a value; empty if none has one.
func lengthOfTime(of config.XPath, on *evaluation) (string, error) {
	parts := []string{of.Text}
	if fieldsOrLengths.MatchString(of.Text) {
		parts = strings.Fields(of.Text)
	}
	for _, part := range parts {
		if length, isLength := quantity.Seconds(part, ""); isLength {
			return length, nil
		}
		text, err := newExpression(config.XPath{Position: of.Position, Text: part}).text(on)
		if err != nil {
			return "", err
		}
		if length, isLength := quantity.Seconds(text, ""); isLength {
			return length, nil
		}
	}
	return "", nil
}

// fieldsOrLengths matches names of fields and durations separated by blanks.
var fieldsOrLengths = lazyregexp.New(`^[A-Za-z_][\w.-]*(?: +[\w.-]+)+$`)

// limit sets the limits of an absence. A limit missing from the output causes a doubt.
func (a *Absence) limit(defined *config.Absent, on *evaluation) error {
	if defined.Within.IsSet() {
		length, err := lengthOfTime(defined.Within, on)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(length)
		if a.Within = time.Duration(number) * time.Second; err != nil || number == 0 {
			a.Doubt = "the output does not say how long it knows jobs"
		}
	}
	if defined.After.IsSet() {
		length, err := lengthOfTime(defined.After, on)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(length)
		if a.After = time.Duration(number) * time.Second; err != nil {
			a.State = "" // without a delay the state never applies
		}
	}
	if defined.Since.IsSet() {
		text, err := newExpression(defined.Since).text(on)
		if err != nil {
			return err
		}
		var isTime bool
		if a.Since, isTime = timezone.ParseTime(text, time.Local); !isTime {
			a.Doubt = "the output does not say since when it knows jobs"
		}
	}
	return nil
}
