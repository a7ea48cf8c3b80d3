package agent

import (
	"strconv"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// ids are the protocol ids of elements: numbers from the client's base on, never reused in a session. The
// id of a process is its index in the job.
type ids struct {
	base    uint64 // of the resource manager itself
	next    uint64
	numbers map[element]uint64
	byID    map[string]element // by number; without processes
	indexes map[index]string   // ids of processes
}

// An element is an element of the model.
type element struct {
	kind model.Kind
	id   string
}

// An index is the number of a process in its job.
type index struct {
	job    string
	number uint64
}

func newIDs(base uint64) *ids {
	return &ids{base: base, next: base + 1, numbers: map[element]uint64{}, byID: map[string]element{}, indexes: map[index]string{}}
}

// known returns the number of an element, if it has one.
func (i *ids) known(kind model.Kind, id string) (uint64, bool) {
	number, known := i.numbers[element{kind, id}]
	return number, known
}

// text returns the protocol id of an element, or its id in the model if it has no number.
func (i *ids) text(kind model.Kind, id string) string {
	if number, known := i.known(kind, id); known {
		return strconv.FormatUint(number, 10)
	}
	return id
}

// number returns the number of an element and assigns one if needed.
func (i *ids) number(e *model.Element) uint64 {
	key := element{e.Kind(), e.ID()}
	if number, known := i.numbers[key]; known {
		return number
	}
	if e.Kind() != model.Process {
		return i.reserve(e.Kind(), e.ID())
	}
	number := i.index(e)
	i.indexes[index{e.Parent(), number}] = e.ID()
	i.numbers[key] = number
	return number
}

// reserve assigns a number to an element that is not a process and may not be in the model yet.
func (i *ids) reserve(kind model.Kind, id string) uint64 {
	number, key := i.next, element{kind, id}
	i.next++
	i.byID[strconv.FormatUint(number, 10)] = key
	i.numbers[key] = number
	return number
}

// index returns the index of a process, or the next free index if it is taken.
func (i *ids) index(e *model.Element) uint64 {
	value, _ := e.Value(vocabulary.AttributeProcessIndex)
	number := uint64(max(value.Integer(), 0))
	for {
		if _, isTaken := i.indexes[index{e.Parent(), number}]; !isTaken {
			return number
		}
		number++
	}
}

// forget drops the number of a removed element.
func (i *ids) forget(e *model.Element) (uint64, bool) {
	number, known := i.release(e.Kind(), e.ID())
	if known && e.Kind() == model.Process {
		delete(i.indexes, index{e.Parent(), number})
	}
	return number, known
}

// release drops the number of an element.
func (i *ids) release(kind model.Kind, id string) (uint64, bool) {
	number, known := i.known(kind, id)
	delete(i.numbers, element{kind, id})
	if known && kind != model.Process {
		delete(i.byID, strconv.FormatUint(number, 10))
	}
	return number, known
}

// find returns the element with a number or an id in the model.
func (i *ids) find(kind model.Kind, text string) (id string, known bool) {
	if found, isNumber := i.byID[text]; isNumber && found.kind == kind {
		return found.id, true
	}
	_, known = i.known(kind, text)
	return text, known
}
