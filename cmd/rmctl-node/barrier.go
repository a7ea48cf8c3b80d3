package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// parentInterval is how often a command that waits looks whether its program still runs.
const parentInterval = 500 * time.Millisecond

var errTooLate = &rendezvous.RequestError{Reason: "the ensemble was released before this vote"}

var errNoDuration = errors.New("enter a time above 0, such as 90s")

// waitAtBarrier waits until the co-allocator releases the program that called it; with --fail it votes no.
func waitAtBarrier(ctx context.Context, arguments []string) int {
	flags := newFlags("barrier")
	var vote rendezvous.Vote
	flags.Func("fail", "vote no, with the reason", func(reason string) error {
		vote = rendezvous.Vote{No: true, Reason: reason}
		return nil
	})
	timeout := timeoutFlag(flags)
	isPrinting := flags.Bool("env", false, "print the addresses of parts as shell variables")
	if err := flags.Parse(arguments); err != nil || flags.NArg() > 0 {
		return wrongUsage("barrier", "[--fail REASON] [--timeout DURATION] [--env]")
	}
	p, err := currentProcess()
	if err == nil {
		err = checkAddress(os.Getenv(addressVariable))
	}
	if err != nil {
		return fail(err)
	}
	limit, code := p.pass.Wait, exitAborted
	if *timeout > 0 && *timeout < limit {
		limit, code = *timeout, exitTimeout
	}
	ctx, stop := whileParentRuns(ctx)
	defer stop()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	session, err := rendezvous.CheckIn(limited, p.dial, p.pass, p.identity, vote)
	if err != nil {
		if failed := failRequest(err); failed != exitTimeout {
			code = failed
		}
		return code
	}
	defer session.Close() // each command opens its own
	if vote.No {
		return failRequest(errTooLate)
	}
	if p.pass.Exchange { // parts that wait in rmctl-node count on it
		for _, variable := range p.introduce(ctx, session, os.Environ()) {
			if name, value, _ := strings.Cut(variable, "="); *isPrinting {
				fmt.Printf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
			}
		}
	}
	return 0
}

// timeoutFlag adds the flag for the time that a command may take; 0 for no limit.
func timeoutFlag(flags *flag.FlagSet) *time.Duration {
	timeout := new(time.Duration)
	flags.Func("timeout", "longest time to wait", func(text string) error {
		duration, err := time.ParseDuration(text)
		if err != nil || duration <= 0 {
			return errNoDuration
		}
		*timeout = duration
		return nil
	})
	return timeout
}

// whileParentRuns returns a context that is canceled when the calling program has ended. The caller calls stop.
func whileParentRuns(ctx context.Context) (running context.Context, stop func()) {
	running, cancel := context.WithCancel(ctx)
	ended, parent := make(chan struct{}), os.Getppid()
	go func() {
		defer close(ended)
		ticker := time.NewTicker(parentInterval)
		defer ticker.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-ticker.C:
				if os.Getppid() != parent {
					cancel()
				}
			}
		}
	}()
	return running, func() {
		cancel()
		<-ended
	}
}
