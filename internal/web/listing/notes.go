package listing

import (
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// A Note says that a picture is older than it should be, or that there is none, and
// why.
type Note struct {
	Tone    string // as of marks
	Manager string
	Text    string
	Cause   string // empty where none is known
	At      Moment // when the picture was seen; zero where there is none
}

// attributeCause is what package views gives resource managers in the state ERROR.
const attributeCause = "rmCause"

// listedAt are the attributes with the time when the elements of a kind were listed.
var listedAt = map[model.Kind]string{model.Job: vocabulary.AttributeListedJobs, model.Node: vocabulary.AttributeListedNodes, model.Queue: vocabulary.AttributeListedQueues}

// NotesOf returns what is to be said of the pictures of a kind of elements: of one
// resource manager or, where its id is empty, of all. Of several, those that are
// stopped are nothing new.
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

// unlistedShow says what is shown of elements that there is no listing of.
var unlistedShow = map[model.Kind]string{model.Job: "; those submitted through rmctl are shown", model.Node: "; those that processes of your jobs are on are shown"}

func isUnlisted(m *model.Element, kind model.Kind) bool {
	unlisted, _ := GivenOf(m, vocabulary.AttributeUnlisted)
	return slices.Contains(unlisted.Array(), kind.String())
}

// NoteOf returns what is to be said of a resource manager's picture of a kind of elements.
func NoteOf(m *model.Element, kind model.Kind) (Note, bool) {
	text := func(attribute string) string { return Fact(GivenText(m, attribute)) }
	n := Note{Manager: Cell(m.Name()), At: MomentOf(m, listedAt[kind]), Cause: text(vocabulary.AttributeStale)}
	what := kind.String() + "s"
	switch SeenState(m) {
	case vocabulary.StateStopped, "":
		n.Tone, n.Text, n.Cause, n.At = "grey", fmt.Sprintf("is stopped: nothing is known of its %s", what), "", Moment{}
		return n, true
	case vocabulary.StateStarting:
		n.Tone, n.Text = "cyan", "is being connected to"
	case vocabulary.StateStopping:
		n.Tone, n.Text = "cyan", "is being left"
	case vocabulary.StateSuspended:
		n.Tone, n.Text = "yellow", "is connected, but not watched"
	case vocabulary.StateError:
		n.Tone, n.Text, n.Cause = "red", "cannot be asked", text(attributeCause)
	default:
		switch {
		case n.Cause != "":
			n.Tone, n.Text = "yellow", fmt.Sprintf("could not list its %s anew", what)
		case isUnlisted(m, kind):
			n.Tone, n.Text = "grey", "cannot list its "+what+unlistedShow[kind]
		case !n.At.IsKnown():
			n.Tone, n.Text = "cyan", fmt.Sprintf("has not listed its %s yet", what)
		default:
			return Note{}, false
		}
	}
	if n.At.IsKnown() {
		n.Text += fmt.Sprintf("; its %s are shown as they were seen", what)
	}
	return n, true
}
