package model

// A Kind is a kind of element.
type Kind uint8

// The kinds, from the top of the hierarchy down.
const (
	Universe        Kind = iota // the root
	ResourceManager             // one scheduler on one host
	Machine                     // a group of nodes
	Queue                       // jobs that wait for one set of resources
	Node                        // what runs processes, usually a host
	Job                         // one instance of a program
	Process                     // one execution unit of a job
	kinds                       // number of kinds
)

var kindNames = [kinds]string{"universe", "resource manager", "machine", "queue", "node", "job", "process"}

// parentKinds is the hierarchy. The universe is its own parent.
var parentKinds = [kinds]Kind{Universe, Universe, ResourceManager, ResourceManager, Machine, Queue, Job}

// String returns the kind's display name.
func (k Kind) String() string {
	if k >= kinds {
		return "unknown kind"
	}
	return kindNames[k]
}

// parent returns the kind of the parents.
func (k Kind) parent() Kind {
	if k >= kinds {
		return Universe
	}
	return parentKinds[k]
}

// Children returns the kinds of the children.
func (k Kind) Children() []Kind {
	var children []Kind
	for child := ResourceManager; child < kinds; child++ {
		if parentKinds[child] == k {
			children = append(children, child)
		}
	}
	return children
}
