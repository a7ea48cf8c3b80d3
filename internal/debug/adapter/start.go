package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// A launching is a program on its way: it waits in a queue, or its ranks connect.
type launching struct {
	request *request
	cancel  context.CancelFunc
	number  int
	reports bool // as progress, otherwise to the console
}

func (l *launching) progressID() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("launch-%d", l.number)
}

// capabilities are those of the adapter. A debugger may still refuse a request.
func capabilities() dap.Capabilities {
	condition := "an expression; $rank is the rank"
	filter := func(name, label string) dap.ExceptionBreakpointsFilter {
		return dap.ExceptionBreakpointsFilter{Filter: name, Label: label, SupportsCondition: true, ConditionDescription: condition}
	}
	return dap.Capabilities{
		SupportsConfigurationDoneRequest:  true,
		SupportsFunctionBreakpoints:       true,
		SupportsConditionalBreakpoints:    true,
		SupportsHitConditionalBreakpoints: true,
		SupportsEvaluateForHovers:         true,
		SupportsSetVariable:               true,
		SupportsSetExpression:             true,
		SupportsRestartRequest:            true,
		SupportsExceptionInfoRequest:      true,
		SupportTerminateDebuggee:          true,
		SupportsDelayedStackTraceLoading:  true,
		SupportsLogPoints:                 true,
		SupportsTerminateRequest:          true,
		SupportsDataBreakpoints:           true,
		SupportsCancelRequest:             true,
		SupportsClipboardContext:          true,
		SupportsExceptionFilterOptions:    true,
		ExceptionBreakpointFilters: []dap.ExceptionBreakpointsFilter{
			filter("throw", "C++: thrown"), filter("catch", "C++: caught"), filter("panic", "Go: panics"),
		},
	}
}

func (a *adapter) initialize(r *request, message *dap.InitializeRequest) {
	switch {
	case a.isInitialized:
		a.fail(r, "the session is initialized already")
	case message.Arguments.PathFormat != "" && message.Arguments.PathFormat != "path":
		a.fail(r, "unsupported format of paths "+quoted(message.Arguments.PathFormat)+": use path")
	default:
		a.isInitialized, a.client = true, message.Arguments
		a.respond(r, &dap.InitializeResponse{Body: capabilities()})
	}
}

func (a *adapter) launch(r *request, message *dap.LaunchRequest) {
	a.begin(r, message.Arguments, false, func() { a.respond(r, &dap.LaunchResponse{}) })
}

func (a *adapter) attach(r *request, message *dap.AttachRequest) {
	a.begin(r, message.Arguments, true, func() { a.respond(r, &dap.AttachResponse{}) })
}

// begin launches the first program. The editor may then set breakpoints, and reports when it has set them.
func (a *adapter) begin(r *request, text json.RawMessage, isAttach bool, respond func()) {
	arguments, err := parseLaunch(text, isAttach)
	switch {
	case err != nil:
		a.fail(r, err.Error())
	case a.program != nil || a.launching != nil:
		a.fail(r, "the session has a program already")
	default:
		a.launchProgram(r, arguments, func() {
			respond()
			a.send("initialized", &dap.InitializedEvent{})
		})
	}
}

// launchProgram has a program launched, and calls then once it is there.
func (a *adapter) launchProgram(r *request, arguments LaunchArguments, then func()) {
	ctx, cancel := context.WithCancel(a.ctx)
	stop := context.AfterFunc(r.ctx, cancel)
	a.lastLaunch++
	l := &launching{request: r, cancel: cancel, number: a.lastLaunch, reports: a.client.SupportsProgressReporting}
	a.launching = l
	a.startProgress(l, arguments)
	report := func(text string) { a.post(func() { a.report(l, text) }) }
	a.tasks.Go(func() {
		launched, err := a.options.Launch(ctx, arguments, report)
		stop()
		posted := a.post(func() {
			a.endProgress(l)
			a.launching = nil
			switch {
			case err != nil:
				cancel()
				a.fail(r, err.Error())
			case a.isEnding || ctx.Err() != nil:
				a.tasks.Go(func() { a.abandon(launched, arguments, cancel) })
				a.fail(r, context.Canceled.Error())
			default:
				a.adopt(&program{launched: launched, session: launched.Session, arguments: arguments, cancel: cancel})
				then()
			}
		})
		switch {
		case posted:
		case err == nil:
			a.abandon(launched, arguments, cancel)
		default:
			cancel()
		}
	})
}

