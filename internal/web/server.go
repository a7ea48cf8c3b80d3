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

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/jobstore"
)

const (
	maxHeaderBytes = 32 << 10
	maxBodyBytes   = 4 << 20         // of a request
	closeTimeout   = 5 * time.Second // for requests under way when the server ends
)

// limits bound what one client takes of the server's time.
type limits struct {
	header time.Duration // for reading the head of a request
	body   time.Duration // for reading all of it
	write  time.Duration // for a response that is no stream
	idle   time.Duration // between two requests
}

var usualLimits = limits{header: 10 * time.Second, body: 30 * time.Second, write: time.Minute, idle: 2 * time.Minute}

// Options say what a server serves and to whom.
type Options struct {
	Platform *views.Views
	Store    *jobstore.Store // the platform's
	Folder   string          // of the targets file and the launch configurations
	Log      *slog.Logger    // nil to log nothing
	// History is the file in which what was in use, and which jobs ran, is kept from one
	// server to the next; empty to forget it with the server.
	History string

	Passwords *Passwords  // nil where only the token opens a session
	TLS       *tls.Config // with one certificate; nil to speak HTTP
}

// A Server answers requests for pages and for the API. It is an http.Handler;
// Serve also sets the limits that an http.Server needs.
type Server struct {
	options   Options
	platform  *views.Views
	log       *slog.Logger
	limits    limits
	access    *access
	templates *templates
	static    *staticFiles
	hub       *hub
	handler   http.Handler
	mux       *http.ServeMux
	nav       []navigation
	apiRoutes []string // methods and paths below apiPath
	journal   *journal
	ledger    *ledger
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// New returns a server that has to be closed.
func New(options Options) (*Server, error) {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	templates, err := readTemplates()
	if err != nil {
		return nil, err
	}
	static, err := readStatic()
	if err != nil {
		return nil, err
	}
	templates.static = static
	access, err := newAccess(options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{options: options, platform: options.Platform, log: log, limits: usualLimits, access: access, templates: templates, static: static,
		mux: http.NewServeMux(), ctx: ctx, cancel: cancel}
	s.journal, s.ledger = newJournal(options.Store), newLedger(userName())
	s.hub = newHub(options.Platform.Model(), log)
	s.routes()
	s.handler = s.guarded(s.mux)
	snapshot := options.Platform.Model().Snapshot()
	s.running.Go(func() { s.hub.run(ctx, snapshot) })
	s.running.Go(func() {
		s.journal.run(ctx, func(err error) { log.Warn("the record of jobs could not be read", "error", err) })
	})
	return s, nil
}

// routes registers all that the server answers to.
func (s *Server) routes() {
	s.mux.Handle("GET /static/", s.static)
	s.addEvents()
	s.addAccess()
	s.addAPI()
	s.addPages()
	s.addLaunch()
	s.handle("GET /", func(_ http.ResponseWriter, r *http.Request) error {
		return failuref(http.StatusNotFound, "there is no page %s", r.URL.Path)
	})
}

// A handler answers one request. An error becomes a page or, below /api/, an
// object that says what went wrong; see failure.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle registers a handler for a pattern of http.ServeMux.
func (s *Server) handle(pattern string, h handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// ServeHTTP answers a request that came over the network.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// Serve answers what comes from a listener, over TLS where the options have it,
// until ctx ends or the server is closed; streams are ended then, and other
// requests may finish within five seconds. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return s.serve(ctx, listener, s, s.options.TLS)
}

func (s *Server) serve(ctx context.Context, listener net.Listener, h http.Handler, secured *tls.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	unused := unusedConnections{all: map[net.Conn]struct{}{}}
	server := &http.Server{
		Handler:           h,
		ConnState:         unused.follow,
		TLSConfig:         secured,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.body,
		WriteTimeout:      s.limits.write,
		IdleTimeout:       s.limits.idle,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
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
	unused.close()
	if err := server.Shutdown(finish); err != nil {
		return errors.Join(fmt.Errorf("end the requests under way at %s: %w", listener.Addr(), err), server.Close())
	}
	return nil
}

// Close ends all streams and waits for what the server began. It may be called
// more than once.
func (s *Server) Close() error {
	s.cancel()
	s.running.Wait()
	return nil
}
