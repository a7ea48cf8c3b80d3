package web

import (
	"slices"

	"github.com/rmctl/rmctl/model"
)

// A fact is an attribute of an element as pages list it.
type fact struct {
	Name        string
	Description string
	Value       string
	At          moment   // of a date, instead of Value
	Words       []string // of an array, instead of Value
	IsHidden    bool     // whether views show it on request only
}

// mostWords bounds the elements of an array that are shown.
const mostWords = 200

// factsOf returns the attributes that an element was given: those that views show
// unasked, then the others.
func factsOf(e *model.Element) []fact {
	var facts []fact
	for definition, value := range e.Attributes() {
		if definition.ID == model.AttributeName {
			continue // the page's heading
		}
		f := fact{Name: printable(definition.Label(), 60), Description: definition.Description, IsHidden: !definition.Display}
		switch definition.Type {
		case model.Date:
			f.At = moment{value.Time()}
		case model.Array:
			words := value.Array()
			for _, word := range words[:min(len(words), mostWords)] {
				f.Words = append(f.Words, printable(word, longestFact))
			}
		default:
			f.Value = printable(value.Text(), longestFact)
		}
		if f.Value != "" || f.At.IsKnown() || len(f.Words) > 0 {
			facts = append(facts, f)
		}
	}
	slices.SortStableFunc(facts, func(a, b fact) int {
		switch {
		case a.IsHidden == b.IsHidden:
			return 0
		case a.IsHidden:
			return 1
		}
		return -1
	})
	return facts
}

// A processRow is a process as a table shows it.
type processRow struct {
	Key, Address, JobAddress string
	Job                      string
	Index                    string
	PID                      string
	Mark                     mark
	Node                     string
	NodeAddress              string
	Exit                     string
}

// processRowOf returns how a table shows a process.
func processRowOf(m *model.Manager, process *model.Element) processRow {
	text := func(attribute string) string {
		return printable(givenText(process, attribute), longestCell)
	}
	manager := m.Element().ID()
	row := processRow{
		Key: elementKey(manager, process.ID()), Address: elementAddress("/process", manager, process.ID()),
		JobAddress: elementAddress("/job", manager, process.Parent()), Job: printable(process.Parent(), longestCell),
		Index: text(model.AttributeProcessIndex), PID: text("processPID"), Mark: markOf(process), Node: text(model.AttributeProcessNodeID),
		Exit: text(model.AttributeProcessExitCode),
	}
	if row.Index == "" {
		row.Index = printable(process.Name(), longestCell)
	}
	if signal := text("processSignalName"); signal != "" {
		row.Exit = signal
	}
	if node := givenText(process, model.AttributeProcessNodeID); node != "" {
		if _, known := m.Get(model.Node, node); known {
			row.NodeAddress = elementAddress("/node", manager, node)
		}
	}
	return row
}

// processPage is what the page of a process shows.
type processPage struct {
	Row            processRow
	Manager        string
	Facts          []fact
	Stdout, Stderr string
	Notes          []note
}

// drawProcess returns what the page of a process shows; nil where there is no such
// process.
func drawProcess(s *model.Snapshot, manager, id string) *processPage {
	m, known := s.Manager(manager)
	if !known {
		return nil
	}
	process, known := m.Get(model.Process, id)
	if !known {
		return nil
	}
	stdout := givenText(process, "processStdout")
	stderr := givenText(process, "processStderr")
	facts := slices.DeleteFunc(factsOf(process), func(f fact) bool { return f.IsHidden })
	return &processPage{Row: processRowOf(m, process), Manager: printable(m.Element().Name(), longestCell), Facts: facts,
		Stdout: output(stdout), Stderr: output(stderr), Notes: notesOf(s, manager, model.Job)}
}
