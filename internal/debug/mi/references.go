package mi

import (
	"context"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

// references are the values whose children can be requested. They count from 1, and are valid until the process
// runs.
type references struct {
	runs    int // of the process, when they were made
	all     []reference
	numbers map[[3]string]int
	objects int      // how many variable objects were made
	roots   []string // variable objects, without their children
	old     []string // roots of earlier runs
}

// A reference is a value. gdb gets a variable object for it when its children are requested.
type reference struct {
	selection  string
	expression string // empty if there is no expression for it
	typeName   string
	object     string
	isDynamic  bool // a printer in Python finds its children
	isMap      bool // every second child is the value for the child before
	total      int
}

// renew forgets the references of earlier runs.
func (r *references) renew(runs int) {
	if r.runs == runs && r.numbers != nil {
		return
	}
	r.runs, r.all, r.numbers = runs, nil, map[[3]string]int{}
	r.old, r.roots = append(r.old, r.roots...), nil
}

// add returns the number of a reference, 0 if there are too many.
func (r *references) add(runs int, added reference) int {
	r.renew(runs)
	key := [3]string{added.selection, added.expression, added.object}
	if number := r.numbers[key]; number > 0 {
		return number
	}
	if len(r.all) >= mostReferences {
		return 0
	}
	r.all = append(r.all, added)
	r.numbers[key] = len(r.all)
	return len(r.all)
}

// runsNow returns how often the process has run.
func (e *Engine) runsNow() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.runs
}

// reference returns a reference with its variable object.
func (e *Engine) reference(ctx context.Context, number int) (reference, debug.Answer) {
	r := &e.references
	r.renew(e.runsNow())
	if number > len(r.all) {
		return reference{}, debug.Answer{Problem: debug.Failed, Text: "the value is gone because the process has run"}
	}
	found := &r.all[number-1]
	if found.object != "" {
		return *found, debug.Answer{}
	}
	r.objects++
	object := "v" + strconv.Itoa(r.objects)
	var commands []string
	for _, old := range r.old {
		commands = append(commands, "-var-delete "+old)
	}
	r.old = nil
	commands = append(commands, "-var-create"+found.selection+" "+object+" * "+quoted(found.expression))
	results := e.call(ctx, commands...)
	created := results[len(results)-1]
	if created.err != nil {
		return reference{}, problemOf(created.err)
	}
	r.roots = append(r.roots, object)
	found.object = object
	found.describe(created.values)
	return *found, debug.Answer{}
}

// describe records gdb's description of a variable object.
func (r *reference) describe(values Value) {
	r.isDynamic, r.isMap = values.Get("dynamic").Text != "", values.Get("displayhint").Text == "map"
	r.total = values.Get("numchild").number()
}
