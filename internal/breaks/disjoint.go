package breaks

import "regexp/syntax"

// areDisjoint reports whether no text can match two patterns as a whole. It looks for a
// text that both automata accept, ignoring assertions about lines and words.
func areDisjoint(a, b string) bool {
	one, err := programOf(a)
	if err != nil {
		return false
	}
	other, err := programOf(b)
	if err != nil {
		return false
	}
	type pair struct{ one, other uint32 }
	start := pair{uint32(one.Start), uint32(other.Start)}
	seen := map[pair]bool{start: true}
	for left := []pair{start}; len(left) > 0; {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		next := []pair{}
		i, j := &one.Inst[at.one], &other.Inst[at.other]
		switch {
		case i.Op == syntax.InstMatch && j.Op == syntax.InstMatch:
			return false
		case !consumes(i):
			for _, to := range following(i) {
				next = append(next, pair{to, at.other})
			}
		case !consumes(j):
			for _, to := range following(j) {
				next = append(next, pair{at.one, to})
			}
		case haveCommonRune(i, j):
			next = append(next, pair{i.Out, j.Out})
		}
		for _, each := range next {
			if !seen[each] {
				seen[each] = true
				left = append(left, each)
			}
		}
	}
	return true
}

func programOf(pattern string) (*syntax.Prog, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(parsed.Simplify())
}

// consumes reports whether an instruction needs a character, or is the end.
func consumes(i *syntax.Inst) bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL, syntax.InstMatch, syntax.InstFail:
		return true
	}
	return false
}

// following returns the instructions after one that consumes no character.
func following(i *syntax.Inst) []uint32 {
	if i.Op == syntax.InstAlt || i.Op == syntax.InstAltMatch {
		return []uint32{i.Out, i.Arg}
	}
	return []uint32{i.Out}
}

// haveCommonRune reports whether two instructions accept a common character.
func haveCommonRune(i, j *syntax.Inst) bool {
	if i.Op == syntax.InstMatch || j.Op == syntax.InstMatch || i.Op == syntax.InstFail || j.Op == syntax.InstFail {
		return false
	}
	for _, from := range []*syntax.Inst{i, j} {
		for _, character := range from.Rune { // the ends of ranges: where two overlap, one has an end of the other
			if i.MatchRune(character) && j.MatchRune(character) {
				return true
			}
		}
	}
	return len(i.Rune) == 0 && len(j.Rune) == 0
}
