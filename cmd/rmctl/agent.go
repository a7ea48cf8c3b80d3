package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/agentdecode"
	"github.com/rmctl/rmctl/internal/replay"
)

func newAgent(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "Decode messages of the proxy protocol",
		Long: `agent works with the proxy protocol, with which an agent beside a scheduler reports its
jobs, nodes and queues to a client.`,
		Example: "  rmctl agent decode trace.txt",
		Args:    noArguments,
		RunE:    noArguments,
	}
	c.AddCommand(newAgentDecode(a))
	return c
}

func newAgentDecode(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "decode FILE",
		Short: "Print the messages of a trace",
		Long: `decode prints the name, transaction, ids and attributes of each message in FILE, and what
is wrong with those that it cannot decode. FILE is a trace, or the bytes of one direction;
"-" is standard input. With --json each message is an object on one line.

rmctl exits with 1 if a message cannot be decoded.`,
		Example: `  rmctl agent decode trace.txt
  rmctl agent decode --json trace.txt | jq -c 'select(.name == "NEW_JOB")'`,
		Args: exactly(1, "a trace"),
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
		err = fmt.Errorf("messages that cannot be decoded: %d", broken)
	}
	return err
}
