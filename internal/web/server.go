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
	maxBodyBytes   = 4 << 20 // of a request
)

// limits are the timeouts of one client.
type limits struct {
	header time.Duration // for reading the head of a request
	body   time.Duration // for reading all of it
	write  time.Duration // for a response other than a stream
	idle   time.Duration // between two requests
	end    time.Duration // for requests under way that change nothing when the server ends
}

var usualLimits = limits{header: 10 * time.Second, body: 30 * time.Second, write: time.Minute, idle: 2 * time.Minute, end: 5 * time.Second}

// Pages answer people. The server itself answers with them, too.
type Pages interface {
	Handlers() map[string]answer.Handler // by pattern of http.ServeMux
	Run(ctx context.Context)             // returns after ctx has ended
	ShowError(w http.ResponseWriter, r *http.Request, status int, err error)
	// Reopen answers with a page that opens the same address again.
	Reopen(w http.ResponseWriter, r *http.Request)
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
	// Waiting is called with the number of requests that the end of the server waits for;
	// may be nil.
	Waiting func(requests int)
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
	changes changes
}

// New returns a server, which the caller must close.
func New(options Options) (*Server, error) {
	access, err := newAccess(options)
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, limits: usualLimits, access: access, mux: http.NewServeMux()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.register(map[string]answer.Handler{"POST " + loginPath: s.login, "POST /logout": s.logout})
	s.register(options.Pages.Handlers())
	s.register(options.API)
	s.running.Go(func() { options.Pages.Run(s.ctx) })
	s.handler = s.guarded(http.HandlerFunc(s.dispatch))
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

// dispatch passes a request to the handler of its pattern. Where none matches, the mux would
// answer in plain text: programs get JSON instead, and people a page.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if isChange(r) {
		defer s.changes.begin()()
	}
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	refusal := refusal{header: http.Header{}}
	handler.ServeHTTP(&refusal, r)
	if allowed := refusal.header.Get("Allow"); allowed != "" {
		w.Header().Set("Allow", allowed)
		s.fail(w, r, answer.Errorf(http.StatusMethodNotAllowed, "%s does not allow %s, only %s", r.URL.Path, r.Method, allowed))
		return
	}
	if isForPrograms(r) {
		s.fail(w, r, answer.Errorf(http.StatusNotFound, "the API has no %s %s; see %s/openapi.yaml", r.Method, r.URL.Path, answer.APIPath))
		return
	}
	s.fail(w, r, answer.Errorf(http.StatusNotFound, "no such page: %s", r.URL.Path))
}

// A refusal receives the answer of the mux to a request that no pattern matches.
type refusal struct{ header http.Header }

// Header returns the header of the answer, in which the mux names the methods that it allows.
func (r *refusal) Header() http.Header { return r.header }

// Write discards the body.
func (r *refusal) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader discards the status.
func (r *refusal) WriteHeader(int) {}

// ServeHTTP answers a request that came over the network.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// Serve answers the requests of a listener, over TLS if the options have it, until ctx
// ends or the server is closed. Streams end then, and other requests may finish within
// five seconds; those that change something, such as submissions, may take as long as they
// need. It closes the listener.
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
	finish, stop := context.WithCancel(context.Background())
	defer stop()
	serving.Go(func() { s.allowToFinish(finish, stop) })
	for connection := range unused.Range {
		_ = connection.(net.Conn).Close() // as above
	}
	if err := server.Shutdown(finish); err != nil {
		return errors.Join(fmt.Errorf("some requests at %s did not finish within %s", listener.Addr(), s.limits.end), server.Close())
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
