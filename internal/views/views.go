// Package views is the runtime platform: the resource managers of a user, one
// for each target that is looked at, in one model. Each has a life from STOPPED
// over STARTING to STARTED and back: it is connected, watched and operated. Lost
// connections are made again.
//
// Views draw from [Views.Model]; what users do goes through the methods.
package views

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// Options say what a platform works with.
type Options struct {
	Targets *settings.Targets
	Folders settings.Folders // of the targets files
	Show    []string         // targets that are resource managers from the beginning; nil for those that usual names

	// Open makes the connection of a target and a controller over it. Closing gives
	// the connection up. It is called again when a connection was lost.
	Open func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error)
	// EndHosted ends an interactive job that another process of this user hosts; nil
	// for none.
	EndHosted func(ctx context.Context, job job.Job) error

	// KeepListings keeps what was listed last for [control.Controller.LatestRows], also
	// while no other process wants it.
	KeepListings bool

	Store  *jobstore.Store
	Log    *slog.Logger                         // nil to log nothing
	Now    func() time.Time                     // nil for the clock
	After  func(time.Duration) <-chan time.Time // a timer; nil for real time
	Jitter func() float64                       // a random number from 0 to 1; nil for a random one
}

// A Views holds resource managers. Its methods may be called concurrently.
type Views struct {
	options Options
	model   *model.Model

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	targets  *settings.Targets
	managers map[string]*manager
	closed   bool
}

// ErrClosed is returned once a platform is closed.
var ErrClosed = errors.New("the platform is closed")

// An UnknownManagerError names a resource manager that there is not.
type UnknownManagerError struct {
	Name  string
	Known []string
}

// Error names the resource manager, and those that there are.
func (e *UnknownManagerError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no such target: %q; there are no targets", e.Name)
	}
	return fmt.Sprintf("no such target: %q; targets: %s", e.Name, strings.Join(e.Known, ", "))
}

// A StateError is returned for what cannot be done in the state of a resource manager.
type StateError struct {
	Name  string
	State model.State
	What  string
	Cause error // of the states ERROR and SUSPENDED
}

// Error says what was wanted, the state that prevents it, and its cause.
func (e *StateError) Error() string {
	text := fmt.Sprintf("%s: target %q is %s", e.What, e.Name, e.State)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Cause }

// New returns a platform whose resource managers are all STOPPED.
func New(o Options) (*Views, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.After == nil {
		o.After = time.After
	}
	life, end := context.WithCancel(context.Background())
	p := &Views{options: o, model: model.New(), life: life, end: end, targets: o.Targets, managers: map[string]*manager{}}
	var err error
	p.update(func(u *model.Update) { err = define(u) })
	if err != nil {
		end()
		return nil, fmt.Errorf("making the model: %w", err)
	}
	names := o.Show
	if names == nil {
		names = usual(o.Targets)
	}
	for _, name := range names {
		target, err := o.Targets.Find(name)
		if err != nil {
			end()
			return nil, err
		}
		p.show(target)
	}
	return p, nil
}

// usual returns the names of the targets that somebody means who names none: those
// of the targets file and the default one.
func usual(targets *settings.Targets) []string {
	var names []string
	for _, target := range targets.All() {
		if !target.Shipped || target.Name == targets.Default {
			names = append(names, target.Name)
		}
	}
	return names
}

// Model returns the model of all resource managers, whose ids are the names of
// their targets. Nobody else may change it.
func (p *Views) Model() *model.Model { return p.model }

// Managers returns all resource managers by name.
func (p *Views) Managers() []Manager {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Manager
	for _, name := range slices.Sorted(maps.Keys(p.managers)) {
		all = append(all, p.managers[name].known())
	}
	return all
}

// Manager describes a resource manager. The error is an
// *UnknownManagerError.
func (p *Views) Manager(name string) (Manager, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(name)
	if err != nil {
		return Manager{}, err
	}
	return m.known(), nil
}

// Available returns the names of all targets, also of those that are no resource
// manager yet: [Views.Start] makes them one.
func (p *Views) Available() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.targets.Names()
}

// Controller returns the controller of a resource manager that is STARTED or SUSPENDED: a
// scheduler whose listings fail may still take jobs. Errors are *UnknownManagerError and *StateError.
func (p *Views) Controller(name string) (*control.Controller, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(name)
	if err != nil {
		return nil, err
	}
	if !m.isWatched() || m.controller == nil {
		return nil, &StateError{Name: name, State: m.State, What: "invalid", Cause: m.Cause}
	}
	return m.controller, nil
}

// Close ends all that the platform began, and waits for it. Sessions and jobs stay
// as they are: the next process goes on with them.
func (p *Views) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	p.work.Wait()
	return nil
}

// find returns a resource manager; the lock is held.
func (p *Views) find(name string) (*manager, error) {
	m, known := p.managers[name]
	if !known {
		return nil, &UnknownManagerError{name, slices.Sorted(maps.Keys(p.managers))}
	}
	return m, nil
}

// show makes a target a resource manager, STOPPED; the lock is held, or not needed.
func (p *Views) show(target settings.Target) *manager {
	m := &manager{platform: p, Manager: Manager{Target: target, State: vocabulary.StateStopped, Since: p.options.Now()}}
	p.managers[target.Name] = m
	m.draw()
	return m
}
