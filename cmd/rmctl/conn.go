package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

func newConn(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "conn",
		Short: "List and close connections of the background process",
		Long: `List and close the connections that the background process keeps between calls of rmctl.

The background process closes connections that are idle for ten minutes, and ends after
the last one.`,
		Example: `  rmctl conn list
  rmctl conn close big
  rmctl conn close --all`,
		Args: noArguments,
		RunE: noArguments,
	}
	c.AddCommand(newConnList(a), newConnClose(a))
	return c
}

func newConnList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List connections of the background process",
		Long:    `List connections with their targets, host, transport, age, idle time and number of commands.`,
		Example: "  rmctl conn list\n  rmctl conn list --json",
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := a.findBackground()
			if err != nil {
				return err
			}
			connections, err := client.Connections(c.Context())
			if err != nil && !errors.Is(err, daemon.ErrNotRunning) {
				return err
			}
			return a.printConnections(connections, time.Now())
		},
	}
}

// findBackground returns a client that starts nothing.
func (a *app) findBackground() (*daemon.Client, error) {
	place, err := a.backgroundFolder()
	if err != nil {
		return nil, err
	}
	return daemon.Find(place), nil
}

// connectionJSON is a connection in JSON; the names are a contract.
type connectionJSON struct {
	Targets   []string `json:"targets"`
	Host      string   `json:"host"`
	Transport string   `json:"transport"`
	SSHConfig string   `json:"sshConfig,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	State     string   `json:"state"` // connecting or open
	Since     string   `json:"since,omitempty"`
	Idle      float64  `json:"idle"` // seconds; 0 while it is used
	Commands  int      `json:"commands"`
}

func (a *app) printConnections(connections []daemon.ConnectionInfo, now time.Time) error {
	if len(connections) == 0 {
		a.sayNone("no open connections")
	}
	document := func(connection daemon.ConnectionInfo) any {
		shown := connectionJSON{
			Targets: a.targetsOf(connection), Host: connection.Host, Transport: connection.Transport, SSHConfig: connection.SSHConfig, Agent: connection.Agent,
			State: "open", Since: job.Timestamp(connection.Since), Commands: connection.Commands,
		}
		if connection.Connecting {
			shown.State = "connecting"
		} else if connection.Users == 0 {
			shown.Idle = max(now.Sub(connection.Used), 0).Seconds()
		}
		return shown
	}
	return printAll(a, connections, document, []string{"TARGET", "HOST", "TRANSPORT", "SINCE", "IDLE", "COMMANDS"}, func(connection daemon.ConnectionInfo) []string {
		since, idle := terminal.Age(connection.Since, now), "-"
		if connection.Connecting {
			since = "connecting"
		} else if connection.Users == 0 {
			idle = terminal.Age(connection.Used, now)
		}
		return []string{
			terminal.OrDash(strings.Join(a.targetsOf(connection), ",")), oneLine(cmp.Or(connection.Host, "localhost")), oneLine(connection.Transport), since, idle, fmt.Sprint(connection.Commands),
		}
	})
}

// targetsOf returns the targets that use a connection. If targets.toml is invalid, it
// returns no targets.
func (a *app) targetsOf(connection daemon.ConnectionInfo) []string {
	names := []string{}
	targets, err := a.client().Targets()
	if err != nil {
		return names
	}
	for _, target := range targets.All() {
		if target.Transport == connection.Transport && target.Host == connection.Host && target.SSHConfig == connection.SSHConfig && target.Agent.String() == connection.Agent && target.Proxy == connection.Proxy {
			names = append(names, target.Name)
		}
	}
	return names
}

func newConnClose(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "close [--all] [TARGET...]",
		Short: "Close connections of the background process",
		Long: `Close the connections of targets. Commands that run over them are lost.

The next command that needs a connection opens a new one.`,
		Example: `  rmctl conn close big
  rmctl conn close --all`,
		ValidArgsFunction: a.completeTargets,
		RunE: func(c *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return usage("conn close requires targets or --all")
			}
			closed, err := a.closeConnections(c.Context(), names)
			if err != nil {
				return err
			}
			for _, connection := range closed {
				fmt.Fprintf(a.stderr, "closed the connection to %s (%s)\n", oneLine(cmp.Or(connection.Host, "localhost")), oneLine(connection.Transport))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "close all connections, and end the background process")
	return c
}

// closeConnections closes the connections of targets, all of them if none are named.
func (a *app) closeConnections(ctx context.Context, names []string) ([]daemon.ConnectionInfo, error) {
	places, err := a.placesOf(names)
	if err != nil {
		return nil, err
	}
	client, err := a.findBackground()
	if err != nil {
		return nil, err
	}
	var closed []daemon.ConnectionInfo
	if len(places) == 0 {
		closed, err = client.Stop(ctx)
	} else {
		closed, err = client.CloseConnections(ctx, places...)
	}
	if errors.Is(err, daemon.ErrNotRunning) {
		return nil, nil // there are no connections
	}
	return closed, err
}

func (a *app) placesOf(names []string) ([]daemon.Place, error) {
	targets, err := a.client().Targets()
	if err != nil && len(names) > 0 {
		return nil, err
	}
	var places []daemon.Place
	for _, name := range names {
		target, err := targets.Find(name)
		if err != nil {
			return nil, err
		}
		if target.Transport == settings.TransportLocal && target.Agent == nil {
			return nil, usage("target %q has no connection: it is on this machine", name)
		}
		places = append(places, placeOf(target))
	}
	return places, nil
}
