package ensembles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// longestFile bounds the file of a request.
const longestFile = 16 << 20

// An Environment is what the commands need from the command line.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	IsJSON         func() bool
	Service        func() (*Service, error)
	// Place returns a submission whose paths do not depend on the working directory, which the background process does not have.
	Place func(target string, s job.Submission) (job.Submission, error)
	// Prepare makes the connections of targets, so that questions appear at this terminal.
	Prepare func(ctx context.Context, targets []string)
	// Output prints what the jobs of some submissions have written.
	Output func(ctx context.Context, tags []string, stream control.Stream, follow bool) error
	// Exit returns an error that only has an exit code, nil for 0.
	Exit func(code int) error
}

// NewCommand returns the command with its subcommands.
func NewCommand(e Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "coalloc",
		Short: "Run one job on several targets at once",
		Long: `Run an ensemble: one job of several parts, each on a different target.

rmctl submits all parts and holds their processes at a barrier. When all required parts
have checked in, it releases all or none. Before that, you can add, delete and substitute
parts. docs/use/ensembles.md describes requests.

The background process runs ensembles, so you can close the terminal. ID is the id of an
ensemble, its beginning, its name, or "last".`,
		Example: `  rmctl coalloc submit --commit --wait coupled.toml
  rmctl coalloc status last
  rmctl coalloc substitute last solver other.toml`,
	}
	for _, create := range []func(Environment) *cobra.Command{
		newSubmit, newPlan, newConvert, newStatus, newList, newAdd, newDelete, newSubstitute, newCommit, newCancel, newWithdraw, newWait, newEvents, newExplain, newOutput,
	} {
		root.AddCommand(create(e))
	}
	return root
}

func usage(format string, arguments ...any) error {
	return &UsageError{Err: fmt.Errorf(format, arguments...)}
}

// arguments refuses fewer arguments than the named ones, and more unless the last may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		mayRepeat := strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(words) < len(names):
			return usage("%s is missing\nsee %s --help", strings.TrimSuffix(names[len(words)], "..."), c.CommandPath())
		case len(words) > len(names) && !mayRepeat:
			return usage("unexpected argument %q\nsee %s --help", words[len(names)], c.CommandPath())
		}
		return nil
	}
}

// say prints a message on standard error.
func (e *Environment) say(format string, arguments ...any) {
	fmt.Fprintf(e.Stderr, "rmctl: %s\n", tui.Printable(fmt.Sprintf(format, arguments...)))
}

// read reads a file, or standard input for "-".
func (e *Environment) read(name string) (text []byte, err error) {
	file, named := e.Stdin, "standard input"
	if name != "-" {
		opened, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading the request: %w", err)
		}
		defer opened.Close()
		file, named = opened, name
	}
	text, err = io.ReadAll(io.LimitReader(file, longestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the request: %w", err)
	case len(text) > longestFile:
		return nil, usage("%s has more than %d bytes", named, longestFile)
	}
	return text, nil
}

// request reads the request in a file.
func (e *Environment) request(ctx context.Context, name string, sent sentText) (*Service, *coalloc.Request, error) {
	service, text, err := e.open(name, sent)
	if err != nil {
		return nil, nil, err
	}
	r, err := service.Read(ctx, text)
	if err != nil {
		return nil, nil, usage("%s: %w", name, err)
	}
	return service, r, e.place(r.Parts)
}

func (e *Environment) place(parts []coalloc.Part) error {
	for i := range parts {
		p := &parts[i]
		var err error
		if p.Submission, err = e.Place(p.Target, p.Submission); err != nil {
			return usage("part %s: %w", p.Label, err)
		}
	}
	return nil
}

func (e *Environment) open(name string, sent sentText) (*Service, []byte, error) {
	text, err := e.read(name)
	if err == nil {
		err = sent.check(text)
	}
	if err != nil {
		return nil, nil, err
	}
	service, err := e.Service()
	return service, text, err
}

// A sentText describes a text that another rmctl sends.
type sentText struct {
	length int    // of the text in bytes; 0 if unknown
	once   string // a token by which an edit that is repeated is recognized; empty for a new one
}

