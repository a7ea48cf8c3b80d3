package rmctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
	"github.com/rmctl/rmctl/remote/ssh"
)

// ConfigFolder returns the configuration folder.
func (c *Client) ConfigFolder() (string, error) {
	return folder(c.options.ConfigFolder, "XDG_CONFIG_HOME", ".config")
}

// StateFolder returns the state folder.
func (c *Client) StateFolder() (string, error) {
	return folder(c.options.StateFolder, "XDG_STATE_HOME", ".local/state")
}

// folder returns the configured folder, otherwise rmctl in the folder of an XDG variable,
// otherwise in the home directory.
func folder(configured, variable, fallback string) (string, error) {
	if configured != "" {
		return filepath.Abs(configured)
	}
	if base := os.Getenv(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "rmctl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home directory: %w; --config-dir and --state-dir name the folders that are looked for in it", err)
	}
	return filepath.Join(home, fallback, "rmctl"), nil
}

// Targets returns the targets of the user, read once. It logs a warning for each setting of
// the user's targets.toml that the site locks. The error is a *[settings.ConfigurationError]
// for mistakes in one of the files.
func (c *Client) Targets() (*Targets, error) {
	return c.targets.get(struct{}{}, func() (*Targets, error) {
		folder, err := c.ConfigFolder()
		if err != nil {
			return nil, err
		}
		targets, err := settings.LoadTargets(settings.Folders{Site: cmp.Or(c.options.SiteFolder, settings.SiteFolder), User: folder})
		if err != nil {
			return nil, err
		}
		for _, line := range targets.Refused() {
			c.options.Log.Warn(line)
		}
		return targets, nil
	})
}

// Store returns the record of jobs, opened once. [Client.Close] closes it.
func (c *Client) Store(ctx context.Context) (*jobstore.Store, error) {
	return c.store.get(struct{}{}, func() (*jobstore.Store, error) {
		folder, err := c.StateFolder()
		if err != nil {
			return nil, err
		}
		if err := files.RefuseForeign(filepath.Dir(folder)); err != nil {
			return nil, fmt.Errorf("opening the job store in %q: %w", folder, err)
		}
		return jobstore.Open(ctx, folder)
	})
}

// Controller returns the controller of a target, or of the default target if the name is
// empty. Each target has one.
func (c *Client) Controller(ctx context.Context, target string) (*control.Controller, error) {
	targets, err := c.Targets()
	if err != nil {
		return nil, err
	}
	found, err := targets.Find(target)
	if err != nil {
		return nil, err
	}
	return c.controllers.get(found.Name, func() (*control.Controller, error) {
		controller, _, err := c.bind(ctx, found, c.Connection)
		return controller, err
	})
}

// NewController returns a controller of a target over a connection of its own, and a
// function that closes the connection.
func (c *Client) NewController(ctx context.Context, target Target) (*control.Controller, func() error, error) {
	controller, connection, err := c.bind(ctx, target, c.connect)
	if err != nil && connection != nil {
		err = errors.Join(err, connection.Close())
	}
	if err != nil {
		return nil, nil, err
	}
	return controller, connection.Close, nil
}

func (c *Client) bind(ctx context.Context, target Target, connect func(context.Context, Target) (remote.Connection, error)) (*control.Controller, remote.Connection, error) {
	store, err := c.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	definition, connection, err := c.reach(ctx, target, connect)
	if err != nil {
		return nil, connection, err
	}
	definition = inspect.WithEnvironment(definition, target.Environment)
	options := control.Options{
		Target: target.Name, Definition: definition, Connection: connection, Store: store, Log: c.options.Log,
		Defaults: target.Defaults(), LeastInterval: target.LeastInterval(), SharedAnswers: target.SharedAnswers(),
		NodeDirectory: target.NodeDirectory,
	}
	if c.options.Configure != nil {
		c.options.Configure(&options)
	}
	return control.New(options), connection, nil
}

