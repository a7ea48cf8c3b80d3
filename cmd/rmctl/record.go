package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/record"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A recording is what rmctl record was called with.
type recording struct {
	folder           string
	arguments        []string // of the command that is recorded
	keep, force, add bool
	replace          []string
	names            [][2]string // the pairs of replace
}

func newRecord(a *app) *cobra.Command {
	var what recording
	c := &cobra.Command{
		Use:   "record [flags] DIR -- COMMAND [ARGUMENT...]",
		Short: "Record the scheduler commands of a command of rmctl",
		Long: `Run a command of rmctl, and record the scheduler commands that it runs as cases and a flow
for rmctl test in DIR.

A recording has command lines, exit codes, standard output and standard error, but no
environment variables of jobs, scripts or interactive jobs. rmctl anonymizes names of
users, groups, hosts, domains, accounts, jobs and home directories, addresses, telephone
numbers, comments and secrets. It prints what it replaced and what it kept: review both,
and the files, before you share them.

rmctl record exits with the code of the command.`,
		Example: `  rmctl record failing -- submit -t slurm --queue debug --wait -- false
  rmctl record --replace ourcode=program status -- status --fresh 4711
  rmctl test failing status`,
		Args: func(c *cobra.Command, arguments []string) error {
			if c.ArgsLenAtDash() != 1 || len(arguments) < 2 {
				return usage("DIR or COMMAND is missing\nrun rmctl record DIR -- COMMAND, such as rmctl record mycase -- status 4711")
			}
			return nil
		},
		RunE: func(c *cobra.Command, arguments []string) error {
			what.folder, what.arguments = arguments[0], arguments[1:]
			if err := what.check(); err != nil {
				return err
			}
			return a.record(c.Context(), what)
		},
	}
	f := c.Flags()
	f.BoolVar(&what.keep, "keep", false, "keep all names instead of anonymizing them")
	f.BoolVar(&what.force, "force", false, "replace the recording in DIR")
	f.BoolVar(&what.add, "append", false, "add cases that differ to the recording in DIR")
	f.StringArrayVar(&what.replace, "replace", nil, "text to replace as well, as `OLD=NEW`; repeatable")
	return c
}

// check refuses flags that contradict each other, a folder with another recording, and a
// recording of rmctl record. It parses the pairs of --replace.
func (r *recording) check() error {
	switch {
	case r.keep && len(r.replace) > 0:
		return usage("--keep and --replace exclude each other")
	case r.force && r.add:
		return usage("--force and --append exclude each other")
	case r.arguments[0] == "record":
		return usage("rmctl record cannot record itself")
	}
	for _, text := range r.replace {
		old, new, found := strings.Cut(text, "=")
		if !found || old == "" {
			return usage("--replace %q: enter OLD=NEW", text)
		}
		r.names = append(r.names, [2]string{old, new})
	}
	if r.force || r.add {
		return nil
	}
	err := record.CheckFolder(r.folder)
	if isA[*record.ExistsError](err) {
		return usage("%v\nuse --append to extend the recording, or --force to replace it", err)
	}
	return err
}

// record runs a command line of rmctl over a connection that records.
func (a *app) record(ctx context.Context, what recording) error {
	if err := os.MkdirAll(what.folder, 0o700); err != nil { // before anything is submitted
		return fmt.Errorf("creating the recording: %w", err)
	}
	var recorder *record.Recorder
	inner := &app{stdin: a.stdin, stdout: a.stdout, stderr: a.stderr, siteFolder: a.siteFolder, wrapConnection: func(connection remote.Connection) remote.Connection {
		recorder = record.New(connection)
		return recorder
	}}
	root := inner.commandLine(append(a.sharedFlags(), what.arguments...))
	code := inner.report(root.ExecuteContext(ctx))
	written := a.writeRecordings(context.WithoutCancel(ctx), inner, recorder, what)
	if err := errors.Join(written, inner.close()); err != nil {
		return &exitError{code: max(code, exitFailed), err: err}
	}
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// sharedFlags returns the flags of this command line that all commands have.
func (a *app) sharedFlags() []string {
	var flags []string
	for _, flag := range [][2]string{{"--target", a.target}, {"--config-dir", a.configFolder}, {"--state-dir", a.stateFolder}} {
		if flag[1] != "" {
			flags = append(flags, flag[0], flag[1])
		}
	}
	if a.json {
		flags = append(flags, "--json")
	}
	for range a.verbose {
		flags = append(flags, "-v")
	}
	return flags
}

// writeRecordings writes the recordings: of one target into the folder, of several into a
// folder each.
func (a *app) writeRecordings(ctx context.Context, inner *app, recorder *record.Recorder, what recording) error {
	used := map[string]*control.Controller{}
	for name, controller := range inner.used {
		if slices.ContainsFunc(recorder.CommandsOf(controller.Definition), func(c record.Recorded) bool { return c.Command != nil }) {
			used[name] = controller
		}
	}
	if recorder != nil && recorder.Attached() > 0 {
		a.say("not recorded: commands attached to the terminal")
	}
	if recorder != nil && recorder.Dropped() > 0 {
		a.say("recorded only the first %d commands", record.MaxCommands)
	}
	if len(used) == 0 {
		a.say("nothing to record: no scheduler command ran\nuse --fresh with start and status to query again")
		return removeIfEmpty(what.folder)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		one := what
		if len(used) > 1 {
			one.folder = filepath.Join(what.folder, name)
		}
		if err := a.writeRecording(ctx, inner, used[name], recorder, one); err != nil {
			return fmt.Errorf("recording target %q: %w", name, err)
		}
	}
	return nil
}

// removeIfEmpty removes a folder without files.
func removeIfEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) == 0 {
		err = os.Remove(folder)
	}
	if err != nil {
		return fmt.Errorf("removing the empty directory of the recording: %w", err)
	}
	return nil
}

