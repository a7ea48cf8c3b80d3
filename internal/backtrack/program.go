// Package backtrack matches regular expressions by backtracking, limited by work instead of time,
// so that results do not depend on load.
package backtrack

import (
	"errors"
	"sync"
)

// ErrWork is returned for a match that exceeds its limit of work.
var ErrWork = errors.New("the expression requires too much backtracking on this text")

// A Program is a compiled expression; it is safe for concurrent use.
type Program struct {
	operations []operation
	start      int
	groups     int
	registers  int       // pairs of numbers: one for each group, then those that groups and loops need within
	anchored   bool      // matches begin at the start of the search
	searches   sync.Pool // of *search
}

// A Builder builds a program from end to start: each method adds an operation before an existing one and
// returns its number. [Accept] is the number of the accepting operation. Bodies are built by functions
// that receive the number of the operation after them.
type Builder struct {
	operations []operation
	groups     int
	registers  int
}

// Accept is the operation after the last one.
const Accept = 0

// NewBuilder returns a builder for an expression with a number of groups.
func NewBuilder(groups int) *Builder {
	return &Builder{operations: make([]operation, Accept+1), groups: groups, registers: 1 + 2*groups}
}

// Program returns the program that begins with an operation. Matches of an anchored program begin at the
// start of the search.
func (b *Builder) Program(start int, anchored bool) *Program {
	return &Program{operations: b.operations, start: start, groups: b.groups, registers: b.registers, anchored: anchored}
}

func (b *Builder) add(one operation) int {
	b.operations = append(b.operations, one)
	return len(b.operations) - 1
}

// Rune reads a rune of a set.
func (b *Builder) Rune(contains func(rune) bool, next int) int {
	return b.add(operation{do: readRune, class: newClass(contains), next: next})
}

// Text reads a text.
func (b *Builder) Text(text []rune, next int) int {
	return b.add(operation{do: readText, text: text, next: next})
}

// Branch tries an operation, and then another one.
func (b *Builder) Branch(preferred, other int) int {
	return b.add(operation{do: tryBranch, next: preferred, other: other})
}

// A Check reports whether a condition holds at a position of the text, and the work it took; from is that
// of [Program.Find].
type Check func(text []rune, from, at int) (holds bool, work int)

// Check continues if a condition holds.
func (b *Builder) Check(check Check, next int) int {
	return b.add(operation{do: checkPlace, check: check, next: next})
}

// Group captures what its body matches.
func (b *Builder) Group(number int, next int, body func(next int) int) int {
	register := b.groups + number
	end := b.add(operation{do: endGroup, register: register, other: number, next: next})
	return b.add(operation{do: beginGroup, register: register, next: body(end)})
}

// Reference reads what a group matched; fold is nil where case counts.
func (b *Builder) Reference(number int, fold func(rune) rune, next int) int {
	if number > b.groups {
		return b.add(operation{do: fail}) // a missing group never matched
	}
	return b.add(operation{do: readGroup, register: number, fold: fold, next: next})
}

// A Loop gives the limits of a repetition.
type Loop struct {
	Least, Most      int
	Lazy, Possessive bool
}

// Repeat repeats a rune of a set.
func (b *Builder) Repeat(loop Loop, contains func(rune) bool, next int) int {
	return b.add(operation{do: readLoop, loop: loop, class: newClass(contains), next: next})
}

// Rounds repeats a body, which is not possessive.
func (b *Builder) Rounds(loop Loop, next int, body func(next int) int) int {
	register := b.registers
	b.registers++
	again := b.add(operation{do: nextRound, register: register, loop: loop, next: next})
	round := b.add(operation{do: beginRound, register: register, next: body(again)})
	b.operations[again].other = round
	return b.add(operation{do: beginLoop, register: register, next: again})
}

// Once matches a body as an atomic group, without backtracking into it.
func (b *Builder) Once(next int, body func(next int) int) int {
	return b.add(operation{do: tryOnce, other: body(Accept), next: next})
}

// LookAhead continues if a body matches or, negated, does not.
func (b *Builder) LookAhead(negated bool, next int, body func(next int) int) int {
	return b.add(operation{do: lookAhead, other: body(Accept), negated: negated, next: next})
}

// LookBehind is LookAhead for a body that ends here. It matches that many runes.
func (b *Builder) LookBehind(negated bool, least, most, next int, body func(next int) int) int {
	end := b.add(operation{do: endLookBehind, next: Accept})
	return b.add(operation{do: lookBehind, other: body(end), negated: negated, loop: Loop{Least: least, Most: most}, next: next})
}
