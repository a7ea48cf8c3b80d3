package coalloc

import (
	"sync"

	"github.com/rmctl/rmctl/internal/barrier"
)

// An input is something for the machine, or a function that the loop calls. The reply, which may be
// nil and has room for one error, gets the machine's answer.
type input struct {
	barrier.Input
	reply chan error
	call  func()
}

// An inbox holds the inputs that the loop has not applied yet.
type inbox struct {
	mutex sync.Mutex
	all   []input
	wake  chan struct{} // has a value while there are inputs
}

// add adds an input. It never blocks.
func (i *inbox) add(in input) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.all = append(i.all, in)
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// take removes and returns the inputs.
func (i *inbox) take() []input {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	all := i.all
	i.all = nil
	return all
}
