package backtrack

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dlclark/regexp2/syntax"
)

// ErrWork is returned for a match that is not decided within its limit.
var ErrWork = errors.New("the expression requires too much backtracking on this text")

// A Program is a compiled expression; it is safe for concurrent use.
type Program struct {
	code     []instruction
	slots    map[int]int // where the numbers of groups have gaps: the slot of each
	captures int
	anchored bool      // a match can only begin where the search does
	runs     sync.Pool // of *run
}

// An instruction is one operation with its operands.
type instruction struct {
	operation
	accepts   class  // of operations on runes
	first     int    // jump target, count, group or slot
	second    int    // limit of a counted loop
	text      []rune // of a literal
	backwards bool   // reads towards the start of the text, in a lookbehind
	anyCase   bool   // of a backreference
}

// Compile compiles an expression in the syntax of regexp2 without options.
func Compile(expression string) (*Program, error) {
	tree, err := syntax.Parse(expression, 0)
	if err != nil {
		return nil, err
	}
	code, err := syntax.Write(tree)
	if err != nil {
		return nil, err
	}
	program := &Program{slots: code.Caps, captures: code.Capsize}
	program.anchored = code.Anchors&(syntax.AnchorBeginning|syntax.AnchorStart) != 0
	program.runs.New = func() any { return newRun(program) }
	program.code, err = translate(code)
	return program, err
}

// translate turns the numbers of the code generator into instructions. A jump
// becomes an index of an instruction.
func translate(code *syntax.Code) ([]instruction, error) {
	indexes := make([]int, len(code.Codes))
	var program []instruction
	for at := 0; at < len(code.Codes); {
		translated, size, err := newInstruction(code, at)
		if err != nil {
			return nil, err
		}
		indexes[at] = len(program)
		program = append(program, translated)
		at += size
	}
	for i := range program {
		if program[i].jumps {
			program[i].first = indexes[program[i].first]
		}
	}
	return program, nil
}

// newInstruction reads the instruction at an offset, and returns how many
// numbers it takes.
func newInstruction(code *syntax.Code, at int) (instruction, int, error) {
	operator, operands := code.Codes[at], code.Codes[at+1:]
	number := operator & syntax.Mask
	if number >= len(operations) || operations[number].forward == nil {
		return instruction{}, 0, fmt.Errorf("operation %d is unsupported", number)
	}
	i := instruction{operation: operations[number], backwards: operator&syntax.Rtl != 0, anyCase: operator&syntax.Ci != 0}
	if i.anyCase && number != syntax.Ref {
		return instruction{}, 0, fmt.Errorf("operation %d is unsupported without regard to case", number)
	}
	switch i.operands {
	case reference:
		if operands[1] != -1 {
			return instruction{}, 0, errors.New("balanced groups are unsupported")
		}
		i.first = operands[0]
	case literal:
		i.text = code.Strings[operands[0]]
	case oneRune, exceptRune:
		i.accepts = class{single: rune(operands[0]), inverted: i.operands == exceptRune}
	case oneOfSet:
		i.accepts = newClass(code.Sets[operands[0]])
	case plain:
		if i.size > 1 {
			i.first = operands[0]
		}
	}
	if i.size > 2 && i.operands != reference {
		i.second = operands[1]
	}
	return i, i.size, nil
}

// A class decides which runes an instruction accepts: those of a set, or one
// rune, or all but one.
type class struct {
	set      *syntax.CharSet
	ascii    [utf8.RuneSelf / 64]uint64 // of the set
	cost     int                        // work of looking up a rune beyond ASCII
	single   rune
	inverted bool
}

func newClass(set *syntax.CharSet) class {
	c := class{set: set}
	for r := range rune(utf8.RuneSelf) {
		if set.CharIn(r) {
			c.ascii[r/64] |= 1 << (r % 64)
		}
	}
	// The set compares a rune with each of its ranges, and looks categories up.
	const bytesPerWork, workPerCategory = 8, 16
	written := set.String()
	c.cost = len(written)/bytesPerWork + workPerCategory*strings.Count(written, `\`)
	return c
}

// accept reports whether the class has a rune, and what it cost to find out.
func (c *class) accept(r rune) (has bool, cost int) {
	switch {
	case c.set == nil:
		return (r == c.single) != c.inverted, 0
	case r < utf8.RuneSelf:
		return c.ascii[r/64]&(1<<(r%64)) != 0, 0
	}
	return c.set.CharIn(r), c.cost
}
