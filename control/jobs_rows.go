package control

import (
	"encoding/binary"
	"maps"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/state"
)

// What a row of x:list-jobs tells that is recorded of a job.
const (
	rowState = iota
	rowOwner
	rowIdentity
	rowNative
	rowReason
	rowQueue
	rowName
	rowNodes
	rowSubmitted
	rowStarted
	rowEnded
	rowExitCode
	rowSignal
	rowOutput
	rowError

	rowFacts
)

// rowKeys are the keys of these facts: those of a status query without "job.", and
// two more.
var rowKeys = [rowFacts]string{
	rowState: "state", rowOwner: "owner",
	rowIdentity: withoutJob(factIdentity), rowNative: withoutJob(factNative), rowReason: withoutJob(factReason), rowQueue: withoutJob(factQueue),
	rowName: withoutJob(factName), rowNodes: withoutJob(factNodes), rowSubmitted: withoutJob(factSubmitted), rowStarted: withoutJob(factStarted),
	rowEnded: withoutJob(factEnded), rowExitCode: withoutJob(factExitCode), rowSignal: withoutJob(factSignal),
	rowOutput: withoutJob(factOutput), rowError: withoutJob(factError),
}

func withoutJob(fact string) string { return strings.TrimPrefix(fact, attributeJobPrefix) }

// A listedRow is what a listing says of a job.
type listedRow struct {
	facts    [rowFacts]string
	origin   job.Origin
	evidence string // all that the row tells, where it is not known from which line
}

func newListedRow(row command.Row) listedRow {
	var listed listedRow
	for i, key := range rowKeys {
		listed.facts[i] = row.Fact(key)
	}
	if row.Origin != nil {
		listed.origin = job.Origin{Stream: row.Origin.Stream, Line: row.Origin.Line, Text: row.Origin.Text}
	}
	if listed.origin.Text == "" {
		listed.evidence = attribute.Text(maps.Collect(row.Facts.All()))
	}
	return listed
}

// with returns what the row and a later one of the same job tell. Of a fact that
// both tell the later counts.
func (r listedRow) with(later listedRow) listedRow {
	if later.facts[rowState] == "" && r.facts[rowState] != "" {
		later.origin, later.evidence = r.origin, r.evidence
	}
	for i, earlier := range r.facts {
		if later.facts[i] == "" {
			later.facts[i] = earlier
		}
	}
	return later
}

// observed is what the row says of its job, with the times as of a zone.
func (r listedRow) observed(list *config.Command, zone zone) job.Observation {
	f := r.facts
	seen := job.Observation{
		Source: list.Name, Origin: r.origin, Evidence: r.evidence,
		Native: f[rowNative], Reason: f[rowReason], Queue: f[rowQueue], Name: f[rowName], Owner: f[rowOwner], Nodes: f[rowNodes],
		Submitted: zone.tell(f[rowSubmitted]), Started: zone.tell(f[rowStarted]), Ended: zone.tell(f[rowEnded]), OutputPath: f[rowOutput], ErrorPath: f[rowError], Identity: f[rowIdentity],
		ExitCode: number(f[rowExitCode]), Signal: number(f[rowSignal]),
	}
	if detail, known := state.Parse(f[rowState]); known && detail != state.Undetermined {
		seen.Detail = detail
	}
	return seen
}

// A packedRow is a row in little room, as there may be tens of thousands: its texts,
// each with its length before it. Of a text that stands in the line that the row was
// read from only the place is kept. The id comes first, so that it can be a
// key without a copy.
type packedRow string

func (r listedRow) pack(id string) (key string, packed packedRow) {
	line := r.origin.Text
	room := make([]byte, 0, len(id)+len(line)+len(r.evidence)+4*rowFacts)
	room = appendText(room, id)
	begin := len(room) - len(id)
	room = appendText(room, line)
	room = appendText(room, r.origin.Stream)
	room = binary.AppendUvarint(room, uint64(r.origin.Line))
	room = appendText(room, r.evidence)
	for _, fact := range r.facts {
		if at := strings.Index(line, fact); at > 0 {
			room = binary.AppendUvarint(room, uint64(at))
			room = binary.AppendUvarint(room, uint64(len(fact)))
			continue
		}
		room = append(room, 0)
		room = appendText(room, fact)
	}
	text := string(room)
	return text[begin : begin+len(id)], packedRow(text)
}

func appendText(room []byte, text string) []byte {
	return append(binary.AppendUvarint(room, uint64(len(text))), text...)
}

// unpack returns the row, whose texts share its memory.
func (p packedRow) unpack() listedRow {
	var row listedRow
	rest := unpacking(p)
	rest.text() // the id
	row.origin.Text = rest.text()
	row.origin.Stream = rest.text()
	row.origin.Line = rest.number()
	row.evidence = rest.text()
	for i := range row.facts {
		if at := rest.number(); at > 0 {
			row.facts[i] = row.origin.Text[at : at+rest.number()]
		} else {
			row.facts[i] = rest.text()
		}
	}
	return row
}

// unpacking is what is left of a packed row.
type unpacking string

func (u *unpacking) number() int {
	number, shift := 0, 0
	for i := range len(*u) {
		b := (*u)[i]
		number |= int(b&0x7f) << shift
		if b < 0x80 {
			*u = (*u)[i+1:]
			break
		}
		shift += 7
	}
	return number
}

func (u *unpacking) text() string {
	length := u.number()
	text := (*u)[:length]
	*u = (*u)[length:]
	return string(text)
}
