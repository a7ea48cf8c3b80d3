package tokenizer

import "unicode/utf8"

// window reads the stream through a window of twice maxMatchLen characters. If no match consumes
// anything, a full window advances by maxMatchLen; otherwise by what was consumed. Lengths are in
// characters, not bytes, as in PTP; a byte that is not UTF-8 counts as one.
//
// PTP examines the window after every read, however short. This one fills it first, so that the result
// does not depend on how the bytes arrive.
type window struct {
	tokenizer  *Tokenizer
	step       int    // maxMatchLen
	text       []byte // what is in the window
	characters int    // in text
	partial    []byte // incomplete character at the end
	fresh      bool   // text has parts not examined yet
}

func (w *window) write(p []byte) {
	if len(w.partial) > 0 {
		p = append(w.partial, p...)
		w.partial = nil
	}
	w.advance(p, false)
}

// advance fills the window from the stream and examines it whenever it is full. At the end of the stream,
// each byte of an incomplete character counts as one.
func (w *window) advance(p []byte, atEnd bool) {
	for len(p) > 0 && !w.tokenizer.left {
		length, characters, incomplete := measure(p, 2*w.step-w.characters, atEnd)
		if len(w.text)+length > w.tokenizer.longestSegment() {
			w.tokenizer.failTooLong("a segment of the output is")
			return
		}
		w.text = w.tokenizer.extend(w.text, p[:length])
		w.characters += characters
		w.fresh = w.fresh || length > 0
		p = p[length:]
		if w.characters >= 2*w.step {
			w.look()
			if w.characters >= 2*w.step {
				dropped, _, _ := measure(w.text, w.step, true)
				w.drop(dropped)
			}
		} else if incomplete {
			w.partial = append([]byte(nil), p...)
			return
		}
	}
}

// close examines the last text, and once more at the end of the stream, as PTP does. Unlike PTP, it then
// repeats as long as a match consumes all it captured, so that every match that is short enough is found.
// A match that captured more than it consumed would only find the same text again.
func (w *window) close() {
	w.advance(w.partial, true)
	w.partial = nil
	if w.fresh && !w.tokenizer.left {
		w.look()
	}
	for !w.tokenizer.left {
		consumed, settled := w.look()
		if consumed == 0 || !settled || len(w.text) == 0 {
			return
		}
	}
}

func (w *window) look() (consumed int, settled bool) {
	w.fresh = false
	consumed, settled = w.tokenizer.examine(w.text)
	w.drop(consumed)
	return consumed, settled
}

func (w *window) drop(length int) {
	if length == 0 {
		return
	}
	w.text = append(w.text[:0], w.text[length:]...)
	w.characters = utf8.RuneCount(w.text)
}

// measure returns the length in bytes of the first wanted characters of p, or of all if there are fewer.
// Incomplete means that p ends within the next character.
func measure(p []byte, wanted int, atEnd bool) (length, characters int, incomplete bool) {
	for length < len(p) && characters < wanted {
		if p[length] < utf8.RuneSelf {
			length++
		} else if !atEnd && !utf8.FullRune(p[length:]) {
			return length, characters, true
		} else {
			_, size := utf8.DecodeRune(p[length:])
			length += size
		}
		characters++
	}
	return length, characters, false
}
