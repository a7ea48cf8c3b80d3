package tokenizer

// Err returns the error that has ended the parser so far.
func (t *Tokenizer) Err() error { return t.err }
