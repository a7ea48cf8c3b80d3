package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rmctl/rmctl/debug"
)

// Options configure a prompt.
type Options struct {
	In         io.Reader
	Out        io.Writer
	IsTerminal bool      // In and Out are the user's terminal, In is an *os.File: lines are edited there
	JSON       bool      // answers are JSON objects, one a line
	Script     io.Reader // commands before those of In; may be nil
	History    string    // file of entered lines, in a private directory; empty for none
	Log        <-chan string

	Size    func() int                  // how many ranks the program has, 0 if unknown; may be nil
	Ready   func(context.Context) error // waits until all ranks have joined, or returns why they will not; may be nil
	Start   *debug.Request              // starts the ranks at the beginning; nil if the command "start" does
	IsKept  bool                        // at the end of the prompt ranks are detached from instead of killed
	Kill    func(context.Context) error // ends the whole job
	Release func(context.Context) error // detaches from all ranks
}

const (
	answerLimit = 30 * time.Second       // for an answer of ranks
	startLimit  = 15 * time.Minute       // for a start: debuggers read the symbols of large programs
	runLimit    = 2 * time.Second        // for the report that a rank runs, after it answered
	endLimit    = time.Minute            // for the end of the job
	stateDelay  = 50 * time.Millisecond  // in which states of many ranks are collected
	waitDelay   = 500 * time.Millisecond // the same while a command waits for all of them, and prints then
	outputDelay = 100 * time.Millisecond // in which equal lines are collected
	codeFailed  = 1                      // exit code if a command of a script failed
)

// errEnd ends the prompt.
var errEnd = errors.New("the prompt has ended")

// A prompt has all its state in the goroutine of Run.
type prompt struct {
	session  *debug.Session
	options  Options
	out      *printer
	terminal *console       // nil without one
	input    *bufio.Scanner // without a terminal

	focus         debug.Ranks // nil for all
	thread, frame int         // for evaluation; 0 for the usual ones
	current       line        // command
	place         position    // for list and break

	choice      atomic.Pointer[choice] // for completion
	breakpoints []debug.Breakpoint
	lastID      int
	placements  map[int]map[int]debug.Placement // by breakpoint and rank
	sources     map[string][]string             // lines of files; nil if they cannot be read

	lines      debug.Lines
	changed    map[int]bool  // ranks whose state is to be printed
	lost       debug.Ranks   // that are known to be lost
	waiting    map[int]bool  // ranks whose stop a command waits for
	awaitsRuns bool          // it waits until they run
	isReady    bool          // all ranks have joined
	allStopped chan struct{} // closed once waiting is empty; nil if no command waits
	timer      *time.Timer   // for what is to be printed
	due        time.Time     // when it fires; zero if it does not
}

// A position is a line of a file.
type position struct {
	file string
	line int
}

// Run reads commands and runs them until the user leaves, the input ends or the context ends. The code is 1 if a command
// of the script failed, which ends the prompt. The ranks are killed or detached from afterwards.
func Run(ctx context.Context, session *debug.Session, options Options) (code int, err error) {
	p := &prompt{
		session: session, options: options, placements: map[int]map[int]debug.Placement{}, sources: map[string][]string{},
		changed: map[int]bool{}, timer: time.NewTimer(time.Hour),
	}
	p.timer.Stop()
	defer p.timer.Stop()
	p.out = &printer{out: options.Out, isJSON: options.JSON, width: func() int { return usualWidth }}
	if file, isFile := options.In.(*os.File); isFile && options.IsTerminal {
		if p.terminal, err = openConsole(file, options.Out, p.complete, options.History); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, p.terminal.close()) }()
		p.out.out, p.out.width = p.terminal, p.terminal.width
	} else {
		p.input = bufio.NewScanner(options.In)
		p.input.Buffer(nil, longestLine)
	}
	code, err = p.run(ctx)
	return code, errors.Join(err, p.end(ctx))
}

// run runs all commands.
func (p *prompt) run(ctx context.Context) (code int, err error) {
	if err := p.begin(ctx); err != nil {
		return 0, err
	}
	if p.options.Script != nil {
		if isFailed, err := p.runScript(ctx); err != nil || isFailed {
			return codeIf(isFailed), withoutEnd(err)
		}
	}
	for err == nil {
		var text string
		text, err = p.read(ctx)
		if errors.Is(err, io.EOF) {
			text, err = "quit", nil
		}
		if err == nil {
			_, err = p.execute(ctx, p.repeated(parseLine(text)))
		}
	}
	return 0, withoutEnd(err)
}

