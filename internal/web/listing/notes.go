package listing

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// A Note says that a listing is missing or stale, and why.
type Note struct {
	Tone    string // as of marks
	Manager string
	Text    string
	Cause   string // empty if unknown
	At      Moment // of the listing; zero without a listing
}

// attributeCause is what package views gives targets in the state ERROR.
const attributeCause = "rmCause"

// listedAt are the attributes with the time when the elements of a kind were listed.
var listedAt = map[model.Kind]string{model.Job: vocabulary.AttributeListedJobs, model.Node: vocabulary.AttributeListedNodes, model.Queue: vocabulary.AttributeListedQueues}

// NotesOf returns the notes on the listings of a kind: of one target or, if its id
// is empty, of all. Of several, it leaves out those that are stopped.
func NotesOf(s *model.Snapshot, manager string, kind model.Kind) []Note {
	var notes, stopped []Note
	all := 0
	for m := range s.Managers() {
		if manager != "" && m.Element().ID() != manager {
			continue
		}
		all++
		n, isNeeded := NoteOf(m.Element(), kind)
		switch {
		case !isNeeded:
		case SeenState(m.Element()) == vocabulary.StateStopped:
			stopped = append(stopped, n)
		default:
			notes = append(notes, n)
		}
	}
	if len(stopped) == all {
		return stopped
	}
	return notes
}

// unlistedShow says what pages show of elements without a listing.
var unlistedShow = map[model.Kind]string{model.Job: "; showing jobs submitted through rmctl", model.Node: "; showing nodes with processes of your jobs"}

func isUnlisted(m *model.Element, kind model.Kind) bool {
	unlisted, _ := GivenOf(m, vocabulary.AttributeUnlisted)
	return slices.Contains(unlisted.Array(), kind.String())
}

// NoteOf returns the note on a target's listing of a kind, if it needs one.
func NoteOf(m *model.Element, kind model.Kind) (Note, bool) {
	text := func(attribute string) string { return Fact(GivenText(m, attribute)) }
	n := Note{Manager: Cell(m.Name()), At: MomentOf(m, listedAt[kind]), Cause: text(vocabulary.AttributeStale)}
	what := kind.String() + "s"
	switch SeenState(m) {
	case vocabulary.StateStopped, "":
		n.Tone, n.Text, n.Cause, n.At = "grey", fmt.Sprintf("is stopped: its %s are unknown", what), "", Moment{}
		return n, true
	case vocabulary.StateStarting:
		n.Tone, n.Text = "cyan", "is connecting"
	case vocabulary.StateStopping:
		n.Tone, n.Text = "cyan", "is stopping"
	case vocabulary.StateSuspended:
		n.Tone, n.Text = "yellow", "is connected, but its scheduler does not answer"
	case vocabulary.StateError:
		n.Tone, n.Text, n.Cause = "red", "cannot be queried", text(attributeCause)
	default:
		switch {
		case n.Cause != "":
			n.Tone, n.Text = "yellow", fmt.Sprintf("could not refresh its %s", what)
		case isUnlisted(m, kind):
			n.Tone, n.Text = "grey", "cannot list its "+what+unlistedShow[kind]
		case !n.At.IsKnown():
			n.Tone, n.Text = "cyan", fmt.Sprintf("has not listed its %s yet", what)
		default:
			return Note{}, false
		}
	}
	if n.At.IsKnown() {
		n.Text += fmt.Sprintf("; its %s were last listed", what)
	}
	return n, true
}
