package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// jobPage is what the page of a job shows.
type jobPage struct {
	Row         jobRow
	IsListed    bool // whether its target shows it
	Doubts      []string
	Requested   string // what the scheduler has not confirmed yet; empty for nothing
	Facts       []fact
	Submission  []fact
	Script      string
	Operations  []operationButton
	Again       string       // address of the form that submits it again; empty if that cannot be done
	Stacks      string       // address of the stacks of its processes; empty if it has no running ones
	Output      []outputLink // empty where the job cannot have written anything
	Processes   []processRow
	ProcessMore int
	Cells       []mapLayer // the processes as a map
	CellsWidth  int
	CellsHeight int
	History     []historyRow
	HistoryLeft int
	Notes       []listing.Note
}

// An operationButton does something to a job.
type operationButton struct {
	Name, Label string
}

// An outputLink leads to what a job wrote.
type outputLink struct {
	Stream, Label string
	Address       string // of the API, which sends it unchanged
}

// A historyRow is an entry of a job's history, as rmctl explain prints it.
type historyRow struct {
	Seen     listing.Moment
	What     string
	Mark     *listing.Mark // nil if it has no state
	Native   string
	Source   string
	Place    string // where in the output of the command
	Line     string
	Evidence string
	Reason   string
}

// The most that the page of a job lists.
const (
	mostProcesses = 1000
	mostHistory   = 200
	cellsInRow    = 64
	recordTimeout = 5 * time.Second
)

// drawJob returns what the page of a job shows; nil if the job is unknown. The record
// knows more than its target about a job that was submitted through rmctl.
func (p *Pages) drawJob(s *model.Snapshot, manager, id string) (*jobPage, error) {
	m, known := s.Manager(manager)
	if !known {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, recordTimeout)
	defer cancel()
	record, err := p.Platform.Recorded(ctx, manager, id)
	if err != nil && !errors.Is(err, jobstore.ErrNotFound) {
		return nil, err
	}
	isRecorded := err == nil
	if isRecorded && record.ID != "" {
		id = record.ID
	}
	element, isListed := m.Get(model.Job, id)
	if !isListed && isRecorded {
		element, isListed = m.Get(model.Job, record.Tag)
	}
	if !isListed && !isRecorded {
		return nil, nil
	}
	page := &jobPage{IsListed: isListed, Notes: listing.NotesOf(s, manager, model.Job)}
	if isListed {
		page.Row = rowOf(listing.ListedJob{Manager: m, Job: element}, p.Ledger.Owner(s, m))
		page.Facts = page.furtherFacts(element, isRecorded)
		page.addProcesses(m, element.ID())
		if doubt := listing.GivenText(element, vocabulary.AttributeJobDoubt); doubt != "" && !isRecorded {
			page.Doubts = append(page.Doubts, listing.Fact(doubt))
		}
	} else {
		page.Row = rowOfRecord(record)
	}
	if isRecorded {
		if err := p.addRecord(ctx, page, record); err != nil {
			return nil, err
		}
	}
	page.addOutput(manager, id)
	page.Operations = p.operations(manager, element, record)
	page.Again = p.again(ctx, manager, record)
	page.Stacks = p.stacksLink(manager, id, page.Row.Mine, detailOf(element, record))
	return page, nil
}

// furtherFacts returns the attributes of a job that the rest of its page does not show.
func (page *jobPage) furtherFacts(e *model.Element, isRecorded bool) []fact {
	return factsOf(e, func(id string) bool {
		switch id {
		case vocabulary.AttributeJobDetail: // it may say who holds the job
			detail, _ := job.ParseDetail(listing.GivenText(e, id))
			return !detail.OnHold() && detail.Primary() != job.Suspended
		case vocabulary.AttributeJobTag, vocabulary.AttributeJobEnsemble, vocabulary.AttributeJobPart, vocabulary.AttributeJobOutput, vocabulary.AttributeJobErrors:
			return isRecorded
		case vocabulary.AttributeJobDoubt, vocabulary.AttributeJobExitCode, vocabulary.AttributeJobCPUs, "jobId":
			return true
		case "jobSubId": // the tag
			return true
		}
		return slices.Contains(usualColumns, id)
	})
}

