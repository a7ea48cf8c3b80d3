package model

// A Kind is what an element of the model stands for.
type Kind uint8

// The kinds, from the top of the hierarchy down.
const (
	Universe        Kind = iota // the one element above all others
	ResourceManager             // one scheduler on one host
	Machine                     // a group of nodes
	Queue                       // jobs that wait for one set of resources
	Node                        // what runs processes, usually a host
	Job                         // one instance of a program
	Process                     // one execution unit of a job
	kinds                       // how many there are
)

var kindNames = [kinds]string{"universe", "resource manager", "machine", "queue", "node", "job", "process"}

// parentKinds is the hierarchy. The universe is its own parent.
var parentKinds = [kinds]Kind{Universe, Universe, ResourceManager, ResourceManager, Machine, Queue, Job}

// String returns the kind's name for people.
func (k Kind) String() string {
	if k >= kinds {
		return "unknown kind"
	}
	return kindNames[k]
}

// parent returns the kind of the elements that elements of this kind belong to.
func (k Kind) parent() Kind {
	if k >= kinds {
		return Universe
	}
	return parentKinds[k]
}

// Children returns the kinds of elements that belong to elements of this kind.
func (k Kind) Children() []Kind {
	var children []Kind
	for child := ResourceManager; child < kinds; child++ {
		if parentKinds[child] == k {
			children = append(children, child)
		}
	}
	return children
}
