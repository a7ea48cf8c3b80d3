package cases

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/rms"
	"github.com/rmctl/rmctl/tokenizer"
)

// A Runner runs cases and flows. The zero value is ready to use, and methods may be called
// concurrently.
type Runner struct {
	Definition string // overrides the definition of cases; a shipped name or a file
	// Loaded overrides all of these, if set.
	Loaded   *config.Definition
	Types    map[string]tokenizer.Factory
	Update   bool // write results that differ as expected results
	Parallel int  // number of cases at a time; the number of processors if not positive

	// Trace receives the steps of parsers; it may be nil. Unless Parallel is 1, calls for
	// different cases and flows overlap.
	Trace func(read Reading, event tokenizer.TraceEvent)
	// Step receives the steps of readers.
	Step func(read Reading, step reader.Step)

	expressions tokenizer.Expressions

	loading sync.Mutex
	loaded  map[string]func() (*config.Definition, error)
}

// A Reading is a parser or reader with recorded output.
type Reading struct {
	Folder     string // of the case, or of the recorded command of a flow
	Definition *config.Definition
	Parser     *config.Parser  // nil for a reader
	Command    *config.Command // of a reader; nil for a parser
}

// A Verdict is the verdict on a case.
type Verdict string

// The verdicts.
const (
	Passed    Verdict = "passed"
	Differing Verdict = "failed"  // the result differs from the expectation
	Updated   Verdict = "updated" // the result differed, and was written as the expectation
	Broken    Verdict = "broken"  // it could not run because of a file or the definition
)

// A Result is the result of a case or a flow.
type Result struct {
	Folder      string
	Definition  string // as the case names it; empty if unknown
	Command     string // of a case; empty for a flow
	Verdict     Verdict
	Differences []Difference
	Err         error // for Broken: the reason
	Duration    time.Duration
	Flow        *Flow // nil for a case, and for a flow that could not be read
}

// Resolve returns the shipped name or the file of the definition that a case in the folder
// names.
func (r *Runner) Resolve(name, folder string) (string, error) {
	if r.Definition != "" {
		name, folder = r.Definition, ""
	}
	if name == "" {
		return "", errors.New("no definition given")
	}
	if namesFile(name) && !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	return name, nil
}

// Load returns the definition that a case in the folder names, loading it once. Problems
// of the definition are a *config.InvalidError.
func (r *Runner) Load(name, folder string) (*config.Definition, error) {
	if r.Loaded != nil {
		return r.Loaded, nil
	}
	name, err := r.Resolve(name, folder)
	if err != nil {
		return nil, err
	}
	r.loading.Lock()
	if r.loaded == nil {
		r.loaded = map[string]func() (*config.Definition, error){}
	}
	load := r.loaded[name]
	if load == nil {
		load = sync.OnceValues(func() (*config.Definition, error) {
			definition, _, err := check.UsableDefinition(name)
			return definition, err
		})
		r.loaded[name] = load
	}
	r.loading.Unlock()
	return load()
}

// namesFile reports whether the name of a definition is that of a file, and not
// of a shipped definition. Looking a shipped one up copies all of it.
func namesFile(name string) bool {
	if !strings.ContainsAny(name, `/\`) && !strings.HasSuffix(name, ".xml") {
		return false
	}
	_, isShipped := rms.Source(name)
	return !isShipped
}

// run tries one case that was read.
func (r *Runner) run(ctx context.Context, c *Case) Result {
	began := time.Now()
	result := Result{Folder: c.Folder, Definition: c.Definition, Command: c.Command}
	var err error
	result.Differences, err = r.try(ctx, c)
	r.conclude(&result, err, func() error { return writeExpected(c) })
	result.Duration = time.Since(began)
	return result
}

// conclude decides on the verdict, and with Update makes it what is expected.
func (r *Runner) conclude(result *Result, err error, update func() error) {
	switch {
	case err != nil:
		result.Verdict, result.Err = Broken, err
	case len(result.Differences) == 0:
		result.Verdict = Passed
	case !r.Update:
		result.Verdict = Differing
	default:
		result.Verdict = Updated
		if err := update(); err != nil {
			result.Verdict, result.Err = Broken, err
		}
	}
}

// try returns how a case differs; with Update the case then expects what it got.
func (r *Runner) try(ctx context.Context, c *Case) ([]Difference, error) {
	if c.Expected == nil && !r.Update {
		return nil, &readError{filepath.Join(c.Folder, expectedFile), errors.New("missing; --update writes it")}
	}
	answer, err := r.Evaluate(ctx, c)
	if err != nil {
		return nil, err
	}
	got := answer.Reduced(c.Expected)
	found, err := differences(c.Expected, got)
	if err != nil {
		return nil, fmt.Errorf("comparing with %s: %w", expectedFile, err)
	}
	if len(c.Arguments) > 0 && !MatchArguments(c.Arguments, answer.Arguments) {
		found = append(found, Difference{Where: "argv", Expected: c.Arguments, Actual: answer.Arguments})
		if r.Update {
			c.Arguments = answer.Arguments
			if err := writeTOML(filepath.Join(c.Folder, caseFile), c); err != nil {
				return nil, err
			}
		}
	}
	if r.Update {
		c.Expected = &got
	}
	return found, nil
}

// Evaluate returns what the definition makes of a case.
func (r *Runner) Evaluate(ctx context.Context, c *Case) (*Answer, error) {
	definition, err := r.Load(c.Definition, c.Folder)
	if err != nil {
		return nil, fmt.Errorf("%s: definition %q: %w", filepath.Join(c.Folder, caseFile), c.Definition, err)
	}
	e := evaluation{definition: definition, types: r.Types, expressions: &r.expressions}
	if r.Trace != nil {
		e.trace = func(parser *config.Parser, event tokenizer.TraceEvent) {
			r.Trace(Reading{Folder: c.Folder, Definition: definition, Parser: parser}, event)
		}
	}
	if r.Step != nil {
		e.step = func(which *config.Command, step reader.Step) {
			r.Step(Reading{Folder: c.Folder, Definition: definition, Command: which}, step)
		}
	}
	answer, err := e.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(c.Folder, caseFile), err)
	}
	return answer, nil
}

// RunFolder reads and runs the case or the flow in a folder.
func (r *Runner) RunFolder(ctx context.Context, folder string) Result {
	if IsFlow(folder) {
		flow, err := readFlow(folder)
		if err != nil {
			return Result{Folder: folder, Verdict: Broken, Err: err}
		}
		return r.runFlow(ctx, flow)
	}
	c, err := Read(folder)
	if err != nil {
		return Result{Folder: folder, Verdict: Broken, Err: err}
	}
	return r.run(ctx, c)
}

// RunAll runs the cases and flows in the folders, several at a time, and reports results
// in the order of the folders. It stops with an error if ctx is done or report fails.
func (r *Runner) RunAll(ctx context.Context, folders []string, report func(Result) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	count := r.Parallel
	if count <= 0 {
		count = runtime.GOMAXPROCS(0)
	}
	results := make([]chan Result, len(folders))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	var next atomic.Int64
	for range count {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				results[i] <- r.RunFolder(ctx, folders[i])
			}
		})
	}
	for _, each := range results {
		select {
		case result := <-each:
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := report(result); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
