package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// mostMessage bounds the messages that programs send.
const mostMessage = 1 << 20

// during calls use with a session of the process that called this program. If the connection is
// lost and use may be repeated, it does so in another session.
func during(ctx context.Context, p *process, isRepeatable bool, use func(context.Context, *rendezvous.Session) error) error {
	for {
		session, err := p.open(ctx)
		if err != nil {
			return err
		}
		err = use(ctx, session)
		_ = session.Close() // nothing else is sent
		if !isRepeatable || !errors.Is(err, rendezvous.ErrLost) {
			return err
		}
	}
}

func conclude(err error) int {
	if err != nil {
		return failRequest(err)
	}
	return 0
}

// printJSON prints a value in one line.
func printJSON(value any) error { return json.NewEncoder(os.Stdout).Encode(value) }

// printStructure prints the parts of the group.
func printStructure(ctx context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return wrongUsage("structure", "")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	return conclude(during(ctx, p, true, func(ctx context.Context, session *rendezvous.Session) error {
		structure, err := session.Structure(ctx)
		if err == nil {
			err = printJSON(structure)
		}
		return err
	}))
}

// printRank prints the rank of the process in its part.
func printRank(ctx context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return wrongUsage("rank", "")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	if p.identity.Rank >= 0 {
		fmt.Println(p.identity.Rank)
		return 0
	}
	return conclude(during(ctx, p, true, func(_ context.Context, session *rendezvous.Session) error {
		fmt.Println(session.Rank())
		return nil
	}))
}

// printSize prints how many processes the part has.
func printSize(_ context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return wrongUsage("size", "")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	fmt.Println(p.pass.Count)
	return 0
}

// numberFlag adds a flag with a number of 0 or more; nil if it is not set.
func numberFlag(flags *flag.FlagSet, name, usage string) **int {
	number := new(*int)
	flags.Func(name, usage, func(text string) error {
		value, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return err
		}
		converted := int(value)
		*number = &converted
		return nil
	})
	return number
}

// send sends stdin to another process.
func send(ctx context.Context, arguments []string) int {
	flags := newFlags("send")
	to, toRank := numberFlag(flags, "to", "address of a part"), numberFlag(flags, "to-rank", "rank in this part")
	tag := flags.String("tag", "", "tag of the message")
	if err := flags.Parse(arguments); err != nil || (*to == nil) == (*toRank == nil) || flags.NArg() > 0 {
		return wrongUsage("send", "--to ADDRESS|--to-rank RANK [--tag TAG] < DATA")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	data, err := readMessage()
	if err != nil {
		return fail(err)
	}
	return conclude(during(ctx, p, false, func(ctx context.Context, session *rendezvous.Session) error {
		return session.Post(destinationOf(*to, *toRank), *tag, data)(ctx)
	}))
}

// destinationOf returns the destination with an address or, if that is nil, with a rank.
func destinationOf(address, rank *int) rendezvous.Destination {
	if address != nil {
		return rendezvous.Destination{Number: *address}
	}
	return rendezvous.Destination{Number: *rank, Intra: true}
}

// readMessage reads a message from stdin.
func readMessage() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(os.Stdin, mostMessage+1))
	if err != nil {
		return nil, fmt.Errorf("reading the message: %w", err)
	}
	if len(data) > mostMessage {
		return nil, fmt.Errorf("the message has more than %d bytes", mostMessage)
	}
	return data, nil
}

// receive prints the next message with a tag.
func receive(ctx context.Context, arguments []string) int {
	flags := newFlags("recv")
	from, fromRank := numberFlag(flags, "from", "address of the sender's part"), numberFlag(flags, "from-rank", "rank of the sender in this part")
	tag := flags.String("tag", "", "tag of the message")
	isJSON := flags.Bool("json", false, "print sender and data as JSON")
	timeout := timeoutFlag(flags)
	if err := flags.Parse(arguments); err != nil || *from != nil && *fromRank != nil || flags.NArg() > 0 {
		return wrongUsage("recv", "[--tag TAG] [--from ADDRESS|--from-rank RANK] [--timeout DURATION] [--json]")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	ctx, stop := whileParentRuns(ctx)
	defer stop()
	if *timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *timeout)
		defer cancel()
	}
	return conclude(during(ctx, p, true, func(ctx context.Context, session *rendezvous.Session) error {
		message, err := session.Receive(ctx, filterOf(*tag, *from, *fromRank))
		switch {
		case err != nil:
			return err
		case *isJSON:
			return printJSON(messageOf(message))
		}
		_, err = os.Stdout.Write(message.Data)
		return err
	}))
}

// filterOf says which messages to receive.
func filterOf(tag string, from, fromRank *int) rendezvous.Filter {
	filter := rendezvous.Filter{Tag: tag}
	switch {
	case from != nil:
		filter.Scope, filter.From = "inter", from
	case fromRank != nil:
		filter.Scope, filter.From = "intra", fromRank
	}
	return filter
}

// A receivedMessage is a message as JSON.
type receivedMessage struct {
	From     *int   `json:"from,omitempty"` // address of the sender's part
	FromRank *int   `json:"fromRank,omitempty"`
	Data     []byte `json:"data"`
}

func messageOf(message rendezvous.Message) receivedMessage {
	if message.Inter {
		return receivedMessage{From: &message.From, Data: message.Data}
	}
	return receivedMessage{FromRank: &message.From, Data: message.Data}
}

// exchange gives stdin to all parts, and prints what they gave.
func exchange(ctx context.Context, arguments []string) int {
	flags := newFlags("exchange")
	name := flags.String("name", "", "name of the exchange")
	timeout := timeoutFlag(flags)
	if err := flags.Parse(arguments); err != nil || flags.NArg() > 0 {
		return wrongUsage("exchange", "[--name NAME] [--timeout DURATION] < DATA")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	ctx, stop := whileParentRuns(ctx)
	defer stop()
	if *timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *timeout)
		defer cancel()
	}
	var data []byte
	var isRead bool
	return conclude(during(ctx, p, *name != "", func(ctx context.Context, session *rendezvous.Session) error {
		if session.Rank() == 0 && !isRead {
			var err error
			if data, err = readMessage(); err != nil {
				return err
			}
			isRead = true
		}
		all, err := session.Exchange(ctx, *name, data)
		if err == nil {
			err = printJSON(all)
		}
		return err
	}))
}
