package pages

import (
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A fact is an attribute of an element as pages list it.
type fact struct {
	Name        string
	Description string
	Value       string
	At          listing.Moment // of a date, instead of Value
	Words       []string       // of an array, instead of Value
	Address     string         // of the page about Value
	IsHidden    bool           // whether views show it on request only
}

// mostWords bounds the elements of an array that are shown.
const mostWords = 200

// factsOf returns the attributes that an element was given, except for those that its page
// shows elsewhere: those that views show unasked, then the others.
func factsOf(e *model.Element, isElsewhere func(id string) bool) []fact {
	var shown, hidden []fact
	for definition, value := range e.Attributes() {
		if definition.ID == vocabulary.AttributeName || isElsewhere(definition.ID) { // the name is the page's heading
			continue
		}
		f := fact{Name: listing.Printable(definition.Label(), 60), Description: definition.Description, IsHidden: !definition.Display}
		switch definition.Type {
		case model.Date:
			f.At = listing.Moment{At: value.Time()}
		case model.Array:
			words := value.Array()
			for _, word := range words[:min(len(words), mostWords)] {
				f.Words = append(f.Words, listing.Fact(word))
			}
		default:
			f.Value = listing.Fact(value.Text())
		}
		switch {
		case f.Value == "" && !f.At.IsKnown() && len(f.Words) == 0:
		case f.IsHidden:
			hidden = append(hidden, f)
		default:
			shown = append(shown, f)
		}
	}
	return append(shown, hidden...)
}

// nowhere is for pages that show no attribute elsewhere.
func nowhere(string) bool { return false }

// A processRow is a process as a table shows it.
type processRow struct {
	Address, JobAddress string
	Job                 string
	Index               string
	PID                 string
	Mark                listing.Mark
	Node                string
	NodeAddress         string
	Exit                string
}

// processRowOf returns how a table shows a process.
func processRowOf(m *model.Manager, process *model.Element) processRow {
	text := func(attribute string) string { return listing.Cell(listing.GivenText(process, attribute)) }
	manager := m.Element().ID()
	row := processRow{
		Address:    listing.ElementAddress("/process", manager, process.ID()),
		JobAddress: listing.ElementAddress("/job", manager, process.Parent()), Job: listing.Cell(process.Parent()),
		Index: text(vocabulary.AttributeProcessIndex), PID: text("processPID"), Mark: listing.MarkOf(process), Node: text(vocabulary.AttributeProcessNodeID),
		Exit: text(vocabulary.AttributeProcessExitCode),
	}
	if row.Index == "" {
		row.Index = listing.Cell(process.Name())
	}
	if signal := text("processSignalName"); signal != "" {
		row.Exit = signal
	}
	if node := listing.GivenText(process, vocabulary.AttributeProcessNodeID); node != "" {
		if _, known := m.Get(model.Node, node); known {
			row.NodeAddress = listing.ElementAddress("/node", manager, node)
		}
	}
	return row
}

// processPage is what the page of a process shows.
type processPage struct {
	Row            processRow
	Facts          []fact
	Stdout, Stderr string
	Notes          []listing.Note
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
	stdout := listing.GivenText(process, "processStdout")
	stderr := listing.GivenText(process, "processStderr")
	facts := slices.DeleteFunc(factsOf(process, nowhere), func(f fact) bool { return f.IsHidden })
	return &processPage{Row: processRowOf(m, process), Facts: facts,
		Stdout: listing.Output(stdout), Stderr: listing.Output(stderr), Notes: listing.NotesOf(s, manager, model.Job)}
}