// rowOfRecord returns how a job is shown that its target does not list.
func rowOfRecord(job job.Job) jobRow {
	detail := job.DetailOrUndetermined()
	m := listing.MarkOfJob(model.JobState(&job.Observation), string(detail))
	id := cmp.Or(job.ID, job.Tag)
	row := jobRow{
		Key: listing.ElementKey(job.Target, id), Address: listing.ElementAddress("/job", job.Target, id), Manager: listing.Cell(job.Target), ID: listing.Cell(id),
		Name: listing.Cell(job.Name), Mark: m, Native: listing.Cell(job.Native), User: listing.Cell(job.Owner), Queue: listing.Cell(job.Queue),
		Nodes: listing.Cell(job.Nodes), Reason: listing.Cell(job.Reason), Mine: true, Ended: detail.Ended(), Submitted: listing.Moment{At: job.SubmittedAt()},
	}
	if strings.EqualFold(row.Native, m.Word) {
		row.Native = ""
	}
	if job.ExitCode != nil {
		row.Exit = strconv.Itoa(*job.ExitCode)
	}
	return row
}

// markOfEvent returns how the state of a job in an event is shown. The event does not say whether
// a job that failed had started.
func markOfEvent(detail job.Detail) listing.Mark {
	if detail == job.Failed {
		return listing.MarkOfState(model.Job, listing.Failed)
	}
	return listing.MarkOfJob(model.JobState(&job.Observation{Detail: detail}), string(detail))
}

// processCells are the outlines of processes on the map of a job.
var processCells = map[model.State]string{
	vocabulary.StateStarting: listing.CellHalf, vocabulary.StateRunning: listing.CellFull, vocabulary.StateSuspended: listing.CellBar, vocabulary.StateExited: listing.CellHollow,
	vocabulary.StateSignalled: listing.CellCross, vocabulary.StateError: listing.CellPeak, vocabulary.StateUnknown: listing.CellSmall, "": listing.CellSmall,
}

// addProcesses puts the processes of the job on its page, as a table and as a map.
func (page *jobPage) addProcesses(m *model.Manager, job string) {
	places := map[model.State][]int{}
	var listed []*model.Element
	number := 0
	for process := range m.Children(model.Process, job) {
		if number >= mostMapped {
			page.ProcessMore++
			continue
		}
		places[listing.SeenState(process)] = append(places[listing.SeenState(process)], number)
		listed = append(listed, process)
		number++
	}
	if left := len(listed) - mostProcesses; left > 0 {
		// Of many the table has first what needs a look.
		slices.SortStableFunc(listed, func(a, b *model.Element) int { return trouble(b) - trouble(a) })
		listed, page.ProcessMore = listed[:mostProcesses], page.ProcessMore+left
	}
	for _, process := range listed {
		page.Processes = append(page.Processes, processRowOf(m, process))
	}
	if number < 2 {
		return // one process alone needs no map
	}
	columns := min(number, cellsInRow)
	page.CellsWidth, page.CellsHeight = columns*cellPitch, (number+columns-1)/columns*cellPitch
	for _, state := range append(model.States(model.Process), "") {
		if len(places[state]) > 0 {
			cell := processCells[state]
			mark := listing.MarkOfState(model.Process, state)
			mark.Sign = "M1 1" + cell
			page.Cells = append(page.Cells, mapLayer{Mark: mark, Path: outlines(places[state], columns, cell), Count: listing.Thousands(len(places[state]))})
		}
	}
}

// trouble returns how much a process needs a look.
func trouble(process *model.Element) int {
	switch listing.SeenState(process) {
	case vocabulary.StateError, vocabulary.StateSignalled:
		return 3
	case vocabulary.StateSuspended, vocabulary.StateUnknown, "":
		return 1
	case vocabulary.StateExited:
		if code := listing.GivenText(process, vocabulary.AttributeProcessExitCode); code != "" && code != "0" {
			return 2
		}
	}
	return 0
}

