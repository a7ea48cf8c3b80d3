package model

// A ProblemKind tells what was refused.
type ProblemKind string

// The kinds of problems.
const (
	ProblemID         ProblemKind = "id"         // an id is empty or too long, or an attribute cannot be given
	ProblemParent     ProblemKind = "parent"     // the element that another one belongs to is not known
	ProblemElsewhere  ProblemKind = "elsewhere"  // the element belongs to another one already, such as a node in two machines
	ProblemValue      ProblemKind = "value"      // an attribute does not take the value; it was left out
	ProblemTransition ProblemKind = "transition" // a state cannot follow the one before; that was kept
	ProblemDefinition ProblemKind = "definition" // an attribute cannot be defined
	ProblemRemoval    ProblemKind = "removal"    // a resource manager that is not stopped cannot be removed
)

// A Problem is what the model refused.
type Problem struct {
	Kind      ProblemKind
	Of        Kind   // of the elements that it came with
	Attribute string // empty unless it is about one
	Example   error  // the first time it came: the element, what was wrong and what is right
	Count     int    // how often it came in this update
	Repeated  bool   // whether it had come in an earlier update
}

type problemKey struct {
	kind      ProblemKind
	of        Kind
	attribute string
}

// problems counts the problems of one update.
type problems struct {
	list []Problem
	at   map[problemKey]int
}

// add counts a problem. The reported ones are those of earlier updates, too.
func (p *problems) add(reported map[problemKey]struct{}, key problemKey, example error) {
	if at, known := p.at[key]; known {
		p.list[at].Count++
		return
	}
	if p.at == nil {
		p.at = map[problemKey]int{}
	}
	_, repeated := reported[key]
	reported[key] = struct{}{}
	p.at[key] = len(p.list)
	p.list = append(p.list, Problem{key.kind, key.of, key.attribute, example, 1, repeated})
}
