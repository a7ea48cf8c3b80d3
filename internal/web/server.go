package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
)

const (
	maxHeaderBytes = 32 << 10
	maxBodyBytes   = 4 << 20         // of a request
	closeTimeout   = 5 * time.Second // for requests under way when the server ends
)

// limits are the timeouts of one client.
type limits struct {
	header time.Duration // for reading the head of a request
	body   time.Duration // for reading all of it
	write  time.Duration // for a response other than a stream
	idle   time.Duration // between two requests
}

var usualLimits = limits{header: 10 * time.Second, body: 30 * time.Second, write: time.Minute, idle: 2 * time.Minute}

// Pages answer people. The server itself answers with them, too.
type Pages interface {
	Handlers() map[string]answer.Handler // by pattern of http.ServeMux
	Run(ctx context.Context)             // returns after ctx has ended
	ShowError(w http.ResponseWriter, r *http.Request, status int, err error)
	// Login asks for a name and a password, and shows the problem with the last ones.
	Login(w http.ResponseWriter, r *http.Request, status int, problem string)
}

// Options configure a server.
type Options struct {
	Pages     Pages
	API       map[string]answer.Handler // by pattern of http.ServeMux
	Log       *slog.Logger
	Passwords *Passwords  // nil if only the token opens a session
	TLS       *tls.Config // with one certificate; nil to speak HTTP
}

// A Server answers requests for pages and for the API. It is an http.Handler;
// Serve also sets the limits that an http.Server needs.
type Server struct {
	options Options
	limits  limits
	access  *access
	handler http.Handler
	mux     *http.ServeMux
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns a server, which the caller must close.
func New(options Options) (*Server, error) {
	access, err := newAccess(options)
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, limits: usualLimits, access: access, mux: http.NewServeMux()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.register(map[string]answer.Handler{"POST " + loginPath: s.login, "POST /logout": s.logout, "GET /": notFound})
	s.register(options.Pages.Handlers())
	s.register(options.API)
	s.running.Go(func() { options.Pages.Run(s.ctx) })
	s.handler = s.guarded(s.mux)
	return s, nil
}

func (s *Server) register(handlers map[string]answer.Handler) {
	for pattern, handler := range handlers {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handler(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
}

func notFound(_ http.ResponseWriter, r *http.Request) error {
	return answer.Errorf(http.StatusNotFound, "there is no page %s", r.URL.Path)
}

// ServeHTTP answers a request that came over the network.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// Serve answers the requests of a listener, over TLS if the options have it, until ctx
// ends or the server is closed. Streams end then, and other requests may finish within
// five seconds. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return s.serve(ctx, listener, s, s.options.TLS)
}

func (s *Server) serve(ctx context.Context, listener net.Listener, h http.Handler, secured *tls.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	// Browsers open connections in advance. Shutdown would wait for the first request of each.
	var unused sync.Map
	follow := func(connection net.Conn, state http.ConnState) {
		if state != http.StateNew {
			unused.Delete(connection)
			return
		}
		unused.Store(connection, nil)
		if ctx.Err() != nil {
			_ = connection.Close() // there is no request on it
		}
	}
	server := &http.Server{
		Handler:           h,
		ConnState:         follow,
		TLSConfig:         secured,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.body,
		WriteTimeout:      s.limits.write,
		IdleTimeout:       s.limits.idle,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() {
		if secured != nil {
			ended <- server.ServeTLS(listener, "", "")
			return
		}
		ended <- server.Serve(listener)
	})
	defer serving.Wait()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	finish, stop := context.WithTimeout(context.Background(), closeTimeout)
	defer stop()
	for connection := range unused.Range {
		_ = connection.(net.Conn).Close() // as above
	}
	if err := server.Shutdown(finish); err != nil {
		return errors.Join(fmt.Errorf("end the requests under way at %s: %w", listener.Addr(), err), server.Close())
	}
	return nil
}

// Close ends all streams and waits for all goroutines of the server. It may be called more
// than once.
func (s *Server) Close() error {
	s.cancel()
	s.running.Wait()
	return nil
}
