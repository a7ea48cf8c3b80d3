package views

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// A Manager describes a resource manager itself; what it manages is in
// the model.
type Manager struct {
	Target   settings.Target
	State    model.State
	Since    time.Time         // from when on it is in this state
	Cause    error             // of the states ERROR and SUSPENDED
	Retry    time.Time         // when it is tried again by itself; zero if it is not
	Listings []monitor.Listing // of queues, nodes and jobs; none while it is STOPPED
	Problems []model.Problem   // what was wrong with what these listed; none while it is STOPPED
}

// Attributes of resource managers beside the predefined ones.
const (
	AttributeHost       = "rmHost"
	AttributeCause      = "rmCause"
	attributeDefinition = "rmDefinition"
	AttributeSince      = "rmSince"
)

// Predefined attributes of resource managers: the name of the scheduler, and where it runs.
const (
	AttributeType        = "rmType"
	attributeDescription = "rmDescription"
)

// define defines the attributes of resource managers.
func define(u *model.Update) error {
	var problems []error
	for _, definition := range []model.Definition{
		{ID: AttributeHost, Type: model.String, Default: []string{""}, Name: "Host", Description: "Where the scheduler's commands run", Display: true},
		{ID: AttributeCause, Type: model.String, Default: []string{""}, Name: "Cause", Description: "Reason of the state ERROR or SUSPENDED", Display: true},
		{ID: attributeDefinition, Type: model.String, Default: []string{""}, Name: "Definition", Description: "Definition", Display: true},
		{ID: AttributeSince, Type: model.Date, Name: "Since", Description: "Time of the last change of state", Display: true},
	} {
		problems = append(problems, u.Define(definition))
	}
	return errors.Join(problems...)
}

// How long a connection that was lost is left alone, at first and at most.
const (
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Minute
	stopTimeout  = time.Minute
)

// A manager is a resource manager and its life. Fields are guarded by the
// platform's lock.
type manager struct {
	Manager  // listings and problems are of before while it is watched; the target changes only while STOPPED
	platform *Views

	scheduler  string // the name of its definition; empty before the first session
	controller *control.Controller
	watcher    *watcher
	cancel     context.CancelFunc // of the life at hand; nil while STOPPED
	again      chan struct{}      // closed to try again now; nil while none is awaited
	stopping   bool               // whether somebody wants it STOPPED
}

// known returns what is known; the lock is held.
func (m *manager) known() Manager {
	known := m.Manager
	if m.watcher != nil {
		known.Listings, known.Problems = m.watcher.monitor.Listings(), m.watcher.monitor.Problems()
	}
	return known
}

// Start connects a resource manager and begins its session. It returns at once: the
// model shows what comes of it. One that is in ERROR is tried again now; one that
// is STARTED or SUSPENDED is left alone. A target that is no resource manager yet becomes one.
// Errors are *settings.UnknownTargetError, *StateError while it is stopping, and
// ErrClosed.
func (p *Views) Start(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	m, known := p.managers[name]
	if !known {
		target, err := p.targets.Find(name)
		if err != nil || name == "" {
			return cmp.Or(err, error(&settings.UnknownTargetError{Name: name, Known: p.targets.Names()}))
		}
		m = p.show(target)
	}
	switch {
	case m.stopping: // though its state may not show it yet
		return &StateError{Name: name, State: vocabulary.StateStopping, What: "starting"}
	case m.cancel == nil:
		life, cancel := context.WithCancel(p.life)
		m.cancel = cancel
		m.enter(vocabulary.StateStarting, nil, time.Time{}) // at once: it cannot be changed any more
		p.work.Go(func() { m.live(life) })
	case m.again != nil:
		close(m.again)
		m.again = nil
	}
	return nil
}

// Stop ends a resource manager's session and gives up its connection. It returns
// at once: the model shows what comes of it. Jobs run on. Errors are
// *UnknownManagerError.
func (p *Views) Stop(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(name)
	if err != nil {
		return err
	}
	if m.cancel != nil && !m.stopping {
		m.stopping = true
		m.cancel()
	}
	return nil
}

// Refresh has a resource manager that is STARTED or SUSPENDED listed as soon as the shortest
// interval of its definition lets it. Errors are *UnknownManagerError and
// *StateError.
func (p *Views) Refresh(name string) error {
	if _, err := p.Controller(name); err != nil {
		return err
	}
	p.lookSoon(name)
	return nil
}

// lookSoon is Refresh for who does not mind whether there is anything to look at.
func (p *Views) lookSoon(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, known := p.managers[name]; known && m.watcher != nil {
		m.watcher.lookSoon()
	}
}

// live is the life of a resource manager from STARTING to STOPPED.
func (m *manager) live(ctx context.Context) {
	delay := firstRetry
	for ctx.Err() == nil {
		m.become(vocabulary.StateStarting, nil, time.Time{})
		began := m.platform.options.Now()
		err := m.session(ctx)
		if ctx.Err() != nil {
			break
		}
		if m.platform.options.Now().Sub(began) > longestRetry {
			delay = firstRetry // it had been well for a while
		}
		m.await(ctx, err, delay)
		delay = min(2*delay, longestRetry)
	}
	m.platform.mu.Lock()
	defer m.platform.mu.Unlock()
	m.cancel = nil
	if m.stopping { // else the platform is closed, and what was seen last stays
		m.stopping, m.Listings, m.Problems = false, nil, nil
		if m.isWatched() { // its connection was lost before; STOPPED cannot follow that
			m.enter(vocabulary.StateStopping, nil, time.Time{})
		}
		m.enter(vocabulary.StateStopped, nil, time.Time{})
	}
}

