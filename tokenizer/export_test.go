package tokenizer

// Err returns the error that ended the parser, if any.
func (t *Tokenizer) Err() error { return t.err }
