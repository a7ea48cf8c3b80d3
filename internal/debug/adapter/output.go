package adapter

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// The categories of output that editors know.
const (
	categoryConsole   = "console"
	categoryImportant = "important"
)

// mostOutput bounds the text of an output event, in bytes.
const mostOutput = 64 << 10

// print shows a text in the console of the editor.
func (a *adapter) print(category, text string) {
	a.send("output", &dap.OutputEvent{Body: dap.OutputEventBody{Category: category, Output: text}})
}

func (a *adapter) addOutput(update debug.Update) {
	a.program.lines.Add(update.Rank, update.Stream, update.Text)
	a.program.addedLines = true
	a.awaitOutput()
}

func (a *adapter) addOmitted(update debug.Update) {
	a.program.lines.Add(update.Rank, debug.StreamDebugger, fmt.Sprintf("%d bytes of output omitted\n", update.Omitted))
	a.program.addedLines = true
	a.awaitOutput()
}

func (a *adapter) awaitOutput() {
	if a.outputTimer == nil {
		a.outputTimer = time.After(outputTime)
	}
}

// flushOutput shows the lines that ranks have printed, and those without an end if nothing followed for a while.
func (a *adapter) flushOutput(all bool) {
	a.outputTimer = nil
	p := a.program
	if p == nil {
		return
	}
	lines := p.lines.Take(all || !p.addedLines)
	if p.addedLines {
		a.awaitOutput()
	}
	p.addedLines = false
	var text strings.Builder
	category := ""
	for _, line := range lines {
		if next := categoryOf(line.Stream); next != category || text.Len()+len(line.Text) > mostOutput {
			a.printLines(category, &text)
			category = next
		}
		if p.hasMany() {
			text.WriteString("[" + nameSet(line.Ranks) + "] ")
		}
		text.WriteString(line.Text + "\n")
	}
	a.printLines(category, &text)
}

func (a *adapter) printLines(category string, text *strings.Builder) {
	if text.Len() > 0 {
		a.print(category, text.String())
		text.Reset()
	}
}

// hasMany reports whether the program has several ranks, so that output needs their numbers.
func (p *program) hasMany() bool {
	return max(p.launched.Size, p.session.Ranks().Count()) > 1
}

func categoryOf(stream string) string {
	switch stream {
	case debug.StreamOutput, debug.StreamErrors:
		return stream
	}
	return categoryConsole
}

// startProgress announces the launch of a program.
func (a *adapter) startProgress(l *launching, arguments LaunchArguments) {
	if !l.reports {
		return
	}
	title := "Launching " + arguments.Program
	if arguments.IsAttach {
		title = "Attaching to job " + arguments.Job
	}
	a.send("progressStart", &dap.ProgressStartEvent{Body: dap.ProgressStartEventBody{
		ProgressId: l.progressID(), Title: title, RequestId: l.request.Seq, Cancellable: true,
	}})
}

// report shows the progress of a launch, and later the events of the job.
func (a *adapter) report(l *launching, text string) {
	if l.reports && a.launching == l {
		a.send("progressUpdate", &dap.ProgressUpdateEvent{Body: dap.ProgressUpdateEventBody{ProgressId: l.progressID(), Message: text}})
		return
	}
	a.print(categoryConsole, text+"\n")
}

func (a *adapter) endProgress(l *launching) {
	if l.reports {
		a.send("progressEnd", &dap.ProgressEndEvent{Body: dap.ProgressEndEventBody{ProgressId: l.progressID()}})
	}
}

// quoted returns a text of an editor for a message.
func quoted(text string) string {
	const most = 100
	return strconv.Quote(text[:min(len(text), most)])
}
