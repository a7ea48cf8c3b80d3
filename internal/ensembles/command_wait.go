package ensembles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// wait prints the events of an ensemble until it has ended.
func (e *Environment) wait(ctx context.Context, service *Service, id string, commit bool) error {
	e.Prepare(ctx, nil) // the questions of logins
	asking, cancel := context.WithCancel(ctx)
	l := logins{ctx: asking, service: service, id: id, running: map[string]bool{}}
	status, err := service.Wait(ctx, id, commit, 0, func(event coalloc.EnsembleEvent) error {
		if event.Kind == coalloc.NeedsUser {
			l.begin(event.Label)
		}
		_, err := fmt.Fprintln(e.Stderr, tui.OneLine(eventText(event)))
		return err
	})
	cancel()
	l.tasks.Wait()
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("waiting for ensemble %s, which continues: %w", id, ctx.Err())
	case err != nil:
		return err
	}
	if e.IsJSON() {
		if err := terminal.JSON(e.Stdout, status); err != nil {
			return err
		}
	}
	return e.Exit(status.ExitCode())
}

// logins make connections that need the user at the terminal. The background process keeps them for the ensemble
// that it runs.
type logins struct {
	ctx     context.Context
	service *Service
	id      string
	tasks   sync.WaitGroup

	mutex   sync.Mutex
	running map[string]bool // by target
}

// begin connects to the target of a part, unless it is connecting already.
func (l *logins) begin(label string) {
	l.tasks.Go(func() {
		target, err := l.targetOf(label)
		if err != nil || !l.enter(target.Name) {
			return
		}
		defer l.leave(target.Name)
		if _, closeLink, err := l.service.Client.NewController(l.ctx, target); err != nil {
			l.service.log().Warn("could not log in", "target", target.Name, "error", err)
		} else if err := closeLink(); err != nil {
			l.service.log().Debug("could not close a connection", "target", target.Name, "error", err)
		}
	})
}

// targetOf returns the target of a part of an ensemble that runs on this host.
func (l *logins) targetOf(label string) (settings.Target, error) {
	ensemble, err := l.service.Follow(l.ctx, l.id)
	if err != nil {
		return settings.Target{}, err
	}
	status, err := ensemble.Status(l.ctx)
	if err != nil {
		return settings.Target{}, err
	}
	at := slices.IndexFunc(status.Parts, func(p coalloc.PartStatus) bool { return p.Label == label && !p.State.Ended() })
	if at < 0 || status.At != "" {
		return settings.Target{}, coalloc.ErrUnknownPart
	}
	targets, err := l.service.Client.Targets()
	if err != nil {
		return settings.Target{}, err
	}
	return targets.Find(status.Parts[at].Target)
}

func (l *logins) enter(target string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	isFirst := !l.running[target]
	l.running[target] = true
	return isFirst
}

func (l *logins) leave(target string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.running, target)
}
