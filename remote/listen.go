package remote

import (
	"context"
	"fmt"
	"net"

	"github.com/rmctl/rmctl/internal/execution"
)

// A ListenError reports that processes of a host cannot connect to this one, because the
// host does not allow it. It has no cause that callers distinguish.
type ListenError struct {
	Host string // as the user calls it
	Help string // what to change; may be empty
	Err  error
}

func (e *ListenError) Error() string {
	text := fmt.Sprintf("listening at %s: %v", e.Host, e.Err)
	if e.Help != "" {
		text += "\n" + e.Help
	}
	return text
}

// Listen listens on a port of this machine.
func (l *local) Listen(ctx context.Context) (net.Listener, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listening at %s: %w", l.info.Host, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &ListenError{Host: l.info.Host, Err: err}
	}
	return execution.NewListener(ctx, listener, listener.Addr(), func() error { return nil }), nil
}
