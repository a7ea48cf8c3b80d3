package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// startedFile says how a command was started, for human readers.
const startedFile = "started.toml"

// A Recording contains the commands of one connection to write.
type Recording struct {
	Folder      string
	Append      bool   // keep the previous recording in the folder, and add cases that differ
	Definition  string // a shipped name, or a file relative to the working directory
	Loaded      *config.Definition
	Place       remote.Info
	Commands    []Recorded
	Description string
	Waited      bool        // the last query of a job belonged to a wait
	Jobs        []job.Job   // the jobs of the commands, as last seen
	Names       *Anonymizer // nil to keep all names
}

// A Written is the result of Write.
type Written struct {
	Flow    string   // its folder; empty without a flow
	Cases   []string // the folders of the cases
	Remarks []string // problems, for the user
}

// An ExistsError reports a folder that is not empty.
type ExistsError struct{ Folder string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists and is not empty", e.Folder)
}

// The folders of a recording.
const (
	flowFolder  = "flow"
	casesFolder = "cases"
)

// CheckFolder returns an *ExistsError if a recording would overwrite something.
func CheckFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading the recording: %w", err)
	case len(entries) > 0:
		return &ExistsError{folder}
	}
	return nil
}

// Write writes a flow of all commands, and a case of each that differs from the others,
// with the definition's results as expectations. Only the owner can read the files. It
// removes the previous recording in the folder or, with Append, adds to it; other files
// stay.
func (r Recording) Write(ctx context.Context) (*Written, error) {
	// Start-up commands come first, even if they ran last, only for the recording.
	r.Commands = slices.Clone(r.Commands)
	sorting.Stable(r.Commands, func(a, b Recorded) int { return cmp.Compare(startOrder(a), startOrder(b)) })
	r.learn()
	w := &writer{Recording: r, written: &Written{}}
	if err := w.makeRoom(); err != nil {
		return nil, err
	}
	if err := w.cases(ctx); err != nil {
		return nil, err
	}
	if err := w.flow(ctx); err != nil {
		return nil, err
	}
	return w.written, nil
}

func startOrder(c Recorded) int {
	if c.Command != nil && c.Command.Element == config.StartUpCommand {
		return 0
	}
	return 1
}

// learn learns the names in everything to write.
func (r Recording) learn() {
	if r.Names == nil {
		return
	}
	for _, job := range r.Jobs {
		r.Names.learnNodes(job.Nodes)
		r.Names.learn(kindJob, job.Name)
	}
	for _, c := range r.Commands {
		r.Names.learnArguments(c.Arguments)
		for _, text := range [][]byte{c.Stdout, c.Stderr, c.Stdin, []byte(strings.Join(c.Arguments, "\n")), []byte(c.Directory)} {
			r.Names.Text(text)
		}
		for name, value := range r.settings(c) {
			r.Names.Text([]byte(name + "=" + value))
		}
		if c.Before == nil {
			continue
		}
		for _, key := range c.Before.Variables() {
			switch text := attribute.Text(c.Before.Variable(key).Value()); {
			case isAccount(key):
				r.Names.learnNames(kindAccount, text)
			case isJobName(key):
				r.Names.learnFreeText(kindJob, text)
			}
		}
		if text, err := json.Marshal(before(c, r.Loaded)); err == nil {
			r.Names.Text(text)
		}
	}
	r.Names.settle()
}

// settings returns the variables that the definition sets for a command. The user's
// variables keep only their names, since their values may be secret.
func (r Recording) settings(c Recorded) map[string]string {
	settings := map[string]string{}
	for name, value := range c.Environment {
		settings[name] = "(not recorded)"
		isOfDefinition := c.Command != nil && slices.ContainsFunc(c.Command.Environment, func(e *config.EnvironmentEntry) bool { return e.Name == name })
		if isOfDefinition || name == "LC_ALL" {
			settings[name] = value
		}
	}
	return settings
}

type writer struct {
	Recording
	written *Written
	known   map[string]bool // cases that were written, by all that is in them
	last    int             // number of the case that was written last
	flowAt  string          // folder of the flow
}

func (w *writer) remark(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if !slices.Contains(w.written.Remarks, text) {
		w.written.Remarks = append(w.written.Remarks, text)
	}
}

var unique = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text returns a text with placeholders for names and for what differs in every run.
func (w *writer) text(text string) string {
	if w.Names != nil {
		text = w.Names.replaceText(text)
	}
	return unique.ReplaceAllString(text, "{unique}")
}

func (w *writer) texts(texts []string) []string {
	replaced := make([]string, 0, len(texts))
	for _, text := range texts {
		replaced = append(replaced, w.text(text))
	}
	return replaced
}

func (w *writer) output(text []byte) []byte {
	if w.Names == nil {
		return text
	}
	return w.Names.replace(text)
}

// recordedCase returns a command as a case, without attributes and expectation.
func (w *writer) recordedCase(folder string, c Recorded) (*cases.Case, error) {
	definition, err := w.definitionFrom(folder)
	if err != nil {
		return nil, err
	}
	written := &cases.Case{
		Folder: folder, Definition: definition, Job: w.text(c.Job), Arguments: w.texts(c.Arguments), Exit: max(c.Exit, 0), Missing: c.Missing,
		Seconds: c.Duration.Round(time.Millisecond).Seconds(), Stdout: w.output(c.Stdout), Stderr: w.output(c.Stderr),
	}
	if len(c.Cut) > 0 {
		written.Description = fmt.Sprintf("Only the beginning of %s was recorded.", strings.Join(c.Cut, " and "))
	}
	if c.Command != nil && !isNeededByOther(c.Command) {
		written.Command = w.selector(c.Command)
	}
	return written, nil
}

