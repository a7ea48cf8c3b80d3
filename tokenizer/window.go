package tokenizer

import "unicode/utf8"

// window looks at the stream through a window of twice maxMatchLen characters.
// A full window in which nothing was consumed moves on by maxMatchLen; what a
// match consumed makes room for as much of the stream. Characters, not bytes,
// count, as in the reference; a byte that is not UTF-8 counts as one.
//
// The reference looks at the window after every read, however short. This one
// fills it first, so that the result does not depend on how the bytes arrive.
type window struct {
	tokenizer  *Tokenizer
	step       int    // maxMatchLen
	text       []byte // what is in the window
	characters int    // how many of them
	partial    []byte // the begin of a character whose other bytes are to come
	fresh      bool   // there is text that was not looked at
}

func (w *window) write(p []byte) {
	if len(w.partial) > 0 {
		p = append(w.partial, p...)
		w.partial = nil
	}
	w.advance(p, false)
}

// advance puts the stream into the window and looks at it whenever it is full. At
// the end of the stream an incomplete character counts byte by byte.
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

// close looks at the last text, and once more when the stream has ended, as
// the reference does. Unlike there, text that holds further matches is looked
// at again as long as a match consumes all it captured: every substring that is
// short enough shall be found. A match that captured beyond what it consumed
// would only find the same text again.
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

// measure returns how many bytes of p hold its first characters, at most as
// many as wanted. Incomplete means that p ends within the next character.
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