func (a *app) writeRecording(ctx context.Context, inner *app, controller *control.Controller, recorder *record.Recorder, what recording) error {
	if err := a.startUpCommands(ctx, controller, recorder); err != nil {
		a.say("the flow has no start-up commands, because they failed: %v", err)
	}
	targets, err := inner.client().Targets()
	if err != nil {
		return err
	}
	target, err := targets.Find(controller.Target)
	if err != nil {
		return err
	}
	definition := controller.Definition
	r := record.Recording{
		Folder: what.folder, Append: what.add, Definition: target.Definition, Loaded: definition, Place: recorder.Info(),
		Commands:    recorder.CommandsOf(definition),
		Description: "recorded by rmctl record -- " + what.arguments[0],
		Waited:      what.arguments[0] == "wait" || slices.Contains(what.arguments, "--wait") || slices.Contains(what.arguments, "--show"),
	}
	if r.Jobs, err = inner.recordedJobs(ctx, target.Name, r.Commands); err != nil {
		return err
	}
	if !what.keep {
		r.Names = record.NewAnonymizer(definition.Sources...)
		for _, pair := range what.names {
			if err := r.Names.Ask(pair[0], pair[1]); err != nil {
				return &usageError{err}
			}
		}
		r.Names.Introduce(ctx, recorder.Connection)
	}
	written, err := r.Write(ctx)
	if err != nil {
		return err
	}
	return a.printRecording(r, written)
}

// startUpCommands runs the start-up commands if there was a session already: the other
// commands depend on their results.
func (a *app) startUpCommands(ctx context.Context, controller *control.Controller, recorder *record.Recorder) error {
	needed := controller.Definition.CommandsOf(config.StartUpCommand)
	ran := func(c record.Recorded) bool { return c.Command != nil && slices.Contains(needed, c.Command) }
	if len(needed) == 0 || slices.ContainsFunc(recorder.Commands(), ran) {
		return nil
	}
	return controller.Start(ctx, true)
}

// recordedJobs returns the jobs on record that commands ran for.
func (a *app) recordedJobs(ctx context.Context, target string, commands []record.Recorded) ([]job.Job, error) {
	store, err := a.client().Store(ctx)
	if err != nil {
		return nil, err
	}
	var jobs []job.Job
	add := func(j job.Job) {
		known := func(other job.Job) bool { return other.Tag == j.Tag }
		if j.ID != "" && !slices.ContainsFunc(jobs, known) {
			jobs = append(jobs, j)
		}
	}
	for _, c := range commands {
		var found []job.Job
		var err error
		switch {
		case c.Command == nil:
			continue
		case c.Job != "":
			found, err = store.Find(ctx, c.Job, target)
		case c.Command.Element.IsSubmit():
			var job job.Job
			job, err = store.ByTag(ctx, c.Key)
			found = append(found, job)
		}
		if err != nil && !errors.Is(err, jobstore.ErrNotFound) {
			return nil, err
		}
		if len(found) > 0 {
			add(found[0])
		}
	}
	return jobs, nil
}

// printRecording prints on standard error what was written and replaced: standard output is
// that of the recorded command.
func (a *app) printRecording(r record.Recording, written *record.Written) error {
	folders := counted(len(written.Cases), "case")
	if written.Flow != "" {
		folders += " and a flow"
	}
	a.say("recorded %s in %s: %s", counted(len(r.Commands), "command"), r.Folder, folders)
	for _, remark := range written.Remarks {
		a.say("%s", remark)
	}
	if r.Names == nil {
		a.say("nothing was replaced: the recording has all names")
		return nil
	}
	var rows [][]string
	for _, one := range r.Names.Replacements() {
		rows = append(rows, []string{string(one.Kind), oneLine(one.Old), oneLine(one.New), fmt.Sprint(one.Count)})
	}
	if len(rows) > 0 {
		a.say("replaced:")
		if err := terminal.Table(a.stderr, []string{"KIND", "WAS", "IS NOW", "TIMES"}, rows); err != nil {
			return err
		}
	}
	return a.printKept(r.Names.Kept())
}

// printKept prints the names that stay in a recording.
func (a *app) printKept(kept []record.KeptName) error {
	const most = 50
	var rows [][]string
	for _, name := range kept[:min(len(kept), most)] {
		rows = append(rows, []string{string(name.Kind), oneLine(name.Name), name.Why})
	}
	if len(rows) == 0 {
		return nil
	}
	a.say("kept; review these names and the files before you share them (--replace OLD=NEW replaces more):")
	if err := terminal.Table(a.stderr, []string{"KIND", "TEXT", "WHY"}, rows); err != nil {
		return err
	}
	if len(kept) > most {
		a.say("and %d more", len(kept)-most)
	}
	return nil
}