// session is what happens between STARTING and the loss of the connection, or the
// end that somebody wants. The error says why it is over.
func (m *manager) session(ctx context.Context) (err error) {
	p := m.platform
	controller, closing, err := p.options.Open(ctx, m.Target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if err := controller.Start(ctx, false); err != nil {
		return err
	}
	watching := newWatcher(m, controller)
	p.mu.Lock()
	m.controller, m.watcher, m.scheduler = controller, watching, controller.Definition.Name
	m.enter(vocabulary.StateStarted, nil, time.Time{})
	p.mu.Unlock()
	err = watching.run(ctx)
	p.mu.Lock()
	m.controller, m.watcher, m.Listings, m.Problems = nil, nil, watching.monitor.Listings(), watching.monitor.Problems()
	isLeft := m.stopping
	p.mu.Unlock()
	if isLeft {
		return m.leave(ctx, controller)
	}
	return err
}

// leave ends the session, as somebody wants.
func (m *manager) leave(ctx context.Context, controller *control.Controller) error {
	m.become(vocabulary.StateStopping, nil, time.Time{})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := controller.Stop(ctx); err != nil {
		m.platform.options.Log.Warn("stopping a resource manager", "name", m.Target.Name, "error", err)
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}

// await shows why a resource manager is in ERROR until it is time to try again, or
// somebody wants that. Where only the user can help it waits for the user: a
// password that is wrong is not tried again and again.
func (m *manager) await(ctx context.Context, cause error, delay time.Duration) {
	var due <-chan time.Time // never, unless it is tried again by itself
	var retry time.Time
	if comesBack(cause) {
		delay += time.Duration(m.platform.options.Jitter() * float64(delay) / 4)
		due, retry = m.platform.options.After(delay), m.platform.options.Now().Add(delay)
	}
	again := make(chan struct{})
	m.platform.mu.Lock()
	m.again = again
	m.enter(vocabulary.StateError, cause, retry)
	m.platform.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-again:
	case <-due:
	}
	m.platform.mu.Lock()
	defer m.platform.mu.Unlock()
	m.again = nil // it is tried again anyway
}

// comesBack reports whether a later attempt may succeed without the user.
func comesBack(cause error) bool {
	var unreached *remote.ConnectError
	if !errors.As(cause, &unreached) {
		return errors.Is(cause, remote.ErrUnreachable) || control.IsUnreached(cause)
	}
	switch unreached.Reason {
	case remote.Refused, remote.NoAnswer, remote.Disconnected, remote.UnknownHost:
		return true
	}
	return false
}

func (m *manager) become(state model.State, cause error, retry time.Time) {
	m.platform.mu.Lock()
	defer m.platform.mu.Unlock()
	m.enter(state, cause, retry)
}

// isWatched reports whether the resource manager is connected and watched; the lock is held.
func (m *manager) isWatched() bool {
	return m.State == vocabulary.StateStarted || m.State == vocabulary.StateSuspended
}

// answers notes whether the scheduler answers its listings, and why not.
func (m *manager) answers(cause error) {
	m.platform.mu.Lock()
	defer m.platform.mu.Unlock()
	switch {
	case cause != nil && m.State == vocabulary.StateStarted:
		m.enter(vocabulary.StateSuspended, cause, time.Time{})
	case cause == nil && m.State == vocabulary.StateSuspended:
		m.enter(vocabulary.StateStarted, nil, time.Time{})
	}
}

// enter is what become does; the lock is held.
func (m *manager) enter(state model.State, cause error, retry time.Time) {
	m.State, m.Since, m.Cause, m.Retry = state, m.platform.options.Now(), cause, retry
	m.draw()
}

// draw shows the resource manager in the model; the lock is held, or not needed.
func (m *manager) draw() {
	scheduler := cmp.Or(m.scheduler, schedulerOf(m.Target))
	row := model.Row{Kind: model.ResourceManager, ID: m.Target.Name, Attributes: []model.Attribute{
		{ID: vocabulary.AttributeRMState, Text: string(m.State)},
		{ID: AttributeHost, Text: hostOf(m.Target)},
		{ID: attributeDefinition, Text: cmp.Or(m.Target.Definition, m.Target.Agent.String())},
		{ID: AttributeType, Text: scheduler},
		{ID: attributeDescription, Text: fmt.Sprintf("%s on %s (%s)", scheduler, hostOf(m.Target), m.Target.Transport)},
		{ID: AttributeSince, Text: m.Since.Format(time.RFC3339)},
	}}
	cause := model.Attribute{ID: AttributeCause}
	if m.Cause != nil {
		cause.Text = m.Cause.Error()
	}
	row.Attributes = append(row.Attributes, cause)
	m.platform.update(func(u *model.Update) { u.Put(row) })
}

// update changes the model.
func (p *Views) update(change func(*model.Update)) {
	for _, problem := range p.model.Update(change) {
		p.options.Log.Warn("changing the model", "problem", problem.What, "of", problem.Of, "count", problem.Count, "error", problem.Example)
	}
}

// schedulerOf returns the name of a target's scheduler while its definition is not loaded.
func schedulerOf(target settings.Target) string {
	if target.Definition == "" {
		return filepath.Base(target.Agent.String())
	}
	return strings.TrimSuffix(filepath.Base(target.Definition), ".xml")
}

// hostOf returns where the commands of a target run.
func hostOf(target settings.Target) string {
	return cmp.Or(target.Host, "localhost")
}
