package agentclient

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/model"
)

const (
	keptLines    = 100  // newest lines of the agent
	loggedLines  = 1000 // per session
	keptProblems = 200  // one for each kind and attribute
	longestLine  = 500  // characters
)

// A Report lists the anomalies of a session.
type Report struct {
	Lines    []string        // last lines of stderr and messages, printable
	Problems []model.Problem // what the model refused
	Oddities []Oddity        // in order of first occurrence
}

// An Oddity is a violation of the protocol by the agent.
type Oddity struct {
	What  string
	Count int
}

// The oddities.
const (
	oddEvent       = "events that cannot be parsed"
	oddUnknown     = "events of an unknown kind"
	oddTransaction = "answers to no command"
	oddBroken      = "malformed answers (OK with arguments)"
	oddElement     = "changes of unknown elements"
	oddProcess     = "processes of unknown jobs"
	oddPlaceholder = "elements below one that was not announced"
	oddState       = "unknown states"
	oddAttribute   = "attributes that cannot be used"
	oddAttributes  = "attributes beyond those that one kind of element may have"
	oddDefinition  = "attribute definitions that cannot be used"
	oddID          = "elements whose id cannot be used"
	oddDate        = "dates in an unknown format"
	oddOutput      = "output beyond the limit"
	oddLines       = "lines beyond the limit of the log"
	oddEnd         = "events stopped by the agent"
)

// A reporter collects a report and logs the agent's lines. Its methods may be called
// concurrently.
type reporter struct {
	log *slog.Logger

	mu     sync.Mutex
	report Report
	logged int
}

// count counts an oddity.
func (r *reporter) count(what string, times int) {
	if times == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.report.Oddities, func(o Oddity) bool { return o.What == what })
	if at < 0 {
		at = len(r.report.Oddities)
		r.report.Oddities = append(r.report.Oddities, Oddity{What: what})
	}
	r.report.Oddities[at].Count += times
}

// refused adds problems reported by the model.
func (r *reporter) refused(problems []model.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, problem := range problems {
		at := slices.IndexFunc(r.report.Problems, func(p model.Problem) bool {
			return p.What == problem.What && p.Of == problem.Of && p.Attribute == problem.Attribute
		})
		switch {
		case at >= 0:
			r.report.Problems[at].Count += problem.Count
		case len(r.report.Problems) < keptProblems:
			r.report.Problems = append(r.report.Problems, problem)
		}
	}
}

// line stores and logs a line of the agent.
func (r *reporter) line(text string) {
	text = plaintext.Clean(text, longestLine)
	if text == "" {
		return
	}
	r.mu.Lock()
	if len(r.report.Lines) == keptLines {
		r.report.Lines = slices.Delete(r.report.Lines, 0, 1)
	}
	r.report.Lines = append(r.report.Lines, text)
	r.logged++
	isLogged := r.logged <= loggedLines
	r.mu.Unlock()
	if !isLogged {
		r.count(oddLines, 1)
		return
	}
	r.log.Info("agent", "line", text)
}

// snapshot returns a copy of the report.
func (r *reporter) snapshot() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Report{slices.Clone(r.report.Lines), slices.Clone(r.report.Problems), slices.Clone(r.report.Oddities)}
}

// last returns the newest lines.
func (r *reporter) last(count int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.report.Lines[max(0, len(r.report.Lines)-count):])
}

// A lineWriter passes on its input line by line and truncates long lines.
type lineWriter struct {
	line func(string)

	mu      sync.Mutex
	pending []byte
}

// longestPending bounds the bytes of a line that a lineWriter keeps.
const longestPending = 4 * longestLine

// Write implements io.Writer.
func (w *lineWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, char := range text {
		if char == '\n' {
			w.flush()
		} else if len(w.pending) < longestPending {
			w.pending = append(w.pending, char)
		}
	}
	return len(text), nil
}

// end passes on the last line if it has no line break.
func (w *lineWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

func (w *lineWriter) flush() {
	if len(w.pending) > 0 {
		w.line(string(w.pending))
		w.pending = w.pending[:0]
	}
}
