package adapter

import (
	"errors"
	"maps"
	"slices"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
)

// mostReferences bounds the frames and variables that an editor can name. They end when their ranks run.
const mostReferences = 1 << 18

// A snapshot is some ranks between two changes of their states. What they answered holds as long.
type snapshot struct {
	program *program
	ranks   debug.Ranks
	moments []int
}

func (p *program) snapshot(ranks debug.Ranks) *snapshot {
	return &snapshot{p, ranks, p.session.Moments(ranks)}
}

// holds reports whether the states of the ranks are still the same.
func (s *snapshot) holds() bool {
	return slices.Equal(s.moments, s.program.session.Moments(s.ranks))
}

// only returns the snapshot of some of the ranks.
func (s *snapshot) only(ranks debug.Ranks) *snapshot {
	if slices.Equal(ranks, s.ranks) {
		return s
	}
	part := &snapshot{program: s.program, ranks: ranks, moments: make([]int, 0, ranks.Count())}
	at := 0
	for _, span := range s.ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			if contains(ranks, rank) {
				part.moments = append(part.moments, s.moments[at])
			}
			at++
		}
	}
	return part
}

// A frame is a call in the stacks of some ranks.
type frame struct {
	held   *snapshot
	thread int // as in requests to ranks
	level  int
}

// request returns a request about the frame.
func (f *frame) request(verb debug.Verb, text string) debug.Request {
	return debug.Request{Verb: verb, Thread: f.thread, Frame: f.level, Text: text}
}

// A reference is an element that an editor can open: a scope, the children of a variable, or its different
// values.
type reference struct {
	frame  frame
	scope  string   // locals, arguments or globals
	text   string   // an expression that was evaluated
	values []values // the children by what holds them; one for each class of ranks with another number for the same
	first  int      // children before this one are not part of it

	different []value // of one variable; parent and name say which
	parent    *reference
	name      string

	expressions map[string]string // of children, by name
}

// values are the children that debuggers have under a number.
type values struct {
	ranks  debug.Ranks
	number int
}

// references are the elements that an editor can use until the ranks run.
type references struct {
	frames    map[int]*frame
	variables map[int]*reference
}

func newReferences() references {
	return references{frames: map[int]*frame{}, variables: map[int]*reference{}}
}

var errManyReferences = errors.New("too many frames and variables are open: let the ranks run")

// addFrame returns the id of a frame.
func (a *adapter) addFrame(f frame) (int, error) {
	all := a.program.references
	if len(all.frames)+len(all.variables) >= mostReferences {
		return 0, errManyReferences
	}
	a.lastReference++
	all.frames[a.lastReference] = &f
	return a.lastReference, nil
}

// addReference returns a new reference number, 0 if there are too many.
func (a *adapter) addReference(v reference) int {
	all := a.program.references
	if len(all.frames)+len(all.variables) >= mostReferences {
		return 0
	}
	a.lastReference++
	all.variables[a.lastReference] = &v
	return a.lastReference
}

// sweep removes outdated references.
func (r references) sweep() {
	holds := map[*snapshot]bool{}
	hasEnded := func(held *snapshot) bool {
		result, isKnown := holds[held]
		if !isKnown {
			result = held.holds()
			holds[held] = result
		}
		return !result
	}
	maps.DeleteFunc(r.frames, func(_ int, f *frame) bool { return hasEnded(f.held) })
	maps.DeleteFunc(r.variables, func(_ int, v *reference) bool { return hasEnded(v.frame.held) })
}

// frameOf returns a frame by its id. Otherwise the request has failed.
func (a *adapter) frameOf(r *request, id int) *frame {
	if p := a.program; p != nil {
		if f := p.references.frames[id]; f != nil && f.held.holds() {
			return f
		}
	}
	a.fail(r, a.missing(id).Error())
	return nil
}

// reference returns the reference with a number. Otherwise the request has failed.
func (a *adapter) reference(r *request, number int) *reference {
	if p := a.program; p != nil {
		if v := p.references.variables[number]; v != nil && v.frame.held.holds() {
			return v
		}
	}
	a.fail(r, a.missing(number).Error())
	return nil
}

// missing says why a reference does not exist.
func (a *adapter) missing(number int) error {
	if number > 0 && number <= a.lastReference {
		return errRan
	}
	return errors.New("unknown frame or variable")
}

// scopes answers with the kinds of variables of a frame.
func (a *adapter) scopes(r *request, message *dap.ScopesRequest) {
	f := a.frameOf(r, message.Arguments.FrameId)
	if f == nil {
		return
	}
	scopes := []dap.Scope{
		{Name: "Locals", PresentationHint: "locals", VariablesReference: a.addReference(reference{frame: *f, scope: "locals"})},
		{Name: "Arguments", PresentationHint: "arguments", VariablesReference: a.addReference(reference{frame: *f, scope: "arguments"})},
		{Name: "Globals", Expensive: true, VariablesReference: a.addReference(reference{frame: *f, scope: "globals"})},
	}
	a.respond(r, &dap.ScopesResponse{Body: dap.ScopesResponseBody{Scopes: scopes}})
}
