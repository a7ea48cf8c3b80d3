package record

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// stepOf is the user's step behind a command.
var stepOf = map[config.CommandElement]string{
	config.GetJobStatus: "status",
	config.TerminateJob: "cancel",
	config.HoldJob:      "hold",
	config.ReleaseJob:   "release",
	config.SuspendJob:   "suspend",
	config.ResumeJob:    "resume",
	config.ButtonAction: "action",
	config.ListQueues:   "queues",
	config.ListNodes:    "nodes",
}

// flow writes the user's steps, and the commands in order.
func (w *writer) flow(ctx context.Context) error {
	folder := w.flowAt
	definition, err := w.definitionFrom(folder)
	if err != nil {
		return err
	}
	f := &cases.Flow{
		Folder: folder, Definition: definition, Description: w.text(w.Description),
		Place: cases.Place{User: w.text(w.Place.User), Host: w.text(w.Place.Host), Home: w.text(w.Place.Home), System: w.Place.System},
	}
	commands := w.played()
	f.Steps = w.steps(commands)
	if len(f.Steps) == 0 {
		w.remark("no flow: nothing that it could repeat was done")
		return nil
	}
	width := max(2, len(strconv.Itoa(len(commands)))) // so that the names sort
	for i, c := range commands {
		name := "helper"
		if c.Command != nil {
			name = fileName(c.Command)
		}
		written, err := w.recordedCase(filepath.Join(folder, fmt.Sprintf("%0*d-%s", width, i+1, name)), c)
		if err != nil {
			return err
		}
		f.Commands = append(f.Commands, written)
	}
	if err := cases.WriteFlow(f); err != nil {
		return err
	}
	for i, written := range f.Commands {
		if err := w.write(written, commands[i]); err != nil {
			return err
		}
	}
	w.written.Flow = folder
	return w.expectFlow(ctx)
}

// played returns the commands that a flow must answer. It leaves out those whose end is
// unknown and those of further sessions: a flow has one.
func (w *writer) played() []Recorded {
	var played []Recorded
	started := map[*config.Command]bool{}
	for _, c := range w.Commands {
		switch {
		case c.Failure != nil && !c.Missing:
			w.remark("it is unknown how %q ended: %v", w.text(c.Arguments[0]), w.text(c.Failure.Error()))
			continue
		case c.Command != nil && (c.Command.Element == config.ListJobs || c.Command.Element == config.ListEnded):
			continue // it lists jobs outside the flow
		case c.Command != nil && c.Command.Element == config.StartUpCommand:
			if started[c.Command] {
				continue
			}
			started[c.Command] = true
		}
		if len(played) > 0 && isRepeated(played[len(played)-1], c) {
			continue // the state of a job in a wait rarely changes
		}
		played = append(played, c)
	}
	return played
}

func isRepeated(a, b Recorded) bool {
	return a.Command == b.Command && a.Command != nil && a.Command.Element == config.GetJobStatus && slices.Equal(a.Arguments, b.Arguments) &&
		a.Exit == b.Exit && bytes.Equal(a.Stdout, b.Stdout) && bytes.Equal(a.Stderr, b.Stderr)
}

// steps returns the steps. Start-up commands run by themselves in the first step; without
// other steps, starting is the step.
func (w *writer) steps(commands []Recorded) []cases.Step {
	var steps []cases.Step
	started, stopped := false, false
	for i, c := range commands {
		if c.Command == nil {
			continue
		}
		element := c.Command.Element
		switch {
		case element == config.StartUpCommand:
			started = true
		case element == config.ShutDownCommand:
			if !stopped {
				steps = append(steps, cases.Step{Do: "stop"})
			}
			stopped = true
		case element.IsSubmit():
			steps = append(steps, w.submission(c))
		case element == config.GetJobStatus && isGuard(commands[i+1:], c.Job):
			// the following operation queries by itself
		case stepOf[element] != "":
			steps = append(steps, w.operation(c, commands[i+1:]))
		}
	}
	onlyStopped := stopped && len(steps) == 1 // requires a session
	if onlyStopped || started && len(steps) == 0 {
		steps = append([]cases.Step{{Do: "start"}}, steps...)
	}
	return steps
}

