package cases

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/pelletier/go-toml/v2"

	"github.com/rmctl/rmctl/job"
)

// A Flow is a sequence of steps of a user and the recorded scheduler commands.
type Flow struct {
	Folder      string `toml:"-"`
	Description string `toml:"description,omitempty"`
	Definition  string `toml:"definition,omitempty"` // as in a Case
	Place       Place  `toml:"place,omitzero"`
	Steps       []Step `toml:"steps,omitempty"`

	Commands []*Case `toml:"-"` // in order, each in a folder of the flow
}

// What a step may do. doSubmit, doRun, doStart, doStop, doAction, doQueues and doNodes need no job.
const (
	doSubmit = "submit"
	doRun    = "run" // an interactive job, to the end of its process
	doStatus = "status"
	doWait   = "wait"
	doStart  = "start"
	doStop   = "stop"
	doAction = "action"
	doQueues = "queues"
	doNodes  = "nodes"
)

// stepKinds are what a step may do. Those without a name above are operations of package control.
var stepKinds = []string{doSubmit, doRun, doStatus, doWait, "cancel", "hold", "release", "suspend", "resume", doStart, doStop, doAction, doQueues, doNodes}

// A Step is one action of a user.
type Step struct {
	Do string `toml:"do"` // submit, run, status, wait, …, as docs/prove/cases.md lists them
	// Job is the id of the job to act on; empty for the one that was submitted last. Flows
	// can only query jobs that they did not submit.
	Job   string     `toml:"job,omitempty"`
	After duration   `toml:"after,omitzero"`  // time that passes before the step
	Until job.Detail `toml:"until,omitempty"` // for doWait: the state to wait for; empty for the end
	Name  string     `toml:"name,omitempty"`  // for doAction

	// For doSubmit and doRun; the default program is "true". The tag is one in the
	// recorded answers.
	Submission job.Submission `toml:"-"`

	Expect Expect `toml:"expect,inline,omitempty"`
}

// keysOfSteps are those of a step in a file, but for its submission and tag.
var keysOfSteps = []string{"do", "job", "after", "until", "name", "expect"}

// Expect is the expected result of a step. Fields that are not set are ignored, except
// Error: unexpected errors fail the step.
type Expect struct {
	ID     string     `toml:"id,omitempty"`
	State  string     `toml:"state,omitempty"` // the primary state
	Detail job.Detail `toml:"detail,omitempty"`
	Native string     `toml:"native,omitempty"` // the scheduler's own word
	Exit   *int       `toml:"exit,omitempty"`   // of the job, not of a command
	Signal *int       `toml:"signal,omitempty"`
	// Missing means that the scheduler has forgotten the job.
	Missing bool   `toml:"missing,omitempty"`
	Error   string `toml:"error,omitempty"` // a part of the error's text

	States []job.Detail `toml:"states,omitempty"` // of doRun: all states until the process ends
	Shown  string       `toml:"shown,omitempty"`  // of doRun: a part of the output
	// Rows are the results of doQueues and doNodes: each queue or node by name, with the
	// entries to compare. They must be complete.
	Rows map[string]map[string]string `toml:"rows,omitempty"`
}

// isEmpty reports whether nothing is expected but that there is no error.
func (e Expect) isEmpty() bool { return reflect.ValueOf(e).IsZero() }

// A duration is written like 90s or 1h30m.
type duration time.Duration

// MarshalText writes the duration.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration, which must not be negative.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	if parsed < 0 {
		return fmt.Errorf("%s is negative", parsed)
	}
	*d = duration(parsed)
	return nil
}

// readFlow reads the flow in a folder. The error is a *readError.
func readFlow(folder string) (*Flow, error) {
	path := filepath.Join(folder, flowFile)
	f, err := readFlowFile(path)
	if err != nil {
		return nil, err
	}
	f.Folder = folder
	if len(f.Steps) == 0 {
		return nil, &readError{path, errors.New("it has no steps")}
	}
	for i, step := range f.Steps {
		if !slices.Contains(stepKinds, step.Do) {
			return nil, &readError{path, fmt.Errorf("step %d: unknown do %q; expected one of %v", i+1, step.Do, stepKinds)}
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &readError{folder, withoutPath(err)}
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		recorded, err := readCommand(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		if len(recorded.Arguments) == 0 {
			return nil, &readError{filepath.Join(recorded.Folder, caseFile), errors.New("argv is missing")}
		}
		f.Commands = append(f.Commands, recorded)
	}
	return f, nil
}

func readFlowFile(path string) (*Flow, error) {
	text, err := readBounded(path, maxDescriptionBytes)
	if err != nil {
		return nil, &readError{path, err}
	}
	table, err := document.ParseTOML(text)
	if err != nil {
		return nil, &readError{path, err}
	}
	steps := table.Tables("steps")
	submissions := make([]job.Submission, len(steps))
	for i, step := range steps {
		step.Leave(keysOfSteps...)
		submissions[i] = step.Submission()
		submissions[i].Tag = step.Text("tag")
		if err := step.Err(); err != nil {
			return nil, &readError{path, err}
		}
	}
	isRead := func(key []string) bool {
		return len(key) > 1 && key[0] == "steps" && len(steps) > 0 && steps[0].IsRead(key[1])
	}
	f := &Flow{}
	if err := decodeTOML(text, f, isRead); err != nil {
		return nil, &readError{path, err}
	}
	for i, submission := range submissions {
		f.Steps[i].Submission = submission
	}
	return f, nil
}

// WriteFlow writes a flow and its commands. The commands must be in folders of the flow
// whose names sort in their order.
func WriteFlow(f *Flow) error {
	if err := os.MkdirAll(f.Folder, 0o700); err != nil {
		return fmt.Errorf("writing flow %s: %w", f.Folder, err)
	}
	for _, recorded := range f.Commands {
		if err := Write(recorded); err != nil {
			return err
		}
	}
	return writeFlowFile(f)
}

func writeFlowFile(f *Flow) error {
	path := filepath.Join(f.Folder, flowFile)
	head := *f
	head.Steps = nil
	text, err := toml.Marshal(head)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	for _, step := range f.Steps {
		lines, err := step.lines()
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = slices.Concat(text, []byte("[[steps]]\n"), lines)
	}
	return writeOrRemove(path, text)
}

// lines returns the step as a file has it, without the header of its table: what is
// done, what is submitted, and what is expected.
func (s Step) lines() ([]byte, error) {
	done := s
	done.Expect = Expect{}
	first, err := toml.Marshal(done)
	if err != nil {
		return nil, err
	}
	run := s.Submission
	second, err := document.EncodeTOML(append(document.Lists(run), document.Setting{Key: "tag", Value: run.Tag}))
	if err != nil {
		return nil, err
	}
	third, err := toml.Marshal(struct {
		Expect Expect `toml:"expect,inline,omitempty"`
	}{s.Expect})
	return slices.Concat(first, second, third), err
}
