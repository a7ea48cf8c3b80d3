package screen

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A text is the lines of a page: those that are fit to be shown, and between these
// what a job has written, of which only what is seen is made fit.
type text struct {
	before, raw, after []string
	width              int
}

func (t text) len() int { return len(t.before) + len(t.raw) + len(t.after) }

func (t text) line(i int) string {
	if i < len(t.before) {
		return t.before[i]
	}
	if i -= len(t.before); i < len(t.raw) {
		return outputLine(t.raw[i], t.width)
	}
	return t.after[i-len(t.raw)]
}

// factLines show the attributes that the element has.
func (s *detail) factLines(width int, now time.Time) []string {
	var names, values []string
	add := func(name, value string) {
		if value = safe(value); value != "" {
			names, values = append(names, safe(name)), append(values, withoutMarks(value))
		}
	}
	add("ID", s.of.id)
	if s.kind != model.ResourceManager {
		add("Manager", s.last.manager.Element().Name())
	}
	for definition, value := range s.last.element.Attributes() {
		if definition.ID == model.AttributeID || definition.ID == model.AttributeName && value.Text() == s.of.id {
			continue
		}
		if definition.ID == monitor.AttributeProblems {
			name := definition.Label()
			for _, problem := range value.Array() {
				add(name, problem)
				name = ""
			}
			continue
		}
		text := value.Text()
		if value.Type() == model.Date && !value.Time().IsZero() {
			text = value.Time().Local().Format(time.DateTime) + "  (" + since(value.Time(), now) + " ago)"
		}
		add(definition.Label(), text)
	}
	for _, kind := range s.kind.Children() {
		if s.kind == model.ResourceManager {
			children := kind.String() + "s"
			add(strings.ToUpper(children[:1])+children[1:], fmt.Sprint(s.last.manager.Len(kind)))
		}
	}
	for _, job := range s.jobs {
		add("Job "+job.element.ID(), jobLine(job))
	}
	for process := range s.processes() {
		add("Process "+process.ID(), processLine(row{s.last.manager, process}))
	}
	widest := 0
	for _, name := range names {
		widest = max(widest, widthOf(name))
	}
	widest = min(widest, max(width/3, 8))
	var lines []string
	if s.gone {
		lines = append(lines, styled(styleWarning, "  It is not listed any more; this is what was seen last."))
	}
	for i, name := range names {
		label := "  " + padded(name, widest) + "  "
		for _, part := range wrapped(values[i], width-widest-4) {
			lines = append(lines, styled(styleFaint, label)+part)
			label = strings.Repeat(" ", widest+4)
		}
	}
	return lines
}

// mostProcesses is how many processes are shown of a job or a node.
const mostProcesses = 1000

// processes yields the processes of a job, or those on a node.
func (s *detail) processes() iter.Seq[*model.Element] {
	return func(yield func(*model.Element) bool) {
		processes := func(func(*model.Element) bool) {}
		switch s.kind {
		case model.Job:
			processes = s.last.manager.Children(model.Process, s.of.id)
		case model.Node:
			processes = s.last.manager.OnNode(s.of.id)
		}
		shown := 0
		for process := range processes {
			if shown++; shown > mostProcesses || !yield(process) {
				return
			}
		}
	}
}

// processLine tells of a process on one line.
func processLine(process row) string {
	state := process.element.State()
	parts := []string{string(state)}
	if node := process.text(model.AttributeProcessNodeID); node != "" {
		parts = append(parts, "on "+node)
	}
	if pid := process.text("processPID"); pid != "0" {
		parts = append(parts, "PID "+pid)
	}
	switch state {
	case model.ProcessExited:
		parts = append(parts, "code "+process.text(model.AttributeProcessExitCode))
	case model.ProcessSignalled:
		parts = append(parts, "by "+process.text("processSignalName"))
	}
	return strings.Join(parts, "  ")
}

// wrapped is a safe text over as many lines as it takes, up to a bound.
func wrapped(text string, width int) []string {
	const most = 50
	if widthOf(text) <= width {
		return []string{text}
	}
	width = max(width, 8)
	if longest := most * width; len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}

// historyLines show what is on record of a job: what was seen, when, by which
// command, and the line that it was read from.
func (s *detail) historyLines(width int) []string {
	switch {
	case s.problem != "":
		return wrapped("  "+s.problem, width)
	case !s.looked || s.history == nil:
		return []string{"  Looking it up ..."}
	}
	if s.told != nil && s.toldFor == width {
		return s.told
	}
	var lines []string
	for _, event := range s.history {
		seen := event.Observed
		if seen.IsZero() {
			seen = event.Recorded
		}
		first := seen.Local().Format(time.DateTime) + "  " + safe(string(event.Kind))
		if event.Detail != "" {
			first += "  " + safe(string(event.Detail))
		}
		if event.Native != "" {
			first += fmt.Sprintf(" (%s)", safe(event.Native))
		}
		lines = append(lines, styled(styleTitle, cut(first, width)))
		where := safe(event.Source)
		if event.Origin.Line > 0 {
			where += fmt.Sprintf(" %s:%d", safe(event.Origin.Stream), event.Origin.Line)
		}
		for _, part := range []string{event.Reason, cmp.Or(event.Origin.Text, event.Evidence)} {
			if part = safe(part); part != "" {
				if where != "" {
					part, where = where+": "+part, ""
				}
				for _, line := range wrapped(part, width-4) {
					lines = append(lines, "    "+line)
				}
			}
		}
		if where != "" {
			lines = append(lines, "    "+fitted(where, width-4))
		}
	}
	s.told, s.toldFor = lines, width
	return lines
}

// outputLines show the end of what a job has written.
func (s *detail) outputLines(width int) text {
	if s.output == nil {
		return text{}
	}
	t := text{width: width}
	var isWhole bool
	t.raw, isWhole = s.output.kept.last()
	if !isWhole {
		t.before = []string{styled(styleFaint, cut("(what stands before is not shown; rmctl output "+fitted(s.of.manager+"/"+s.of.id, 60)+" prints all)", width))}
	}
	switch {
	case s.output.err != nil:
		for _, line := range wrapped("! "+safe(s.output.err.Error()), width) {
			t.after = append(t.after, styled(styleProblem, line))
		}
	case s.output.ended:
		t.after = []string{styled(styleFaint, "(the end)")}
	case len(t.raw) == 0:
		t.after = []string{styled(styleFaint, "(nothing yet)")}
	}
	return t
}

// outputLine makes a line of output fit to be shown. Of a line that is written again
// and again, such as a bar, the last state counts.
func outputLine(line string, width int) string {
	line = strings.TrimRight(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return cut(strings.ReplaceAll(withoutMarks(Printable(line)), "\t", "    "), width)
}
