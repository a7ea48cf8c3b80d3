package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/internal/web/answer"
)

// ServeLocal answers API requests of this user's processes at a private socket, without a
// token. It ends as Serve does, and closes the listener.
func (s *Server) ServeLocal(ctx context.Context, listener net.Listener) error {
	return s.serve(ctx, ownListener{listener, s}, http.HandlerFunc(s.answerOwn), nil)
}

// answerOwn answers processes of this user. It refuses browsers, which may connect through
// a tunnel.
func (s *Server) answerOwn(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	for _, header := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Cookie", "Referer"} {
		if r.Header.Get(header) != "" {
			s.fail(w, r, answer.Errorf(http.StatusForbidden, "this socket is for programs; in a browser, open the URL that rmctl serve printed"))
			return
		}
	}
	if !strings.HasPrefix(r.URL.Path, answer.APIPath+"/") {
		s.fail(w, r, answer.Errorf(http.StatusForbidden, "this socket serves only the API"))
		return
	}
	s.dispatch(w, r)
}

// An ownListener accepts connections of this user's processes only.
type ownListener struct {
	net.Listener
	server *Server
}

func (l ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		foreign := peer.Check(conn)
		if foreign == nil {
			return conn, nil
		}
		l.server.options.Log.Warn("refused a process of another user", "error", errors.Join(foreign, conn.Close()))
	}
}
