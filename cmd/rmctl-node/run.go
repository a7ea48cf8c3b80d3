package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/track"
)

// runPart waits for the release of an ensemble, and then becomes the program in the pass, whatever the words
// after "--" are.
func runPart(ctx context.Context, arguments []string) int {
	// Permissions of debuggers stay with the first thread, so that one becomes the program.
	runtime.LockOSThread()
	flags := newFlags("run")
	file := flags.String("pass", "", "file with the program and the secret of the part")
	from := flags.String("rank-from", "", "environment variable with the rank")
	if err := flags.Parse(arguments); err != nil || *file == "" {
		return wrongUsage("run", "--pass FILE [--rank-from NAME] -- EXE ARG...")
	}
	p, err := newProcess(*file)
	if err != nil {
		return fail(err)
	}
	p.identity.Instance = rendezvous.NewInstance()
	if *from != "" {
		p.pass.RankFrom = *from
	}
	path, environment, err := p.prepare()
	vote := rendezvous.Vote{No: err != nil}
	if err != nil {
		vote.Reason = err.Error()
		fmt.Fprintln(os.Stderr, "rmctl-node:", err)
	}
	if p.pass.Gate == rendezvous.GateProgram && !vote.No {
		return become(path, p.pass.Arguments, setVariables(environment, p.variables()))
	}
	limited, cancel := context.WithTimeout(ctx, p.pass.Wait)
	defer cancel()
	session, err := rendezvous.CheckIn(limited, p.dial, p.pass, p.identity, vote)
	if err != nil {
		code := failRequest(err)
		if code == exitTimeout {
			code = exitAborted // the co-allocator no longer counts on this process
		}
		return code
	}
	p.identity.Rank = session.Rank()
	variables := p.variables()
	if p.pass.Exchange {
		variables = append(variables, p.introduce(ctx, session, environment)...)
	}
	_ = session.Close() // the program opens its own
	return become(path, p.pass.Arguments, setVariables(environment, variables))
}

// prepare finds the rank, directory, environment and path of the program before it checks in.
func (p *process) prepare() (path string, environment []string, err error) {
	found, hasRank, err := rank.Of(os.Getenv, p.pass.RankFrom)
	if err != nil {
		return "", nil, err
	}
	if hasRank {
		p.identity.Rank = found.Rank
		p.identity.Size = rank.SizeOf(os.Getenv, found)
	}
	environment = setVariables(withoutOurs(os.Environ()), p.pass.Environment)
	if err := checkAddress(valueOf(environment, addressVariable)); err != nil {
		return "", nil, err
	}
	if p.pass.Directory != "" {
		if err := os.Chdir(p.pass.Directory); err != nil {
			return "", nil, fmt.Errorf("entering the working directory: %w", err)
		}
	}
	if err := os.Setenv("PATH", valueOf(environment, "PATH")); err != nil {
		return "", nil, err
	}
	path, err = track.Find(p.pass.Arguments[0], found)
	return path, environment, err
}

// become replaces this process by a program. It returns the exit code of shells if that fails.
func become(path string, arguments, environment []string) int {
	err := syscall.Exec(path, arguments, environment)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that names its shell
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, arguments[1:]...), environment)
	}
	fmt.Fprintf(os.Stderr, "rmctl-node: starting %q: %v\n", path, err)
	return track.ExitCodeOf(err)
}
