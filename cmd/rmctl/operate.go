package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/bulk"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// selectionFlags choose jobs by what they are, not by name.
type selectionFlags struct {
	all         bool
	state, name string
}

// add adds the flags. All says what --all chooses.
func (f *selectionFlags) add(c *cobra.Command, all string) {
	c.Flags().BoolVar(&f.all, "all", false, all)
	c.Flags().StringVar(&f.state, "state", "", "choose jobs by `STATE,...` such as queued or failed")
	c.Flags().StringVar(&f.name, "name", "", "choose jobs by name with a `GLOB`")
	completeFlag(c, "state", completeStates)
	completeFlag(c, "name", cobra.NoFileCompletions)
}

func (f *selectionFlags) filter() (selection.Filter, error) {
	return selection.NewFilter(f.state, f.name)
}

// choice returns what the names and flags choose.
func (f *selectionFlags) choice(c *cobra.Command, names []string) (selection.Choice, error) {
	filter, err := f.filter()
	switch {
	case err != nil:
	case f.all && len(names) > 0:
		err = usage("--all cannot be used together with JOB")
	case !f.all && len(names) == 0 && filter.IsAll():
		err = usage("JOB is missing\nadd one, or use --all, --state or --name; see %s --help", c.CommandPath())
	}
	return selection.Choice{Names: names, Filter: filter}, err
}

// choose returns the jobs that match a choice. If no job matches, it prints a message.
func (a *app) choose(c *cobra.Command, choice selection.Choice) ([]selection.Chosen, error) {
	chosen, err := a.finder().Choose(c.Context(), choice)
	if len(chosen) == 0 && err == nil {
		a.sayNoJob(c)
	}
	return chosen, err
}

func (a *app) sayNoJob(c *cobra.Command) { a.say("no jobs to %s", c.Name()) }

// chosenHandles finds the jobs of a choice.
func (a *app) chosenHandles(c *cobra.Command, choice selection.Choice) (jobs []selection.Handle, isNamed []bool, err error) {
	chosen, err := a.choose(c, choice)
	problems := []error{err}
	for _, one := range chosen {
		job, err := a.finder().Job(c.Context(), one.Name)
		if problems = append(problems, err); err == nil {
			jobs, isNamed = append(jobs, job), append(isNamed, one.IsNamed)
		}
	}
	return jobs, isNamed, errors.Join(problems...)
}

// chosenRecorded finds the jobs of a choice on record. Only says what others lack.
func (a *app) chosenRecorded(c *cobra.Command, finder *selection.Finder, choice selection.Choice, only string) ([]job.Job, error) {
	jobs, err := finder.ChooseRecorded(c.Context(), choice)
	if errors.Is(err, jobstore.ErrNotFound) {
		err = fmt.Errorf("%w\nuse jobs submitted with rmctl: only these %s", err, only)
	}
	if len(jobs) == 0 && err == nil {
		a.sayNoJob(c)
	}
	return jobs, err
}

// eachUnderHeading prints something of each job, under its name if there are several.
func (a *app) eachUnderHeading(jobs []job.Job, print func(job.Job) error) error {
	var problems []error
	for i, job := range jobs {
		if len(jobs) > 1 && !a.json {
			fmt.Fprintf(a.stdout, "%s==> %s <==\n", strings.Repeat("\n", min(i, 1)), oneLine(selection.Handle{Job: job}.Label()))
		}
		problems = append(problems, print(job))
	}
	return errors.Join(problems...)
}

// hasID reports whether the scheduler knows the job.
func hasID(j *job.Job) bool { return j.ID != "" }

// An operationKind is an operation on jobs and how it is spoken of.
type operationKind struct {
	control.Operation
	done        string // as a participle
	only        string // the word of the state that it is for; empty for all that have not ended
	unsuited    string // what jobs do that it is not for
	short, long string
}

// newOperation returns the command for an operation on jobs.
func newOperation(a *app, kind operationKind) *cobra.Command {
	var flags selectionFlags
	name := string(kind.Operation)
	c := &cobra.Command{
		Use:   name + " [JOB...]",
		Short: kind.short,
		Long: kind.long + `

rmctl prints a line for each job; the next rmctl status shows the effect. A named job that
has ended is an error, but rmctl processes the others.

` + selectionHelp,
		Example:           "  rmctl " + name + " 4711\n  rmctl " + name + " slurm/4711 4720-4729\n  rmctl " + name + " last\n  rmctl " + name + " --all -t slurm --name 'sim*'",
		ValidArgsFunction: a.completeJobs(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			choice.Open, choice.Unsuited, choice.Fresh = true, kind.unsuited, kind.only != "" || flags.state != ""
			choice.Suits = func(j *job.Job) bool {
				return hasID(j) && !j.Detail.Ended() && (kind.only == "" || j.Detail.Word() == kind.only)
			}
			jobs, isNamed, err := a.chosenHandles(c, choice)
			return errors.Join(err, a.operateOnEach(c.Context(), kind, jobs, isNamed))
		},
	}
	flags.add(c, "choose all jobs on record that can be "+kind.done)
	return c
}

const selectionHelp = `JOB is an id, TARGET/ID, the tag of a submission, "last" for the newest job on record, or a
range of ids on record such as 1-50 or TARGET/1-50. Without JOB, --all, --state and --name
choose jobs on record, with -t only those of one target.`

// An operatedDocument is what an operation with --json prints for a job.
type operatedDocument struct {
	Operation control.Operation `json:"operation"`
	ID        string            `json:"id"`
	Target    string            `json:"target"`
	Tag       string            `json:"tag,omitempty"`
	Name      string            `json:"name,omitempty"`
	Error     string            `json:"error,omitempty"`
}

