package attribute

// An Origin tells what the value of an attribute was read from.
type Origin struct {
	Stream string // that was read: stdout, stderr, or output where a command has both in one
	Line   int    // of the stream, counted from 1; 0 where it is not read line by line
	Text   string // the line without its end, cut where it is long
}

// Origin returns what the value was read from; nil where that was not asked for,
// or where the value was not read from anything. Nobody changes what it returns.
func (a *Attribute) Origin() *Origin { return a.origin }

// SetOrigin tells what the value was read from.
func (a *Attribute) SetOrigin(origin *Origin) { a.origin = origin }
