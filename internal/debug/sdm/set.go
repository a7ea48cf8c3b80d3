package sdm

import (
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// parseSet parses a process set: the number of bits in hexadecimal digits, a colon, and the bits as bytes in such digits,
// those of the highest ranks first. It reports false unless the set names at least one of so many processes, and no other.
func parseSet(text string, size int) (debug.Ranks, bool) {
	count, digits, hasDigits := strings.Cut(text, ":")
	bits, err := strconv.ParseUint(count, 16, 32)
	if !hasDigits || err != nil || bits > debug.MostRanks || len(digits) != setDigits(int(bits)) {
		return nil, false
	}
	var set debug.Ranks
	for i := range len(digits) {
		digit, err := strconv.ParseUint(digits[len(digits)-1-i:len(digits)-i], 16, 4)
		if err != nil {
			return nil, false
		}
		for bit := range 4 {
			if digit&(1<<bit) != 0 {
				set = appendRank(set, 4*i+bit)
			}
		}
	}
	if len(set) == 0 || set[len(set)-1].Last >= min(size, int(bits)) {
		return nil, false
	}
	return set, true
}

// formatSet returns the process set of some of so many processes.
func formatSet(ranks debug.Ranks, size int) string {
	digits := make([]byte, setDigits(size))
	for _, span := range ranks {
		for rank := max(span.First, 0); rank <= min(span.Last, size-1); rank++ {
			digits[len(digits)-1-rank/4] |= 1 << (rank % 4)
		}
	}
	for i, digit := range digits {
		digits[i] = "0123456789abcdef"[digit]
	}
	return strconv.FormatUint(uint64(size), 16) + ":" + string(digits)
}

// setDigits returns how many digits so many bits take.
func setDigits(bits int) int { return (bits + 7) / 8 * 2 }

// appendRank adds a rank above all others of a set.
func appendRank(set debug.Ranks, rank int) debug.Ranks {
	if last := len(set) - 1; last >= 0 && set[last].Last == rank-1 {
		set[last].Last = rank
		return set
	}
	return append(set, ranges.Range{First: rank, Last: rank})
}

// each calls a function with each rank of a set.
func each(ranks debug.Ranks, visit func(rank int)) {
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			visit(rank)
		}
	}
}

// has reports whether a set contains a rank.
func has(ranks debug.Ranks, rank int) bool {
	for _, span := range ranks {
		if span.First <= rank && rank <= span.Last {
			return true
		}
	}
	return false
}

// common returns the ranks in both of two sets.
func common(a, b debug.Ranks) debug.Ranks { return a.Without(a.Without(b)) }