// abandon ends a program that was launched although the editor has canceled that. Nobody hears of problems.
func (a *adapter) abandon(launched *Launched, arguments LaunchArguments, canceled context.CancelFunc) {
	defer canceled()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), endLimit)
	defer cancel()
	_ = launched.End(ctx, !arguments.IsAttach)
}

// adopt makes a program the one that the editor debugs.
func (a *adapter) adopt(p *program) {
	p.references, p.commands = newReferences(), map[int]*command{}
	a.program = p
	name, method := p.arguments.Program, "launch"
	if p.arguments.IsAttach {
		name, method = "job "+p.arguments.Job, "attach"
	}
	a.send("process", &dap.ProcessEvent{Body: dap.ProcessEventBody{Name: cmp.Or(name, p.arguments.Configuration), StartMethod: method}})
	a.takeReports()
}

// configurationDone starts the program: the editor has set its breakpoints.
func (a *adapter) configurationDone(r *request, _ *dap.ConfigurationDoneRequest) {
	switch p := a.program; {
	case p == nil:
		a.fail(r, "no program has been launched")
	case p.isStarted:
		a.fail(r, "the program runs already")
	default:
		a.respond(r, &dap.ConfigurationDoneResponse{})
		a.start(p)
	}
}

// start sets the breakpoints and starts the ranks.
func (a *adapter) start(p *program) {
	p.isStarted = true
	a.compareBuilds(p)
	if !p.arguments.NoDebug {
		a.awaitPlaces(p, p.session.SendBreakpoints(a.breakpoints.all()), func() {})
	}
	ctx, cancel := context.WithTimeout(a.ctx, startLimit)
	all := p.session.Ranks(debug.Ready)
	moved := p.move(all)
	a.tasks.Go(func() {
		defer cancel()
		parts := p.session.Start(ctx, debug.Request{Stop: p.arguments.Stop})
		a.post(func() {
			if p != a.program {
				return
			}
			a.reportProblems("cannot start", parts)
			a.acknowledge(moved, parts)
		})
	})
}

// compareBuilds warns if ranks run different programs: their breakpoints and variables differ then.
func (a *adapter) compareBuilds(p *program) {
	builds := p.session.Builds()
	if len(builds) < 2 {
		return
	}
	texts := make([]string, 0, mostNamed)
	for _, ranks := range builds[:min(len(builds), mostNamed)] {
		texts = append(texts, nameRanks(ranks))
	}
	a.print(categoryImportant, "warning: the program has different builds on "+strings.Join(texts, " and ")+"\n")
}

// restart ends the program, and launches it again.
func (a *adapter) restart(r *request, message *dap.RestartRequest) {
	p := a.program
	if p == nil || a.launching != nil {
		a.fail(r, "no program has been launched")
		return
	}
	var changed struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	arguments, err := p.arguments, error(nil)
	if len(message.Arguments) > 0 {
		err = json.Unmarshal(message.Arguments, &changed)
	}
	if err == nil && len(changed.Arguments) > 0 {
		arguments, err = parseLaunch(changed.Arguments, p.arguments.IsAttach)
	}
	if err != nil {
		a.fail(r, err.Error())
		return
	}
	a.drop(p)
	a.launching = &launching{request: r, cancel: r.cancel}
	a.tasks.Go(func() {
		err := a.endProgram(p, !p.arguments.IsAttach)
		a.post(func() {
			a.launching = nil
			if err != nil {
				a.print(categoryImportant, "ending the program: "+err.Error()+"\n")
			}
			if a.isEnding {
				a.fail(r, "the session ends")
				return
			}
			a.launchProgram(r, arguments, func() {
				a.respond(r, &dap.RestartResponse{})
				a.start(a.program)
			})
		})
	})
}