// isGuard reports whether the query before some commands belongs to one that acts only on
// jobs in a certain stage.
func isGuard(later []Recorded, of string) bool {
	for _, c := range later {
		if c.Command == nil || c.Command.Element == config.Fallback {
			continue
		}
		return len(c.Command.Only) > 0 && c.Job == of
	}
	return false
}

// operation returns the step of a command that submits nothing. The last query of a wait
// is the wait.
func (w *writer) operation(c Recorded, later []Recorded) cases.Step {
	element := c.Command.Element
	step := cases.Step{Do: stepOf[element], Job: w.text(c.Job)}
	if element == config.ButtonAction {
		step.Name = c.Command.Name
	}
	if element == config.GetJobStatus && w.Waited && w.hasEnded(c.Job) && !asksAgain(later, c.Job) {
		step.Do = "wait"
	}
	return step
}

// asksAgain reports whether these commands query a job.
func asksAgain(commands []Recorded, job string) bool {
	return slices.ContainsFunc(commands, func(c Recorded) bool {
		return c.Command != nil && c.Command.Element == config.GetJobStatus && c.Job == job
	})
}

// hasEnded reports whether the job's end was seen, as a wait requires.
func (w *writer) hasEnded(id string) bool {
	return slices.ContainsFunc(w.Jobs, func(job job.Job) bool { return job.ID == id && job.Detail.Ended() })
}

// submission returns the parts of the submission that the command line depends on.
func (w *writer) submission(c Recorded) cases.Step {
	run := job.Submission{Directory: w.text(c.Before.Text("directory"))}
	if w.shows(c.Key) {
		run.Tag = c.Key
	}
	if program := c.Before.Text("executablePath"); slices.Contains(c.Arguments[1:], program) {
		run.Executable = w.text(program)
		run.Arguments = w.texts(attribute.Words(c.Before.Text("progArgs")))
	}
	for _, defined := range w.Loaded.Attributes {
		now := c.Before.Variable(defined.Name())
		if now == nil || !now.Visible() || now.Value() == nil || attribute.Text(now.Value()) == attribute.Text(defined.Field(attribute.FieldDefault)) {
			continue
		}
		run.Values = append(run.Values, job.Assignment{Name: defined.Name(), Value: w.text(attribute.Text(now.Value()))})
	}
	return cases.Step{Do: "submit", Submission: run}
}

// shows reports whether any answer contains a tag.
func (w *writer) shows(tag string) bool {
	return slices.ContainsFunc(w.Commands, func(c Recorded) bool { return bytes.Contains(c.Stdout, []byte(tag)) })
}

// expectFlow runs the flow and stores the results as expectations. It adds remarks on
// differences from the recording.
func (w *writer) expectFlow(ctx context.Context) error {
	runner := &cases.Runner{Parallel: 1, Update: true}
	result := runner.RunFolder(ctx, w.flowAt)
	if result.Err != nil {
		return result.Err
	}
	if result.Verdict == cases.Differing {
		for _, difference := range result.Differences {
			w.remark("the flow differs from the recording: %s", difference)
		}
	}
	for _, job := range w.Jobs {
		w.compareEnd(result.Flow, job)
	}
	return nil
}

// compareEnd adds a remark if the flow leaves a job in another state than rmctl saw.
func (w *writer) compareEnd(f *cases.Flow, job job.Job) {
	var last cases.Expect
	hasQuery := false
	for _, step := range f.Steps {
		hasQuery = hasQuery || slices.Contains([]string{"submit", "status", "wait"}, step.Do)
		if step.Expect.ID == w.text(job.ID) {
			last = step.Expect
		}
	}
	switch {
	case !hasQuery: // such as a flow that only cancels it
	case last.Error != "": // the known state is older
	case last.ID == "":
		w.remark("the flow does not give the recorded job %s", w.text(job.ID))
	case last.Detail != job.Detail:
		w.remark("the flow leaves job %s in state %s, but the recording in %s", last.ID, last.Detail, job.Detail)
	}
}