// repeated returns the command before instead of an empty line at a terminal, if that makes sense.
func (p *prompt) repeated(l line) line {
	if p.terminal == nil || l != (line{}) {
		return l
	}
	if before, err := find(p.current.name); err == nil && before.repeats {
		return p.current
	}
	return l
}

func codeIf(isFailed bool) int {
	if isFailed {
		return codeFailed
	}
	return 0
}

func withoutEnd(err error) error {
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

// begin waits for the ranks, and starts them.
func (p *prompt) begin(ctx context.Context) error {
	if p.options.Ready != nil {
		err := run(ctx, p, p.options.Ready)
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			err = errors.New("interrupted before all ranks connected")
		}
		if err != nil {
			return err
		}
	}
	p.isReady = true
	p.compareBuilds()
	if p.options.Start == nil {
		return nil
	}
	r, err := p.start(ctx, *p.options.Start)
	r.Command = "start"
	if err == nil {
		p.out.reply(r)
	}
	return err
}

// mostBuilds bounds how many builds a warning names.
const mostBuilds = 5

// compareBuilds warns if ranks run different builds of the program, with code at other places.
func (p *prompt) compareBuilds() {
	builds := p.session.Builds()
	if len(builds) < 2 {
		return
	}
	texts := make([]string, 0, mostBuilds)
	for _, ranks := range builds[:min(len(builds), mostBuilds)] {
		texts = append(texts, ranks.String())
	}
	p.out.message(fmt.Sprintf("warning: the program has %d different builds, on the ranks %s", len(builds), strings.Join(texts, " and ")))
}

// runScript runs the commands of a script, and reports whether one has failed.
func (p *prompt) runScript(ctx context.Context) (isFailed bool, err error) {
	scanner := bufio.NewScanner(p.options.Script)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		l := parseLine(scanner.Text())
		isFailed, err = p.execute(ctx, l)
		if err != nil || isFailed && !l.mayFail {
			return isFailed, err
		}
	}
	if err := scanner.Err(); err != nil {
		return false, fmt.Errorf("reading commands: %w", err)
	}
	return false, nil
}

// execute runs a command, and reports whether it failed. An error ends the prompt.
func (p *prompt) execute(ctx context.Context, l line) (isFailed bool, err error) {
	p.current = l
	if l.name == "" {
		return false, nil
	}
	var r reply
	c, err := find(l.name)
	if err == nil {
		p.report()
		r, err = c.run(p, ctx, l.rest)
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	isEnd := errors.Is(err, errEnd)
	if err != nil && !isEnd {
		isFailed, r = true, reply{Error: err.Error()}
	}
	r.Command = l.text
	p.report()
	p.out.reply(r)
	switch {
	case p.out.err != nil:
		return isFailed, p.out.err
	case isEnd:
		return isFailed, errEnd
	}
	return isFailed || r.Error != "", nil
}

// read reads a line.
func (p *prompt) read(ctx context.Context) (string, error) {
	p.report()
	if p.out.err != nil {
		return "", p.out.err
	}
	type entered struct {
		text string
		err  error
	}
	ready := make(chan entered, 1)
	if p.terminal != nil {
		p.offer()
		go func() {
			text, err := p.terminal.read(p.promptText())
			ready <- entered{text, err}
		}()
	} else {
		go func() { // a read from a pipe ends with the process at the latest
			if p.input.Scan() {
				ready <- entered{p.input.Text(), nil}
				return
			}
			err := p.input.Err()
			if err == nil {
				err = io.EOF
			}
			ready <- entered{"", err}
		}()
	}
	got, err := until(ctx, p, ready, func() { p.halt(ctx) })
	if err == nil {
		err = got.err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("reading commands: %w", err)
	}
	return got.text, err
}

// promptText begins each line of the prompt.
func (p *prompt) promptText() string {
	if p.focus == nil {
		return "debug> "
	}
	return "debug " + label(p.focus) + "> "
}

// end kills or detaches from the ranks that are left.
func (p *prompt) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	defer p.report()
	left := p.session.Ranks(debug.Ready, debug.Running, debug.Stopped)
	switch {
	case len(left) == 0 && p.isReady:
		return nil
	case !p.options.IsKept:
		return run(ctx, p, p.options.Kill)
	case len(left) > 0:
		return run(ctx, p, p.options.Release)
	}
	return nil
}
