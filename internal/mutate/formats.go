package mutate

import (
	"bytes"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// swapLines swaps two neighboring lines, such as two rows, or two fields of a record.
func swapLines(d *damage) {
	for _, index := range spread(len(d.lines)-1, mostPlaces) {
		if last := d.lines[index+1]; !bytes.HasSuffix(last, []byte("\n")) {
			continue // the end of one line would be the beginning of the other
		}
		text := joined(joined(d.lines[:index]...), d.lines[index+1], d.lines[index], joined(d.lines[index+2:]...))
		d.addStdout(text, "lines %d and %d", index+1, index+2)
	}
}

// cutDocument truncates a document after an element, an object, a list or a value.
func cutDocument(d *damage) {
	text := d.original.Stdout
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 || bytes.IndexByte([]byte("<{["), trimmed[0]) < 0 {
		return
	}
	var ends []int
	for at, b := range text {
		if bytes.IndexByte([]byte(">}],"), b) >= 0 {
			ends = append(ends, at+1)
		}
	}
	for _, index := range spread(len(ends), 4*mostPlaces) {
		d.addStdout(text[:ends[index]:ends[index]], "after byte %d", ends[index])
	}
}

// capitalWords are words as states and reasons are written.
var capitalWords = lazyregexp.New(`\b[A-Z][A-Z_]{2,}\b`)

// replaceWords replaces a word by one that no definition knows.
func replaceWords(d *damage) {
	words := capitalWords.FindAllIndex(d.original.Stdout, -1)
	for _, index := range spread(len(words), mostPlaces) {
		at := words[index]
		d.addStdout(joined(d.original.Stdout[:at[0]], []byte("UNHEARD_OF"), d.original.Stdout[at[1]:]), "the word at byte %d", at[0])
	}
}
