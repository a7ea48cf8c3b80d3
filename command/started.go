package command

import "context"

type startedKey struct{}

// Started returns the request whose process a connection is to start, from the
// context of that Start. It is not there for the commands that
// run before or after it. The request's environment belongs to the command
// again as soon as Start returns.
func Started(ctx context.Context) (Request, bool) {
	request, known := ctx.Value(startedKey{}).(*Request)
	if !known {
		return Request{}, false
	}
	return *request, true
}
