package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/agent/serve"
	"github.com/rmctl/rmctl/internal/agentdecode"
	"github.com/rmctl/rmctl/internal/replay"
)

func newAgent(a *app) *cobra.Command {
	var o serve.Options
	var install, states string
	c := &cobra.Command{
		Use:   "agent",
		Short: "Serve a target to a client of the proxy protocol",
		Long: `Serve a target to a client of the proxy protocol, such as the Eclipse PTP or another rmctl.

The agent reports jobs, nodes and queues, and accepts jobs. It connects to --host and
--port, or uses standard input and output, and exits when the session ends; jobs keep
running. It ignores options of other agents.

Use --install for clients that start an agent by a single path.`,
		Example: `  rmctl agent -t slurm --install ~/bin/slurm-agent
  rmctl agent -t slurm --proxy=tcp --host=localhost --port=4000
  rmctl agent --proxy=stdio --trace trace.txt`,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(c *cobra.Command, arguments []string) error {
			if len(arguments) > 0 {
				return noArguments(c, arguments)
			}
			if o.Old = states == "2.x"; !o.Old && states != "4.0" {
				return usage("--states %q: enter 4.0 or 2.x", states)
			}
			return a.serveAgent(c.Context(), o, install)
		},
	}
	flags := c.Flags()
	flags.Bool("help", false, "help for agent") // -h is the host, as with other agents
	flags.StringVarP(&o.Proxy, "proxy", "P", serve.TCP, "connection to the client: `tcp` or stdio")
	flags.StringVarP(&o.Host, "host", "h", "localhost", "`HOST` of the client")
	flags.IntVarP(&o.Port, "port", "p", serve.DefaultPort, "`PORT` of the client")
	flags.BoolVar(&o.AllowPlain, "allow-plain", false, "allow an unencrypted connection to a client on another machine")
	flags.StringVar(&o.Trace, "trace", "", "trace `FILE` to which to append all messages")
	flags.StringVar(&states, "states", "4.0", "job states of PTP `VERSION` 4.0 or 2.x")
	flags.StringVar(&install, "install", "", "`FILE` to which to write a program that starts the agent")
	c.AddCommand(newAgentDecode(a))
	return c
}

// serveAgent serves the chosen target, or writes the program that does.
func (a *app) serveAgent(ctx context.Context, o serve.Options, install string) (err error) {
	targets, err := a.client().Targets()
	if err != nil {
		return err
	}
	target, err := targets.Find(a.target)
	if err != nil {
		return err
	}
	a.target, o.Target, o.NodeDirectory = target.Name, target.Name, target.NodeDirectory
	o.Stdin, o.Stdout, o.Log = a.stdin, a.stdout, a.log()
	o.Warn = func(text string) { a.say("%s", text) }
	if err := o.Check(); err != nil {
		return &usageError{err}
	}
	if install != "" {
		if o.Configuration, err = a.configurationFlags(); err != nil {
			return err
		}
		return serve.Install(install, o)
	}
	platform, err := a.platform(ctx, nil, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Close()) }()
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	err = serve.Run(ctx, platform, store, o)
	if errors.Is(err, serve.ErrArgument) {
		return &usageError{err}
	}
	return err
}

// configurationFlags returns the flags for the folders of this call.
func (a *app) configurationFlags() (flags []string, err error) {
	for _, folder := range []struct{ flag, path string }{{"--config-dir", a.configFolder}, {"--state-dir", a.stateFolder}} {
		if folder.path == "" {
			continue
		}
		whole, err := filepath.Abs(folder.path)
		if err != nil {
			return nil, err
		}
		flags = append(flags, folder.flag+"="+whole)
	}
	return flags, nil
}

func newAgentDecode(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "decode FILE",
		Short: "Print the messages of a trace",
		Long: `Print the name, transaction, ids and attributes of each message in FILE.

FILE is a trace, or the bytes of one direction; "-" is standard input. If a message cannot
be decoded, rmctl prints the reason and exits with 1.`,
		Example: `  rmctl agent decode trace.txt
  rmctl agent decode --json trace.txt | jq -c 'select(.name == "NEW_JOB")'`,
		Args: exactly(1, "FILE"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			return a.decodeMessages(arguments)
		},
	}
}

// decodeMessages prints the messages of a file.
func (a *app) decodeMessages(arguments []string) error {
	input, err := replay.Input(a.stdin, arguments)
	if err != nil {
		return err
	}
	defer input.Close()
	output := bufio.NewWriter(a.stdout)
	broken, err := agentdecode.Print(output, input, a.json)
	if err = errors.Join(err, output.Flush()); err == nil && broken > 0 {
		err = fmt.Errorf("cannot decode %d messages", broken)
	}
	return err
}
