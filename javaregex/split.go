package javaregex

import "unicode/utf8"

// Split splits text at the matches of the expression as Java's Pattern.split
// does: an empty match at the start gives no piece, trailing empty pieces are
// left out, a text without a match is one piece. The pieces share text's memory.
func (r *Regexp) Split(text []byte) ([][]byte, error) {
	var pieces [][]byte
	var positions []int
	pieceStart, from := 0, 0
	for from <= len(text) {
		at, found, err := r.Find(positions, text, from)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		positions = at
		start, end := at[0], at[1]
		from = end
		if start == end {
			_, width := utf8.DecodeRune(text[end:])
			from = end + max(width, 1)
		}
		if end == 0 {
			continue
		}
		pieces = append(pieces, text[pieceStart:start])
		pieceStart = end
	}
	if pieceStart == 0 {
		return [][]byte{text}, nil
	}
	pieces = append(pieces, text[pieceStart:])
	for len(pieces) > 0 && len(pieces[len(pieces)-1]) == 0 {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces, nil
}
