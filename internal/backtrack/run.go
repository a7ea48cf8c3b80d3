package backtrack

// A run is one search for a match.
type run struct {
	program *Program
	text    []rune
	from    int // where the search begins, \G
	at      int // place in the text
	here    int // index of the instruction
	done    bool

	// ways are the places to go back to. Each is the index of an instruction, on
	// top, above the numbers that the instruction needs there. A negative
	// index means the second way back of an instruction.
	ways []int

	// marks are places in the text, and counts, that one instruction leaves to another.
	marks []int

	captures [][2]int // start and end of each group, -1 for none
	replaced []capture

	work, limit int
}

// A capture is what a group had matched before it matched once more.
type capture struct {
	slot int
	span [2]int
}

func newRun(program *Program) *run {
	return &run{program: program, captures: make([][2]int, program.captures)}
}

// operationWork is the work of an operation. The unit is the work of passing
// over one rune within an operation, a nanosecond or two.
const operationWork = 4

// maxWays bounds the numbers on the stack of ways back, 1 GiB.
const maxWays = 1 << 27

// maxKeptWays is the capacity of a stack up to which a run is used again.
const maxKeptWays = 1 << 16

// Find searches a text from a place for the first match and appends the start
// and end of groups 0 to groups to dst, in runes, -1 for a group without a
// match. It fails with [ErrWork] if it takes more work than limit; work is
// what it took, the same for the same text on any machine.
func (p *Program) Find(dst []int, text []rune, from, groups, limit int) (found []int, matched bool, work int, err error) {
	r := p.runs.Get().(*run)
	r.text, r.from, r.work, r.limit = text, from, 0, limit
	matched, err = r.search()
	if matched {
		for number := range groups + 1 {
			dst = append(dst, r.group(number)...)
		}
	}
	work = r.work
	r.text = nil
	if cap(r.ways) <= maxKeptWays && cap(r.marks) <= maxKeptWays {
		p.runs.Put(r)
	}
	return dst, matched, work, err
}

func (r *run) group(number int) []int {
	if r.program.slots != nil {
		slot, exists := r.program.slots[number]
		if !exists {
			return []int{-1, -1}
		}
		number = slot
	}
	if number >= len(r.captures) {
		return []int{-1, -1}
	}
	return r.captures[number][:]
}

func (r *run) search() (bool, error) {
	for start := r.from; start <= len(r.text); start++ {
		r.at = start
		if err := r.execute(); err != nil {
			return false, err
		}
		if r.captures[0][0] >= 0 {
			return true, nil
		}
		if r.program.anchored {
			return false, nil
		}
	}
	return false, nil
}

// execute tries to match at one place. A program without a match goes back to
// its first instruction, which leads to its end.
func (r *run) execute() error {
	r.here, r.done = 0, false
	r.ways, r.marks, r.replaced = r.ways[:0], r.marks[:0], r.replaced[:0]
	for slot := range r.captures {
		r.captures[slot] = [2]int{-1, -1}
	}
	for !r.done {
		if r.work += operationWork; r.work > r.limit || len(r.ways) > maxWays {
			return ErrWork
		}
		i := &r.program.code[r.here]
		if !i.forward(r, i) {
			if err := r.goBack(); err != nil {
				return err
			}
		}
	}
	return nil
}

// goBack returns to the last place that has another way to go on.
func (r *run) goBack() error {
	for {
		if r.work += operationWork; r.work > r.limit {
			return ErrWork
		}
		r.here = r.popWay()
		second := r.here < 0
		if second {
			r.here = -r.here
		}
		i := &r.program.code[r.here]
		back := i.back
		if second {
			back = i.back2
		}
		if back(r, i) {
			return nil
		}
	}
}

// pushWay keeps a way back to the present instruction, with what it needs then.
func (r *run) pushWay(numbers ...int) {
	r.ways = append(append(r.ways, numbers...), r.here)
}

// pushWay2 keeps a second way back to the present instruction.
func (r *run) pushWay2(numbers ...int) {
	r.ways = append(append(r.ways, numbers...), -r.here)
}

func (r *run) popWay() int {
	last := len(r.ways) - 1
	number := r.ways[last]
	r.ways = r.ways[:last]
	return number
}

func (r *run) popWay2() (first, second int) {
	last := len(r.ways) - 2
	first, second = r.ways[last], r.ways[last+1]
	r.ways = r.ways[:last]
	return first, second
}

func (r *run) mark(number int) { r.marks = append(r.marks, number) }

func (r *run) mark2(first, second int) { r.marks = append(r.marks, first, second) }

func (r *run) unmark() int {
	last := len(r.marks) - 1
	number := r.marks[last]
	r.marks = r.marks[:last]
	return number
}

func (r *run) unmark2() (first, second int) {
	last := len(r.marks) - 2
	first, second = r.marks[last], r.marks[last+1]
	r.marks = r.marks[:last]
	return first, second
}

func (r *run) capture(slot, start, end int) {
	r.replaced = append(r.replaced, capture{slot, r.captures[slot]})
	r.captures[slot] = [2]int{min(start, end), max(start, end)} // a lookbehind ends before it starts
}

// uncapture takes captures back until so many are left.
func (r *run) uncapture(left int) {
	for len(r.replaced) > left {
		last := r.replaced[len(r.replaced)-1]
		r.captures[last.slot] = last.span
		r.replaced = r.replaced[:len(r.replaced)-1]
	}
}

// available returns how many runes an instruction can still read.
func (r *run) available(i *instruction) int {
	if i.backwards {
		return r.at
	}
	return len(r.text) - r.at
}

// read reads one rune, which must be available, and reports whether the
// instruction accepts it.
func (r *run) read(i *instruction) bool {
	var read rune
	if i.backwards {
		r.at--
		read = r.text[r.at]
	} else {
		read = r.text[r.at]
		r.at++
	}
	has, cost := i.accepts.accept(read)
	r.work += cost
	return has
}

// step is how far one rune moves an instruction.
func (i *instruction) step() int {
	if i.backwards {
		return -1
	}
	return 1
}