// addRecord puts what the record has about a job on its page.
func (p *Pages) addRecord(ctx context.Context, page *jobPage, j job.Job) error {
	add := func(name, value string) {
		if value != "" {
			page.Submission = append(page.Submission, fact{Name: name, Value: listing.Fact(value)})
		}
	}
	add("Tag", j.Tag)
	add("Ensemble", j.Ensemble)
	if j.Ensemble != "" && p.Ensembles != nil {
		page.Submission[len(page.Submission)-1].Address = ensembleLink(j.Ensemble)
	}
	add("Part", j.Part)
	add("Definition", j.Definition)
	add("Connection", j.Connection)
	add("Directory", j.Directory)
	add("Output", j.OutputPath)
	add("Errors", j.ErrorPath)
	if len(j.Arguments) > 0 {
		words := fact{Name: "Program"}
		for _, word := range j.Arguments[:min(len(j.Arguments), mostWords)] {
			words.Words = append(words.Words, listing.Fact(word))
		}
		page.Submission = append(page.Submission, words)
	}
	page.Script = listing.Output(listing.CutTo(j.Script, 256<<10))
	page.Doubts = append(page.Doubts, doubtsOf(j)...)
	if transition.Request(j.StaleReason) != "" {
		page.Requested = listing.Fact(j.StaleReason)
	}
	err := p.Store.History(ctx, j.Tag, func(event job.Event) error {
		if len(page.History) == mostHistory {
			page.History, page.HistoryLeft = append(page.History[:0], page.History[1:]...), page.HistoryLeft+1
		}
		page.History = append(page.History, historyRowOf(event))
		return nil
	})
	return err
}

// doubtsOf returns why what is known of a job may be wrong.
func doubtsOf(j job.Job) []string {
	var doubts []string
	add := func(text string) { doubts = append(doubts, listing.Fact(text)) }
	if j.Stale && transition.Request(j.StaleReason) == "" {
		add("The state may be out of date: " + j.StaleReason)
	}
	if j.Missing {
		add("The scheduler no longer knows this job.")
	}
	if j.Irregular != "" {
		add(j.Irregular)
	}
	switch j.Phase {
	case job.PhaseRejected:
		add("The job was not submitted: " + j.Error)
	case job.PhaseUnknown, job.PhaseIntended:
		add("rmctl does not know yet whether the job was submitted. " + j.Error)
	case job.PhaseDismissed:
		add("The submission was dismissed: rmctl no longer tracks it. " + j.Error)
	}
	return doubts
}

func historyRowOf(event job.Event) historyRow {
	row := historyRow{Seen: listing.Moment{At: event.Observed}, What: string(event.Kind), Native: listing.Cell(event.Native), Source: listing.Cell(event.Source),
		Reason: listing.Fact(event.Reason), Line: listing.Fact(event.Origin.Text)}
	if row.Seen.At.IsZero() {
		row.Seen.At = event.Recorded
	}
	if event.Detail != "" {
		m := markOfEvent(event.Detail)
		row.Mark = &m
	}
	if event.Origin.Line > 0 {
		row.Place = fmt.Sprintf("%s, line %d", listing.Printable(event.Origin.Stream, 20), event.Origin.Line)
	}
	if event.Evidence != "" && event.Evidence != event.Origin.Text {
		row.Evidence = listing.Output(event.Evidence)
	}
	return row
}

// addOutput adds what leads to the output of a job that has begun.
func (page *jobPage) addOutput(manager, id string) {
	waits := page.Row.Mark.Tone == "blue" // it has written nothing yet
	if waits {
		return
	}
	address := "/api/v1/managers/" + url.PathEscape(manager) + "/jobs/" + url.PathEscape(id) + "/output"
	page.Output = []outputLink{{"stdout", "standard output", address + "?stream=stdout"}, {"stderr", "standard error", address + "?stream=stderr"}}
}

// operations returns what can be done to a job in its state with the commands that its
// definition has. Exactly one of element and record may be missing.
func (p *Pages) operations(manager string, element *model.Element, record job.Job) []operationButton {
	controller, err := p.Platform.Controller(manager)
	if err != nil {
		return nil // of what is not started nothing can be done
	}
	id, detail := record.ID, detailOf(element, record)
	if element != nil {
		id = element.ID()
	}
	if id == "" || detail.Ended() {
		return nil
	}
	var buttons []operationButton
	for _, each := range jobOperations {
		if controller.Supports(each.operation) && each.suits(detail) {
			buttons = append(buttons, operationButton{Name: string(each.operation), Label: each.label})
		}
	}
	return buttons
}

// detailOf returns the state of a job from the listing of its target, or else from the record.
func detailOf(element *model.Element, record job.Job) job.Detail {
	if element == nil {
		return record.DetailOrUndetermined()
	}
	detail, _ := job.ParseDetail(listing.GivenText(element, vocabulary.AttributeJobDetail))
	return detail
}
