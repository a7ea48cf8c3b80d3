package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web"
	"github.com/rmctl/rmctl/internal/web/api"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/pages"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

func newServe(a *app) *cobra.Command {
	s := &serving{app: a}
	var hashFor string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show and control jobs in a browser",
		Long: `Show targets, nodes, queues and jobs in a browser, and serve a JSON API.

rmctl prints the URL to open, which contains an access token, and runs until you interrupt
it. It starts a session of the default target or of -t; you can start others in the
browser.

By default, rmctl listens on this machine only. An address that others can reach requires
a certificate and a password file with a line NAME:HASH for each user, as --hash-password
prints it. Everybody who logs in acts as you.`,
		Example: `  rmctl serve
  rmctl serve --listen 127.0.0.1:8080
  rmctl serve --listen unix:/home/ada/rmctl.socket
  rmctl serve --hash-password ada >>passwords
  rmctl serve --listen :8443 --tls-cert cert.pem --tls-key key.pem --password-file passwords`,
		RunE: func(c *cobra.Command, _ []string) error {
			if hashFor != "" {
				return a.hashPassword(c.Context(), hashFor)
			}
			a.keepsLog = true
			return s.run(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringVar(&s.listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on: HOST:PORT, with port 0 for a free one, or unix:PATH")
	flags.StringVar(&s.certificate, "tls-cert", "", "PEM `FILE` of the certificate and its chain")
	flags.StringVar(&s.key, "tls-key", "", "PEM `FILE` of the certificate's key")
	flags.StringVar(&s.passwords, "password-file", "", "password `FILE` of the users who may log in")
	flags.StringVar(&hashFor, "hash-password", "", "ask for a password, and print the line for user `NAME` in a password file")
	return c
}

// serving is a call of rmctl serve.
type serving struct {
	app                         *app
	listen                      string
	certificate, key, passwords string
}

func (s *serving) run(ctx context.Context) (err error) {
	options, err := s.options()
	if err != nil {
		return err
	}
	platform, err := s.app.platform(ctx, tui.Terminal(), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Close()) }()
	if err := s.app.addParts(ctx, &options, platform); err != nil {
		return err
	}
	server, err := web.New(options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	listener, err := s.listener(ctx)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.serveOwn(stopped, server, &running); err != nil {
		return errors.Join(err, listener.Close())
	}
	ended := make(chan error, 1)
	running.Go(func() { ended <- server.Serve(ctx, listener) })
	if err := s.announce(platform.Start, server.StartURL(s.host(), listener.Addr())); err != nil {
		return errors.Join(err, server.Close())
	}
	return <-ended
}

// addParts adds the pages and the API of a platform to what a server serves.
func (a *app) addParts(ctx context.Context, options *web.Options, platform *views.Views) error {
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	folder, err := a.client().ConfigFolder()
	if err != nil {
		return err
	}
	history, err := a.historyFile()
	if err != nil {
		return err
	}
	options.Log = a.log()
	options.Waiting = func(requests int) { a.say("waiting for running requests to finish: %d", requests) }
	ledger := listing.NewLedger(userName())
	ensembles, err := a.ensembles()
	if err != nil {
		return err
	}
	options.API = api.New(api.Options{Platform: platform, Store: store, Folder: folder, Ledger: ledger, Ensembles: ensembles, Log: options.Log}).Handlers()
	options.Pages, err = pages.New(pages.Options{Platform: platform, Store: store, Folder: folder, History: history, Ledger: ledger, Version: buildVersion().Version, Log: options.Log, Stacks: a.stacksReader(platform), Ensembles: ensembles})
	return err
}

// stacksReader returns a function that reads the stacks of jobs for the pages of a server.
func (a *app) stacksReader(platform *views.Views) pages.StacksReader {
	return func(ctx context.Context, manager, id string, samples int) ([]*stacks.Tree, error) {
		controller, err := platform.Controller(manager)
		if err != nil {
			return nil, err
		}
		found := selection.Handle{Controller: controller}
		switch found.Job, err = platform.Recorded(ctx, manager, id); {
		case err == nil:
			found.Job, err = controller.Status(ctx, found.Job, false)
		case errors.Is(err, jobstore.ErrNotFound):
			found.Job, err = controller.Look(ctx, id)
		}
		if err != nil {
			return nil, err
		}
		target, err := a.targetOfStacks(manager)
		if err != nil {
			return nil, err
		}
		reached, err := a.reachableJob(ctx, found, target)
		if err != nil {
			return nil, err
		}
		all, err := onnodes.ReadStacks(ctx, reached, stacks.Request{Samples: samples, Every: time.Second}, nil)
		trees := make([]*stacks.Tree, len(all))
		for i, each := range all {
			trees[i] = stacks.NewTree(each.Answers, each.Missing)
		}
		return trees, err
	}
}

// serverFolder returns where the private socket of the server of this state folder
// and host is.
func (a *app) serverFolder() (string, error) {
	state, err := a.client().StateFolder()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("finding the host name: %w", err)
	}
	return filepath.Join(state, "serve-"+strings.ReplaceAll(host, "/", "-")), nil
}

// historyFile returns the file in which servers keep the history of usage.
func (a *app) historyFile() (string, error) {
	state, err := a.client().StateFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "serve-history.json"), nil
}

// serveOwn answers other commands of this user over a private socket, unless another
// server does already.
func (s *serving) serveOwn(ctx context.Context, server *web.Server, running *sync.WaitGroup) error {
	place, err := s.app.serverFolder()
	if err != nil {
		return err
	}
	listener, lock, err := daemon.Occupy(place)
	if errors.Is(err, daemon.ErrRunning) {
		s.app.log().Info("another server answers the commands of this user", "folder", place)
		return nil
	}
	if err != nil {
		return err
	}
	running.Go(func() {
		err := server.ServeLocal(ctx, listener)
		if err := errors.Join(err, lock.Close()); err != nil {
			s.app.log().Warn("cannot answer other commands of this user", "error", err)
		}
	})
	return nil
}

// served gets a listing of the chosen target from the server of this user. The error is the
// reason to query the scheduler instead.
func served[T any](ctx context.Context, a *app, list func(*api.Client, context.Context, settings.Target) ([]T, time.Time, error)) ([]T, time.Time, error) {
	var none time.Time
	if a.wrapConnection != nil {
		return nil, none, errors.New("recording queries the scheduler itself")
	}
	targets, err := a.client().Targets()
	if err != nil {
		return nil, none, err
	}
	target, err := targets.Find(a.target)
	if err != nil {
		return nil, none, err
	}
	place, err := a.serverFolder()
	if err != nil {
		return nil, none, err
	}
	socket := daemon.SocketPath(place)
	if _, err := os.Stat(socket); err != nil {
		return nil, none, fmt.Errorf("no server is running: %w", err)
	}
	client := api.NewClient(socket)
	return list(client, ctx, target)
}

// announce starts the chosen resource manager and prints the URL.
func (s *serving) announce(start func(name string) error, url string) error {
	targets, err := s.app.client().Targets()
	if err != nil {
		return err
	}
	target, err := targets.Find(s.app.target)
	if err != nil {
		return err
	}
	if err := start(target.Name); err != nil {
		return err
	}
	if s.app.json {
		return terminal.JSON(s.app.stdout, struct {
			URL string `json:"url"`
		}{url})
	}
	if _, err := fmt.Fprintln(s.app.stdout, url); err != nil {
		return fmt.Errorf("printing the address: %w", err)
	}
	return nil
}

// options returns TLS and passwords of the flags. An address that others can reach requires
// both.
func (s *serving) options() (web.Options, error) {
	var options web.Options
	if (s.certificate == "") != (s.key == "") {
		return options, usage("--tls-cert and --tls-key require each other")
	}
	if s.certificate != "" {
		if err := files.RefuseSharedKey(s.key); err != nil {
			return options, &usageError{fmt.Errorf("loading the key of the certificate: %w", err)}
		}
		pair, err := tls.LoadX509KeyPair(s.certificate, s.key)
		if err != nil {
			return options, &usageError{fmt.Errorf("loading the certificate %s with the key %s: %w", s.certificate, s.key, err)}
		}
		options.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if s.passwords != "" {
		var err error
		if options.Passwords, err = web.ReadPasswords(s.passwords); err != nil {
			return options, &usageError{err}
		}
	}
	isOpen, err := s.isOpenToOthers()
	if err != nil {
		return options, err
	}
	if isOpen && (options.TLS == nil || options.Passwords == nil) {
		return options, usage("--listen %s requires --tls-cert, --tls-key and --password-file: others can reach this address\nuse the default address and ssh -L instead", s.listen)
	}
	return options, nil
}

// isOpenToOthers reports whether other machines can reach the address. It does not resolve
// names: they may change.
func (s *serving) isOpenToOthers() (bool, error) {
	if strings.HasPrefix(s.listen, "unix:") {
		return false, nil
	}
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return false, usage("--listen %q: enter HOST:PORT or unix:PATH", s.listen)
	}
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback()), nil
}

