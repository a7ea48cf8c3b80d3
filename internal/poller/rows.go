package poller

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/tokenizer"
)

// chunkSize is about the size of the texts of a chunk, in bytes: large enough for few
// writes, and small enough not to block other processes.
const chunkSize = 256 << 10

// A chunk is a part of the rows of a listing. It has each frequent text once.
type chunk struct {
	Keys  [][]string
	Texts []string
	// Rows has for each row: the index of its keys in Keys, 1 if its id repeats or else 0, and
	// the indexes of its id and its facts in Texts.
	Rows []uint32
}

// A chunkWriter fills a chunk.
type chunkWriter struct {
	chunk
	places [1 << 12]uint32 // of the last texts with a hash, counted from 1
	keys   uint32          // of the last row
	size   int
}

// seed is the secret seed of the hashes.
var seed = maphash.MakeSeed()

// add adds a row.
func (w *chunkWriter) add(row command.Row) {
	keys, facts := row.Facts.Lists()
	var before []uint32 // the places of the facts of the last row, if it has the same keys
	if len(w.Keys) > 0 && slices.Equal(w.Keys[w.keys], keys) {
		before = w.Rows[len(w.Rows)-len(facts):]
	} else {
		w.keys = w.placeOfKeys(keys)
	}
	again := uint32(0)
	if row.Again {
		again = 1
	}
	w.Rows = append(w.Rows, w.keys, again, w.addText(row.ID)) // ids differ
	for i, fact := range facts {
		if before != nil && w.Texts[before[i]] == fact { // many are as in the row before
			w.Rows = append(w.Rows, before[i])
			continue
		}
		w.Rows = append(w.Rows, w.place(fact))
	}
	w.size += 4 * len(facts)
}

func (w *chunkWriter) placeOfKeys(keys []string) uint32 {
	place := slices.IndexFunc(w.Keys, func(each []string) bool { return slices.Equal(each, keys) })
	if place < 0 {
		place = len(w.Keys)
		w.Keys = append(w.Keys, keys)
		for _, key := range keys {
			w.size += len(key)
		}
	}
	return uint32(place)
}

func (w *chunkWriter) place(text string) uint32 {
	last := &w.places[maphash.String(seed, text)%uint64(len(w.places))]
	if *last == 0 || w.Texts[*last-1] != text {
		*last = w.addText(text) + 1
	}
	return *last - 1
}

func (w *chunkWriter) addText(text string) (place uint32) {
	w.Texts = append(w.Texts, text)
	w.size += len(text)
	return uint32(len(w.Texts) - 1)
}

// flush returns the chunk in its encoding and begins the next one.
func (w *chunkWriter) flush() ([]byte, error) {
	var encoded bytes.Buffer
	err := gob.NewEncoder(&encoded).Encode(w.chunk)
	*w = chunkWriter{chunk: chunk{Texts: w.Texts[:0], Rows: w.Rows[:0]}}
	return encoded.Bytes(), err
}

// errNoRows reports a damaged chunk.
var errNoRows = errors.New("the rows are damaged")

// eachRow gives the rows of a chunk in its encoding to a function, until that
// returns an error, which is returned as it is.
func eachRow(encoded []byte, each func(command.Row) error) error {
	var c chunk
	if err := gob.NewDecoder(bytes.NewReader(encoded)).Decode(&c); err != nil {
		return fmt.Errorf("%w: %w", errNoRows, err)
	}
	for rest := c.Rows; len(rest) > 0; {
		const fixed = 3
		if len(rest) < fixed || int(rest[0]) >= len(c.Keys) || len(rest) < fixed+len(c.Keys[rest[0]]) {
			return errNoRows
		}
		keys := c.Keys[rest[0]]
		texts := make([]string, 1+len(keys))
		for i := range texts {
			place := int(rest[fixed-1+i])
			if place >= len(c.Texts) {
				return errNoRows
			}
			texts[i] = c.Texts[place]
		}
		facts, err := tokenizer.FactsIn(keys, texts[1:])
		if err != nil {
			return fmt.Errorf("%w: %w", errNoRows, err)
		}
		if err := each(command.Row{ID: texts[0], Again: rest[1] == 1, Facts: facts}); err != nil {
			return err
		}
		rest = rest[fixed+len(keys):]
	}
	return nil
}
