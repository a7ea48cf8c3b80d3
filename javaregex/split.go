package javaregex

// Split splits text at the matches of the expression as Java's Pattern.split
// does: an empty match at the start gives no piece, trailing empty pieces are
// left out, a text without a match is one piece. The pieces share text's memory.
// Errors are those of Match.
func (r *Regexp) Split(text []byte) ([][]byte, error) {
	var pieces [][]byte
	var positions []int
	pieceStart, previousEnd, past := 0, 0, false
	for {
		found, matched, err := r.findPast(positions, text, previousEnd, past)
		if err != nil {
			return nil, err
		}
		if !matched {
			break
		}
		positions = found
		start, end := found[0], found[1]
		previousEnd, past = end, start == end
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