// host returns the host to listen on; empty for all.
func (s *serving) host() string {
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil { // unix:PATH has none
		return ""
	}
	return host
}

// listener listens where the flag says.
func (s *serving) listener(ctx context.Context) (net.Listener, error) {
	network, address := "tcp", s.listen
	if path, isUnix := strings.CutPrefix(s.listen, "unix:"); isUnix {
		network, address = "unix", path
		if err := files.RefuseForeignSocket(path); err != nil {
			return nil, fmt.Errorf("listening on %s: %w", path, err)
		}
		if err := files.RemoveDeadSocket(path); err != nil {
			return nil, err
		}
		before := syscall.Umask(0o177) // only this user may connect
		defer syscall.Umask(before)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", s.listen, err)
	}
	bound, isTCP := listener.Addr().(*net.TCPAddr)
	if isTCP && (s.certificate == "" || s.passwords == "") && !bound.IP.IsLoopback() { // localhost may resolve to another address
		return nil, errors.Join(fmt.Errorf("listening on %s: others can reach this address (%s)", s.listen, bound), listener.Close())
	}
	return listener, nil
}

// hashPassword asks for a password and prints its line for a password file.
func (a *app) hashPassword(ctx context.Context, name string) error {
	prompter := tui.Terminal()
	if prompter == nil {
		return fmt.Errorf("asking for a password: %w", remote.ErrNobodyToAsk)
	}
	line, err := web.AskPassword(ctx, prompter, name)
	if err != nil {
		return &usageError{err}
	}
	if _, err := fmt.Fprintln(a.stdout, line); err != nil {
		return fmt.Errorf("printing the line: %w", err)
	}
	return nil
}