// isNeededByOther reports whether a command runs for another one and belongs to its case.
func isNeededByOther(c *config.Command) bool {
	return c.Element.ServesAnother()
}

// joined returns the output of the commands that ran for one: a batch before it, joins
// after it.
func (w *writer) joined(at int) map[string][]byte {
	joined := map[string][]byte{}
	for name, needed := range w.Commands[at].Command.Needed() {
		isIt := func(c Recorded) bool { return c.Command == needed }
		if name == config.BatchIDs {
			earlier := slices.Clone(w.Commands[:at])
			slices.Reverse(earlier)
			if found := slices.IndexFunc(earlier, isIt); found >= 0 {
				joined[name] = w.output(earlier[found].Stdout)
			}
		} else if found := slices.IndexFunc(w.Commands[at:], isIt); found >= 0 {
			joined[name] = w.output(w.Commands[at+found].Stdout)
		}
	}
	return joined
}

// selector returns the selector of a command.
func (w *writer) selector(c *config.Command) string {
	candidates := []string{string(c.Element), string(c.Element) + ":" + c.Name}
	if c.Element == config.Fallback || len(w.Loaded.CommandsOf(c.Element)) > 1 {
		candidates = candidates[1:]
	}
	for i := range len(w.Loaded.Commands) + 1 {
		candidates = append(candidates, fmt.Sprintf("%s[%d]", c.Element, i+1))
	}
	for _, candidate := range candidates {
		if found, _, err := w.Loaded.Select(candidate); err == nil && found == c {
			return candidate
		}
	}
	return candidates[0]
}

// definitionFrom returns the definition's name relative to a folder.
func (w *writer) definitionFrom(folder string) (string, error) {
	if !strings.ContainsAny(w.Definition, `/\`) && !strings.HasSuffix(w.Definition, ".xml") {
		return w.Definition, nil
	}
	file, err := filepath.Abs(w.Definition)
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err == nil {
		file, err = filepath.Rel(folder, file)
	}
	if err != nil {
		return "", fmt.Errorf("naming the definition: %w", err)
	}
	return filepath.ToSlash(file), nil
}

// cases writes a case of each command that differs from those before it.
func (w *writer) cases(ctx context.Context) error {
	for at, c := range w.Commands {
		if c.Command == nil || isNeededByOther(c.Command) || c.Failure != nil && !c.Missing {
			continue
		}
		if len(c.Cut) > 0 {
			w.remark("%s printed more than %d bytes and gets no case", w.selector(c.Command), MaxOutput)
			continue
		}
		folder := filepath.Join(w.Folder, casesFolder, fmt.Sprintf("%02d-%s", w.last+1, fileName(c.Command)))
		written, err := w.recordedCase(folder, c)
		if err != nil {
			return err
		}
		written.Joined = w.joined(at)
		if key := contents(written); w.known[key] {
			continue
		} else {
			w.known[key] = true
		}
		if err := w.expect(ctx, written, c); err != nil {
			return err
		}
		if err := w.write(written, c); err != nil {
			return err
		}
		w.written.Cases = append(w.written.Cases, folder)
		w.last++
	}
	return nil
}

func (w *writer) write(written *cases.Case, c Recorded) error {
	if err := cases.Write(written); err != nil {
		return err
	}
	started := struct {
		Directory   string            `toml:"directory,omitempty"`
		Environment map[string]string `toml:"environment,omitempty"`
		Stdin       string            `toml:"stdin,omitempty,multiline"`
	}{Directory: w.text(c.Directory), Environment: map[string]string{}, Stdin: strings.ToValidUTF8(w.text(string(c.Stdin)), "\uFFFD")}
	for name, value := range w.settings(c) {
		started.Environment[name] = w.text(value)
	}
	text, err := toml.Marshal(started)
	if err != nil {
		return fmt.Errorf("writing %s: %w", startedFile, err)
	}
	if len(text) == 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(written.Folder, startedFile), text, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", startedFile, err)
	}
	return nil
}

func contents(c *cases.Case) string {
	all := strings.Join(append([]string{c.Command, c.Job, string(c.Stdout), string(c.Stderr), fmt.Sprint(c.Exit, c.Missing)}, c.Arguments...), "\x00")
	return mark.ReplaceAllString(all, "@")
}

// mark is the mark of a query, which differs each time.
var mark = lazyregexp.New(`@[A-Za-z0-9]{16}`)

var notForFiles = lazyregexp.New(`[^A-Za-z0-9-]+`)

// fileName returns the name of a folder for recordings of a command.
func fileName(c *config.Command) string {
	name := string(c.Element)
	if c.Name != "" && c.Name != name {
		name = c.Name
	}
	name = strings.Trim(notForFiles.ReplaceAllString(name, "-"), "-")
	if name == "" || len(name) > 60 {
		name = string(c.Element)
	}
	return name
}
