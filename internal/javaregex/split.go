package javaregex

import "bytes"

// Split splits text at the matches of the expression as Java's Pattern.split
// does: an empty match at the start gives no piece, trailing empty pieces are
// left out, a text without a match is one piece. It returns the start and end of
// each piece, appended to dst[:0]. Errors are those of Match.
func (r *Regexp) Split(dst []int, text []byte) ([]int, error) {
	dst = dst[:0]
	pieceStart, previousEnd, past := 0, 0, false
	for {
		start, end, found, err := r.separator(text, previousEnd, past)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		previousEnd, past = end, start == end
		if end == 0 {
			continue
		}
		dst = append(dst, pieceStart, start)
		pieceStart = end
	}
	if pieceStart == 0 {
		return append(dst[:0], 0, len(text)), nil
	}
	dst = append(dst, pieceStart, len(text))
	for len(dst) > 0 && dst[len(dst)-2] == dst[len(dst)-1] {
		dst = dst[:len(dst)-2]
	}
	return dst, nil
}

// separator finds the next match from an offset, past it after an empty match.
func (r *Regexp) separator(text []byte, offset int, past bool) (start, end int, found bool, err error) {
	if literal := r.whole.only; literal != nil {
		at := bytes.Index(text[offset:], literal)
		return offset + at, offset + at + len(literal), at >= 0, nil
	}
	var few [8]int
	positions, found, err := r.findPast(few[:0], text, offset, past)
	if err != nil || !found {
		return 0, 0, false, err
	}
	return positions[0], positions[1], true, nil
}