// addLength adds the flag for the length of a text from standard input, which ends early if the connection is lost.
func (s *sentText) addLength(c *cobra.Command) {
	c.Flags().IntVar(&s.length, "length", 0, "refuse a FILE of another length than `BYTES`")
	_ = c.Flags().MarkHidden("length") // fails for unknown flags
}

func (s *sentText) addEditFlags(c *cobra.Command) {
	s.addLength(c)
	c.Flags().StringVar(&s.once, "once", "", "do nothing if the ensemble was edited with this `TOKEN` before")
	_ = c.Flags().MarkHidden("once")
}

// check refuses an incomplete text.
func (s *sentText) check(text []byte) error {
	if s.length != 0 && s.length != len(text) {
		return usage("the request is cut off: %d of %d bytes have arrived", len(text), s.length)
	}
	return nil
}

// editText adds the parts in a file, or substitutes the one in it for the part with a label.
func (e *Environment) editText(ctx context.Context, name, label, file string, sent sentText) error {
	service, text, err := e.open(file, sent)
	if err != nil {
		return err
	}
	read := func() ([]coalloc.Part, error) {
		parts, err := service.readParts(ctx, text)
		if err != nil {
			return nil, usage("%s: %w", file, err)
		}
		e.prepare(ctx, parts)
		return parts, e.place(parts)
	}
	return e.edit(ctx, name, func(ensemble coalloc.Control) error {
		return edit(ctx, ensemble, label, text, cmp.Or(sent.once, uuid.NewString()), read)
	})
}

func (e *Environment) prepare(ctx context.Context, parts []coalloc.Part) {
	var targets []string
	for _, part := range parts {
		targets = append(targets, part.Target)
	}
	e.Prepare(ctx, targets)
}

// find returns the id of the ensemble that a user names.
func (e *Environment) find(ctx context.Context, name string) (*Service, string, error) {
	service, err := e.Service()
	if err != nil {
		return nil, "", err
	}
	id, err := service.Find(ctx, name)
	return service, id, err
}

// edit changes an ensemble.
func (e *Environment) edit(ctx context.Context, name string, change func(coalloc.Control) error) error {
	service, id, err := e.find(ctx, name)
	if err != nil {
		return err
	}
	ensemble, err := service.Open(ctx, id)
	if err == nil {
		err = change(ensemble)
	}
	return e.edited(ctx, ensemble, err)
}

// edited prints an ensemble after a change with --json.
func (e *Environment) edited(ctx context.Context, ensemble coalloc.Control, err error) error {
	if err != nil || !e.IsJSON() {
		return err
	}
	status, err := ensemble.Status(ctx)
	if err != nil {
		return err
	}
	return terminal.JSON(e.Stdout, status)
}

// completeIDs offers the ids of ensembles, then the labels of the parts of the first argument.
func (e *Environment) completeIDs(all bool, labels int) cobra.CompletionFunc {
	return func(c *cobra.Command, words []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		service, err := e.Service()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if len(words) > 0 {
			if len(words) > labels {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return e.labels(c.Context(), service, words[0])
		}
		names, err := service.Names(c.Context(), all)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var offered []cobra.Completion
		for _, name := range names {
			offered = append(offered, cobra.CompletionWithDesc(name.ID, tui.OneLine(strings.TrimSpace(string(name.State)+" "+name.Name))))
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func (e *Environment) labels(ctx context.Context, service *Service, name string) ([]cobra.Completion, cobra.ShellCompDirective) {
	id, err := service.Find(ctx, name)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ensemble, err := service.Follow(ctx, id)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	status, err := ensemble.Status(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []cobra.Completion
	for _, part := range status.Parts {
		offered = append(offered, cobra.CompletionWithDesc(tui.OneLine(part.Label), tui.OneLine(part.Target+" "+string(part.State))))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// elsewhere runs the same command on the login node of a target, with the output here.
func (e *Environment) elsewhere(ctx context.Context, service *Service, target string, words []string, stdin io.Reader) error {
	if e.IsJSON() {
		words = append([]string{"--json"}, words...)
	}
	err := service.Run(ctx, target, Call{Arguments: words, Stdin: stdin, Stdout: e.Stdout, Stderr: e.Stderr})
	if exit, isExit := errors.AsType[*ExitError](err); isExit {
		return e.Exit(exit.Code)
	}
	return err
}
