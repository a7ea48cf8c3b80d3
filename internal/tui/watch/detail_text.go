package watch

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A text is the lines of a page: those that are fit to be shown, and between these
// what a job has written, which is made fit only as far as it is seen.
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
	var facts factList
	facts.add("ID", s.ref.id)
	if s.kind != model.ResourceManager {
		facts.add("Target", s.last.manager.Element().Name())
	}
	for definition, value := range s.last.element.Attributes() {
		if s.kind == model.Job && definition.ID == vocabulary.AttributeJobState {
			facts.add(definition.Label(), jobWord(s.last))
			continue
		}
		if definition.ID != vocabulary.AttributeID && (definition.ID != vocabulary.AttributeName || value.Text() != s.ref.id) {
			facts.addAttribute(definition, value, now)
		}
	}
	if s.kind == model.ResourceManager {
		for _, kind := range s.kind.Children() {
			children := nameOf(kind) + "s"
			facts.add(strings.ToUpper(children[:1])+children[1:], fmt.Sprint(s.last.manager.Len(kind)))
		}
	}
	for _, job := range s.jobs {
		facts.add("Job "+job.element.ID(), jobLine(job))
	}
	for process := range s.processes() {
		facts.add("Process "+process.ID(), processLine(row{s.last.manager, process}))
	}
	lines := facts.lines(width)
	if s.gone {
		lines = slices.Insert(lines, 0, tui.Styled(styleWarning, "  It is no longer listed; showing its last known state."))
	}
	return lines
}

// A factList holds names and values that can be shown.
type factList struct{ names, values []string }

// add adds a value that is not empty.
func (f *factList) add(name, value string) {
	if value = tui.Safe(value); value != "" {
		f.names, f.values = append(f.names, tui.Safe(name)), append(f.values, tui.WithoutMarks(value))
	}
}

// addAttribute adds an attribute: of problems each, of dates also how long ago.
func (f *factList) addAttribute(definition *model.Definition, value model.Value, now time.Time) {
	name := definition.Label()
	if definition.ID == vocabulary.AttributeProblems {
		for _, problem := range value.Array() {
			f.add(name, problem)
			name = ""
		}
		return
	}
	text := value.Text()
	if value.Type() == model.Date && !value.Time().IsZero() {
		text = value.Time().Local().Format(time.DateTime) + "  (" + since(value.Time(), now) + " ago)"
	}
	f.add(name, text)
}

// lines returns the list in two columns.
func (f *factList) lines(width int) []string {
	widest := 0
	for _, name := range f.names {
		widest = max(widest, tui.Width(name))
	}
	widest = min(widest, max(width/3, 8))
	var lines []string
	for i, name := range f.names {
		label := "  " + padded(name, widest) + "  "
		for _, part := range tui.Wrapped(f.values[i], width-widest-4) {
			lines = append(lines, tui.Styled(tui.StyleFaint, label)+part)
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
			processes = s.last.manager.Children(model.Process, s.ref.id)
		case model.Node:
			processes = s.last.manager.OnNode(s.ref.id)
		}
		shown := 0
		for process := range processes {
			if shown++; shown > mostProcesses || !yield(process) {
				return
			}
		}
	}
}

// processLine describes a process on one line.
func processLine(process row) string {
	state := process.element.State()
	parts := []string{string(state)}
	if node := process.text(vocabulary.AttributeProcessNodeID); node != "" {
		parts = append(parts, "on "+node)
	}
	if pid := process.text("processPID"); pid != "0" {
		parts = append(parts, "PID "+pid)
	}
	switch state {
	case vocabulary.StateExited:
		parts = append(parts, "code "+process.text(vocabulary.AttributeProcessExitCode))
	case vocabulary.StateSignalled:
		parts = append(parts, "by "+process.text("processSignalName"))
	}
	return strings.Join(parts, "  ")
}

// historyLines show the recorded events of a job.
func (s *detail) historyLines(width int) []string {
	switch {
	case s.problem != "":
		return tui.Wrapped("  "+s.problem, width)
	case !s.looked || s.history == nil:
		return []string{"  Loading ..."}
	}
	if s.lines != nil && s.linesFor == width {
		return s.lines
	}
	var lines []string
	for _, event := range s.history {
		lines = append(lines, tui.Styled(tui.StyleTitle, tui.Cut(eventTitle(event), width)))
		lines = append(lines, evidenceLines(event, width)...)
	}
	s.lines, s.linesFor = lines, width
	return lines
}

// eventTitle says when an event was observed, and the state it reports.
func eventTitle(event job.Event) string {
	observed := event.Observed
	if observed.IsZero() {
		observed = event.Recorded
	}
	title := observed.Local().Format(time.DateTime) + "  " + tui.Safe(string(event.Kind))
	if event.Detail != "" {
		title += "  " + event.Detail.Word()
		if word := event.Detail.Word(); word != string(event.Detail) {
			title += "  " + tui.Safe(string(event.Detail))
		}
	}
	if event.Native != "" {
		title += fmt.Sprintf(" (%s)", tui.Safe(event.Native))
	}
	return title
}

// evidenceLines show the command that reported an event, its reason, and the line that
// it was read from.
func evidenceLines(event job.Event, width int) []string {
	var lines []string
	where := tui.Safe(event.Source)
	if event.Origin.Line > 0 {
		where += fmt.Sprintf(" %s:%d", tui.Safe(event.Origin.Stream), event.Origin.Line)
	}
	for _, part := range []string{event.Reason, cmp.Or(event.Origin.Text, event.Evidence)} {
		part = tui.Safe(part)
		if part == "" {
			continue
		}
		if where != "" {
			part, where = where+": "+part, ""
		}
		for _, line := range tui.Wrapped(part, width-4) {
			lines = append(lines, "    "+line)
		}
	}
	if where != "" {
		lines = append(lines, "    "+tui.Fitted(where, width-4))
	}
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
		t.before = []string{tui.Styled(tui.StyleFaint, tui.Cut("(earlier output is not shown; rmctl output "+tui.Fitted(s.ref.manager+"/"+s.ref.id, 60)+" prints everything)", width))}
	}
	switch {
	case s.output.err != nil:
		for _, line := range tui.Wrapped("! "+tui.Safe(s.output.err.Error()), width) {
			t.after = append(t.after, tui.Styled(tui.StyleProblem, line))
		}
	case s.output.ended:
		t.after = []string{tui.Styled(tui.StyleFaint, "(the end)")}
	case len(t.raw) == 0:
		t.after = []string{tui.Styled(tui.StyleFaint, "(nothing yet)")}
	}
	return t
}

// outputLine makes a line of output fit to be shown. Of a line that is written again
// and again, such as a bar, the last state counts.
func outputLine(line string, width int) string {
	line = strings.TrimRight(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return tui.Cut(strings.ReplaceAll(tui.WithoutMarks(tui.Printable(line)), "\t", "    "), width)
}
