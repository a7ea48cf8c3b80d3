package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/user"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/internal/web/pages"
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
	options Options
	log     *slog.Logger
	limits  limits
	access  *access
	hub     *live.Hub
	api     *api.API
	pages   *pages.Pages
	handler http.Handler
	mux     *http.ServeMux
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns a server that has to be closed.
func New(options Options) (*Server, error) {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	access, err := newAccess(options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{options: options, log: log, limits: usualLimits, access: access, mux: http.NewServeMux(), ctx: ctx, cancel: cancel}
	s.hub = live.New(options.Platform.Model(), log)
	ledger := listing.NewLedger(userName())
	s.api = api.New(s.mux, api.Options{Platform: options.Platform, Store: options.Store, Folder: options.Folder, Ledger: ledger, Log: log, Fail: s.fail})
	s.pages, err = pages.New(ctx, s.mux, pages.Options{Platform: options.Platform, Store: options.Store, Folder: options.Folder, History: options.History,
		Hub: s.hub, Ledger: ledger, Log: log, Fail: s.fail})
	if err != nil {
		cancel()
		return nil, err
	}
	for pattern, handler := range map[string]answer.Handler{
		"GET " + live.EventsPath: s.hub.Stream, "POST " + loginPath: s.login, "POST /logout": s.logout, "GET /": notFound,
	} {
		s.mux.HandleFunc(pattern, handler.Or(s.fail))
	}
	s.handler = s.guarded(s.mux)
	snapshot := options.Platform.Model().Snapshot() // before the first request, so that no change is missed
	s.running.Go(func() { s.hub.Run(ctx, snapshot) })
	s.running.Go(func() { s.api.Run(ctx) })
	s.running.Go(func() { s.pages.Run(ctx) })
	return s, nil
}

func notFound(_ http.ResponseWriter, r *http.Request) error {
	return answer.Errorf(http.StatusNotFound, "there is no page %s", r.URL.Path)
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

// userName returns the name of the user whose server this is, empty where the system does not know it.
func userName() string {
	current, err := user.Current()
	if err != nil {
		return ""
	}
	return current.Username
}
