package remote

// A Transfer is the progress of a file on its way to a host.
type Transfer struct {
	Path string // on the host
	Sent int64  // bytes that were handed over so far
	Size int64  // bytes in all
	Done bool   // the file is in place, or could not be put there: nothing more follows
}
