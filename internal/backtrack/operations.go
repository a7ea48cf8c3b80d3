package backtrack

import (
	"slices"
	"unicode"

	"github.com/dlclark/regexp2/syntax"
)

// An operation is what an instruction does when it is reached, and on the
// ways back to it. Each returns false where there is no way on from it.
type operation struct {
	forward, back, back2 func(r *run, i *instruction) bool

	operands operandKind
	size     int  // in the numbers of the code generator
	jumps    bool // the first operand is a jump target
}

type operandKind uint8

const (
	plain      operandKind = iota
	oneRune                // reads a rune
	exceptRune             // reads any other rune
	oneOfSet               // reads a rune of a set
	literal
	reference // to a group
)

var operations = [...]operation{
	syntax.One:        {forward: readOne, operands: oneRune, size: 2},
	syntax.Notone:     {forward: readOne, operands: exceptRune, size: 2},
	syntax.Set:        {forward: readOne, operands: oneOfSet, size: 2},
	syntax.Onerep:     {forward: readTimes, operands: oneRune, size: 3},
	syntax.Notonerep:  {forward: readTimes, operands: exceptRune, size: 3},
	syntax.Setrep:     {forward: readTimes, operands: oneOfSet, size: 3},
	syntax.Oneloop:    {forward: readMost, back: readFewer, operands: oneRune, size: 3},
	syntax.Notoneloop: {forward: readMost, back: readFewer, operands: exceptRune, size: 3},
	syntax.Setloop:    {forward: readMost, back: readFewer, operands: oneOfSet, size: 3},
	syntax.Onelazy:    {forward: readLeast, back: readMore, operands: oneRune, size: 3},
	syntax.Notonelazy: {forward: readLeast, back: readMore, operands: exceptRune, size: 3},
	syntax.Setlazy:    {forward: readLeast, back: readMore, operands: oneOfSet, size: 3},
	syntax.Multi:      {forward: readLiteral, operands: literal, size: 2},
	syntax.Ref:        {forward: readGroup, size: 2},

	syntax.Beginning: {forward: func(r *run, _ *instruction) bool { return r.advance(r.at == 0) }, size: 1},
	syntax.Start:     {forward: func(r *run, _ *instruction) bool { return r.advance(r.at == r.from) }, size: 1},
	syntax.End:       {forward: func(r *run, _ *instruction) bool { return r.advance(r.at == len(r.text)) }, size: 1},
	syntax.Nothing:   {forward: func(*run, *instruction) bool { return false }, size: 1},
	syntax.Goto:      {forward: jump, size: 2, jumps: true},
	syntax.Stop:      {forward: func(r *run, _ *instruction) bool { r.done = true; return true }, size: 1},

	syntax.Lazybranch:  {forward: branch, back: branchOther, size: 2, jumps: true},
	syntax.Setmark:     {forward: setMark, back: dropMark, size: 1},
	syntax.Nullmark:    {forward: setNoMark, back: dropMark, size: 1},
	syntax.Getmark:     {forward: returnToMark, back: restoreMark, size: 1},
	syntax.Capturemark: {forward: captureMark, back: uncaptureMark, operands: reference, size: 3},

	syntax.Branchmark:      {forward: loop, back: loopLeave, back2: restoreMark, size: 2, jumps: true},
	syntax.Lazybranchmark:  {forward: lazyLoop, back: lazyLoopAgain, back2: lazyLoopFails, size: 2, jumps: true},
	syntax.Setcount:        {forward: setCount, back: dropCount, size: 2},
	syntax.Nullcount:       {forward: setNoCount, back: dropCount, size: 2},
	syntax.Branchcount:     {forward: countedLoop, back: countedLoopLeave, back2: restoreCount, size: 3, jumps: true},
	syntax.Lazybranchcount: {forward: lazyCountedLoop, back: lazyCountedLoopAgain, back2: lazyCountedLoopFails, size: 3, jumps: true},

	syntax.Setjump:  {forward: setJump, back: dropCount, size: 1},
	syntax.Backjump: {forward: failAtJump, size: 1},
	syntax.Forejump: {forward: passJump, back: uncaptureJump, size: 1},
}

// advance goes on to the next instruction if a condition holds.
func (r *run) advance(holds bool) bool {
	if holds {
		r.here++
	}
	return holds
}

func readOne(r *run, i *instruction) bool {
	return r.advance(r.available(i) > 0 && r.read(i))
}

func readTimes(r *run, i *instruction) bool {
	if r.available(i) < i.second {
		return false
	}
	for range i.second {
		r.work++
		if !r.read(i) {
			return false
		}
	}
	return r.advance(true)
}

func readMost(r *run, i *instruction) bool {
	most := min(i.second, r.available(i))
	read := 0
	for ; read < most; read++ {
		if !r.read(i) {
			r.at -= i.step()
			break
		}
	}
	r.work += read
	if read > 0 {
		r.pushWay(read-1, r.at-i.step())
	}
	return r.advance(true)
}

func readFewer(r *run, i *instruction) bool {
	left, at := r.popWay2()
	r.at = at
	if left > 0 {
		r.pushWay(left-1, at-i.step())
	}
	return r.advance(true)
}

func readLeast(r *run, i *instruction) bool {
	if most := min(i.second, r.available(i)); most > 0 {
		r.pushWay(most-1, r.at)
	}
	return r.advance(true)
}

func readMore(r *run, i *instruction) bool {
	left, at := r.popWay2()
	r.at = at
	if !r.read(i) {
		return false
	}
	if left > 0 {
		r.pushWay(left-1, at+i.step())
	}
	return r.advance(true)
}

func readLiteral(r *run, i *instruction) bool {
	return r.advance(r.readText(i, i.text))
}

func readGroup(r *run, i *instruction) bool {
	span := r.captures[i.first]
	return r.advance(span[0] >= 0 && r.readText(i, r.text[span[0]:span[1]]))
}

func (r *run) readText(i *instruction, text []rune) bool {
	if r.available(i) < len(text) {
		return false
	}
	start, end := r.at, r.at+len(text)
	if i.backwards {
		start, end = r.at-len(text), r.at
	}
	r.work += len(text) / 8 // comparing is that much faster than reading
	equal := slices.Equal[[]rune]
	if i.anyCase {
		equal = equalInAnyCase
	}
	if !equal(text, r.text[start:end]) {
		return false
	}
	r.at += i.step() * len(text)
	return true
}

func equalInAnyCase(one, other []rune) bool {
	return slices.EqualFunc(one, other, func(a, b rune) bool { return unicode.ToLower(a) == unicode.ToLower(b) })
}
