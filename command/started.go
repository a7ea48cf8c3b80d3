package command

import "context"

type startedKey struct{}

// Started returns the request of the process that a connection is to start, from the context
// of Start. It is missing for commands that run before or after that process. The command may
// change the request's environment as soon as Start returns.
func Started(ctx context.Context) (Request, bool) {
	request, known := ctx.Value(startedKey{}).(*Request)
	if !known {
		return Request{}, false
	}
	return *request, true
}
