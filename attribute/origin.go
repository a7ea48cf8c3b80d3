package attribute

// An Origin says what the value of an attribute was read from.
type Origin struct {
	Stream string // that was read: stdout, stderr, or output where a command has both in one
	Line   int    // of the stream, counted from 1; 0 where it is not read line by line
	Text   string // the line without its end, cut where it is long
}
