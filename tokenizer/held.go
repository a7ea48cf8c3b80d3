package tokenizer

import (
	"fmt"

	"github.com/rmctl/rmctl/attribute"
)

// smallestCounted is the size in bytes from which the memory of a value is counted. A listing may have a
// million smaller ones.
const smallestCounted = 64 << 10

// hold counts the new size of a value. Attributes can copy the values of others, so a short stream can
// create many large ones. Together they may exceed the size of the stream by that of the largest
// permitted value; beyond that hold returns an error.
func (t *Tokenizer) hold(size, before int) error {
	if size < smallestCounted && before < smallestCounted {
		return nil
	}
	t.held += counted(size) - counted(before)
	if t.held > attribute.LargestValue && t.held > attribute.LargestValue+t.stats.Bytes*t.entries() {
		return fmt.Errorf("the parser's values exceed its output by more than the limit of %d MiB", attribute.LargestValue>>20)
	}
	return nil
}

func counted(size int) int64 {
	if size < smallestCounted {
		return 0
	}
	return int64(size)
}

// entries returns how many values may take parts of the same text.
func (t *Tokenizer) entries() (count int64) {
	for _, m := range t.matches {
		for _, action := range m.actions {
			count += int64(len(action.entries))
		}
	}
	return count
}