// operateOnEach applies an operation to jobs, a few at a time, and prints what was done. A job
// that has ended in the meantime is an error only if the command line named it.
func (a *app) operateOnEach(ctx context.Context, kind operationKind, jobs []selection.Handle, isNamed []bool) error {
	var problems []error
	eachCounted(a, "jobs "+kind.done, jobs, bulk.Width, func(job selection.Handle) error { return a.operate(ctx, kind.Operation, job) }, func(i int, err error) {
		isOver := isA[*control.EndedError](err) || isA[*control.NotFoundError](err)
		switch {
		case isOver && !isNamed[i]:
			a.say("%v", err)
		default:
			problems = append(problems, err)
		}
		problems = append(problems, a.printOperated(kind, jobs[i], err))
	})
	return errors.Join(problems...)
}

func (a *app) printOperated(kind operationKind, job selection.Handle, failure error) error {
	document := operatedDocument{Operation: kind.Operation, ID: job.ID, Target: job.Target, Tag: job.Tag, Name: job.Name}
	switch {
	case a.json && failure != nil:
		document.Error = failure.Error()
		fallthrough
	case a.json:
		return terminal.JSON(a.stdout, document)
	case failure != nil:
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s\n", kind.done, oneLine(job.Label()))
	return err
}

// operate applies an operation to a job.
func (a *app) operate(ctx context.Context, operation control.Operation, job selection.Handle) error {
	if operation == control.Cancel {
		return a.client().Cancel(ctx, job.Job)
	}
	return job.Controller.Operate(ctx, operation, job.Job)
}

// largestInput bounds the input that is sent to a job at once, in bytes.
const largestInput = 16 << 20

func newSend(a *app) *cobra.Command {
	var again bool
	c := &cobra.Command{
		Use:   "send [flags] JOB [TEXT...]",
		Short: "Send input to an interactive job",
		Long: `Send a line of input to an interactive job that runs in the background process.

Without TEXT, rmctl sends standard input.`,
		Example: `  rmctl send 4711 run next.dat
  rmctl send 4711 <commands.txt
  rmctl send --input 4711`,
		Args:              atLeast(1, "JOB"),
		ValidArgsFunction: a.completeOneJob(attachableJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			if again && len(arguments) > 1 {
				return usage("--input cannot be used together with TEXT")
			}
			return a.send(c.Context(), arguments[0], arguments[1:], again)
		},
	}
	c.Flags().SetInterspersed(false) // what follows the job is text
	c.Flags().BoolVar(&again, "input", false, "send the input that the definition provides; the job must be running")
	return c
}

func (a *app) send(ctx context.Context, name string, words []string, again bool) error {
	job, err := a.finder().Job(ctx, name)
	if err != nil {
		return err
	}
	sessions, err := a.sessionOf(ctx, job)
	if err != nil {
		return fmt.Errorf("sending input: %w", err)
	}
	input := strings.Join(words, " ") + "\n"
	switch {
	case again:
		input, err = job.Controller.Input(ctx, job.Job)
	case len(words) == 0:
		input, err = a.readInput()
	}
	if err != nil {
		return err
	}
	err = sessions.Send(ctx, job.Tag, []byte(input))
	if errors.Is(err, daemon.ErrNoSession) {
		return fmt.Errorf("sending input: job %s has just ended", job.ID)
	}
	return err
}

func (a *app) readInput() (string, error) {
	input, err := io.ReadAll(io.LimitReader(a.stdin, largestInput+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(input) > largestInput {
		return "", fmt.Errorf("standard input is larger than %d bytes", largestInput)
	}
	return string(input), nil
}

func newOutput(a *app) *cobra.Command {
	var flags selectionFlags
	var follow bool
	var stream control.Stream
	c := &cobra.Command{
		Use:   "output [JOB...]",
		Short: "Print what jobs have written",
		Long: `Print the standard output of jobs.

With -f, rmctl waits for the output file and follows it until the job has ended. For an
array, it prints the output of the first task that has started, or of --task.

` + selectionHelp,
		Example: `  rmctl output 4711
  rmctl output -f last
  rmctl output --task 3 4711
  rmctl output --stderr --state FAILED -t slurm`,
		ValidArgsFunction: a.completeJobs(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			choice, err := flags.choice(c, arguments)
			if err != nil {
				return err
			}
			choice.Suits = func(j *job.Job) bool { return hasID(j) && !j.Interactive }
			jobs, _, err := a.chosenHandles(c, choice)
			if follow && len(jobs) > 1 {
				return usage("--follow requires a single job")
			}
			return errors.Join(a.printOutputs(c.Context(), jobs, stream, follow), err)
		},
	}
	flags.add(c, "choose all batch jobs on record")
	c.Flags().StringVar(&stream.Task, "task", "", "task `N` of an array")
	c.Flags().BoolVar(&stream.Stderr, "stderr", false, "print standard error instead")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the job has ended")
	return c
}

// printOutputs prints the output of jobs, each under its name if there are several.
func (a *app) printOutputs(ctx context.Context, jobs []selection.Handle, stream control.Stream, follow bool) error {
	all := make([]job.Job, len(jobs))
	controllers := map[string]*control.Controller{}
	for i, job := range jobs {
		all[i], controllers[job.Target] = job.Job, job.Controller
	}
	return a.eachUnderHeading(all, func(job job.Job) error {
		if stream.Task == "" {
			stream.Chosen = func(task, name string) { a.say("task %s of array %s: %s", task, job.ID, name) }
		}
		if follow {
			return controllers[job.Target].Follow(ctx, job, stream, a.stdout)
		}
		return controllers[job.Target].Output(ctx, job, stream, a.stdout)
	})
}
