package views

import (
	"context"
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/model"
)

// Add makes a new target, in the targets file, and a resource manager of it,
// STOPPED. Its definition must be usable. Errors are *settings.TargetExistsError,
// *config.InvalidError and *settings.ConfigurationError.
func (p *Views) Add(target settings.Target) error {
	if err := checkDefinition(target); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reload(); err != nil { // somebody may have changed the file
		return err
	}
	if known, err := p.targets.Find(target.Name); err == nil && target.Name != "" && !known.Shipped {
		return &settings.TargetExistsError{Name: target.Name}
	}
	if m, shown := p.managers[target.Name]; shown && m.cancel != nil {
		return &StateError{Name: target.Name, State: m.State, What: "adding a target with its name"}
	}
	return p.save(target, settings.AddTargets)
}

// Edit replaces a target, in the targets file, whose resource manager must be
// STOPPED. Errors are as of [Views.Add], *UnknownManagerError and *StateError.
func (p *Views) Edit(target settings.Target) error {
	if err := checkDefinition(target); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(target.Name)
	if err != nil {
		return err
	}
	if m.cancel != nil {
		return &StateError{Name: target.Name, State: m.State, What: "changing it, which requires the state STOPPED"}
	}
	return p.save(target, settings.SaveTargets)
}

// Remove takes a resource manager that is STOPPED out of the model, and its target
// out of the targets file, where it stands there. Errors are *UnknownManagerError,
// *StateError and *settings.ConfigurationError.
func (p *Views) Remove(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(name)
	if err != nil {
		return err
	}
	if m.cancel != nil {
		return &StateError{Name: name, State: m.State, What: "removing it, which requires the state STOPPED"}
	}
	if !m.Target.Shipped {
		var gone *settings.UnknownTargetError // somebody has changed the file
		if err := settings.RemoveTarget(p.life, p.options.Folders, name); err != nil && !errors.As(err, &gone) {
			return err
		}
		if err := p.reload(); err != nil {
			return err
		}
	}
	delete(p.managers, name)
	p.update(func(u *model.Update) { u.Remove(name, model.ResourceManager, name) })
	return nil
}

// checkDefinition refuses a target whose definition cannot be used. It may take long,
// so the lock is not held: all views wait for that.
func checkDefinition(target settings.Target) error {
	if target.Agent != nil {
		return nil // the agent has the definition
	}
	if _, _, err := check.UsableDefinition(target.Definition); err != nil {
		return fmt.Errorf("target %q: %w", target.Name, err)
	}
	return nil
}

// save writes a target and shows it; the lock is held.
func (p *Views) save(target settings.Target, write func(ctx context.Context, folders settings.Folders, targets ...settings.Target) error) error {
	if err := write(p.life, p.options.Folders, target); err != nil {
		return err
	}
	if err := p.reload(); err != nil {
		return err
	}
	written, err := p.targets.Find(target.Name)
	if err != nil {
		return err
	}
	p.show(written)
	return nil
}

// Targets reads the targets again, and returns them all. Errors are *settings.ConfigurationError.
func (p *Views) Targets() (*settings.Targets, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.reload()
	return p.targets, err
}

// reload reads the targets again; the lock is held.
func (p *Views) reload() error {
	targets, err := settings.LoadTargets(p.options.Folders)
	if err != nil {
		return err
	}
	p.targets = targets
	return nil
}