// reach connects to a target and loads its definition; that of an agent comes from the agent.
func (c *Client) reach(ctx context.Context, target Target, connect func(context.Context, Target) (remote.Connection, error)) (*config.Definition, remote.Connection, error) {
	if target.Agent == nil {
		definition, err := c.definition(target.Definition)
		if err != nil {
			return nil, nil, err
		}
		connection, err := connect(ctx, target)
		return definition, connection, err
	}
	connection, err := connect(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	definition, err := bridge.Definition(ctx, connection, target.Name)
	if err != nil {
		return nil, connection, err
	}
	return definition, connection, nil
}

func (c *Client) definition(nameOrFile string) (*config.Definition, error) {
	if c.options.Definition != nil {
		return c.options.Definition(nameOrFile)
	}
	definition, warnings, err := check.UsableDefinition(nameOrFile)
	for _, warning := range warnings {
		c.options.Log.Warn(warning.String())
	}
	return definition, err
}

// connectionKey identifies a connection: several targets may share one.
type connectionKey struct{ transport, host, sshConfig, agent string }

// Connection returns the connection of a target. Targets of one host share it.
func (c *Client) Connection(ctx context.Context, target Target) (remote.Connection, error) {
	key := connectionKey{transport: target.Transport, host: target.Host, sshConfig: target.SSHConfig}
	if target.Agent != nil {
		key.agent = fmt.Sprintf("%q %s %q", target.Agent, target.Proxy, target.Environment)
	}
	return c.connections.get(key, func() (remote.Connection, error) {
		return c.connect(ctx, target)
	})
}

func (c *Client) connect(ctx context.Context, target Target) (remote.Connection, error) {
	if c.options.Connect != nil {
		return c.options.Connect(ctx, target)
	}
	return Connect(ctx, target, c.options.Prompter, nil, c.options.Log)
}

// Connect makes a connection to a target in this process, with a session if the target has an
// agent. The prompter answers questions, and banner receives the banner of an SSH server; both
// may be nil.
func Connect(ctx context.Context, target Target, prompter remote.Prompter, banner func(host, text string), log *slog.Logger) (remote.Connection, error) {
	connection, err := connectTo(ctx, target, prompter, banner, log)
	if err != nil || target.Agent == nil {
		return connection, err
	}
	return bridge.New(connection, bridge.Options{Agent: target.Agent, Proxy: target.Proxy, Environment: target.Environment, Log: log}), nil
}

// connectTo connects to the host of a target.
func connectTo(ctx context.Context, target Target, prompter remote.Prompter, banner func(host, text string), log *slog.Logger) (remote.Connection, error) {
	switch target.Transport {
	case settings.TransportLocal:
		return remote.NewLocal()
	case settings.TransportSSH:
		return ssh.Connect(ctx, ssh.Options{Host: target.Host, ConfigFile: target.SSHConfig, Prompter: prompter, Banner: banner, Log: log})
	case settings.TransportOpenSSH:
		return openssh.Connect(ctx, openssh.Options{Host: target.Host, ConfigFile: target.SSHConfig, Prompter: prompter, Log: log})
	}
	return nil, fmt.Errorf("there is no transport %q", target.Transport)
}

// CloseConnections closes the connections but not the job store.
func (c *Client) CloseConnections() error {
	var err error
	c.controllers.clear()
	for _, connection := range c.connections.clear() {
		err = errors.Join(err, connection.Close())
	}
	return err
}

// EndHosted ends an interactive job that the background process hosts.
func (c *Client) EndHosted(ctx context.Context, j job.Job) error {
	state, err := c.StateFolder()
	if err != nil {
		return err
	}
	folder, err := daemon.Folder(state)
	if err != nil {
		return err
	}
	return daemon.Find(folder).End(ctx, j.Tag)
}

// kept holds values by key, each created when it is first needed. If that fails, the next
// call tries again.
type kept[K comparable, V any] struct {
	mutex sync.Mutex
	all   map[K]*entry[V]
}

type entry[V any] struct {
	mutex   sync.Mutex // held while the value is created, which may take long
	value   V
	created bool
}

func (k *kept[K, V]) get(key K, create func() (V, error)) (V, error) {
	k.mutex.Lock()
	one := k.all[key]
	if one == nil {
		if k.all == nil {
			k.all = map[K]*entry[V]{}
		}
		one = &entry[V]{}
		k.all[key] = one
	}
	k.mutex.Unlock()
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if one.created {
		return one.value, nil
	}
	value, err := create()
	if err == nil {
		one.value, one.created = value, true
	}
	return value, err
}

// clear removes all values and returns them.
func (k *kept[K, V]) clear() []V {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var values []V
	for _, one := range k.all {
		one.mutex.Lock()
		if one.created {
			values = append(values, one.value)
		}
		one.mutex.Unlock()
	}
	k.all = nil
	return values
}
