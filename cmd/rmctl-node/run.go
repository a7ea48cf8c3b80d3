package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/track"
	"github.com/rmctl/rmctl/internal/tree"
)

// Exit codes of commands that wait for other parts of an ensemble.
const (
	exitAborted = 10
	exitRefused = 12
	exitLost    = 13
)

// runPart waits for the release of an ensemble, and then becomes the program of its part.
func runPart(ctx context.Context, arguments []string) int {
	flags := newFlags("run")
	file := flags.String("pass", "", "file with what the process needs to check in")
	if err := flags.Parse(arguments); err != nil || *file == "" {
		return wrongUsage("run", "--pass FILE -- EXE ARG...")
	}
	pass, err := rendezvous.ReadPass(*file)
	if err != nil {
		return fail(err)
	}
	identity := rendezvous.Identity{Instance: rendezvous.NewInstance(), Host: track.NodeName(), Rank: -1}
	found, hasRank, err := rank.Of(os.Getenv, pass.RankFrom)
	if err != nil {
		return fail(err)
	}
	if hasRank {
		identity.Rank = found.Rank
	}
	program, err := exec.LookPath(pass.Arguments[0])
	vote := rendezvous.Vote{No: err != nil}
	if err != nil {
		vote.Reason = err.Error()
	}
	if pass.Gate == rendezvous.GateProgram && !vote.No {
		return become(program, pass, *file, identity)
	}
	ctx, cancel := context.WithTimeout(ctx, pass.Wait)
	defer cancel()
	dial := func(ctx context.Context) (net.Conn, error) { return tree.DialStream(ctx, filepath.Dir(*file)) }
	session, err := rendezvous.CheckIn(ctx, dial, pass, identity, vote)
	if err != nil {
		return failWaiting(err)
	}
	identity.Rank = session.Rank()
	_ = session.Close() // the program opens its own
	return become(program, pass, *file, identity)
}

// failWaiting prints why a process must not run, and returns the exit code for it.
func failWaiting(err error) int {
	fmt.Fprintln(os.Stderr, "rmctl-node:", err)
	var refused *rendezvous.RefusedError
	switch {
	case errors.As(err, &refused), errors.Is(err, rendezvous.ErrDenied), errors.Is(err, rendezvous.ErrNotJoined), errors.Is(err, rendezvous.ErrFull):
		return exitRefused
	case errors.Is(err, rendezvous.ErrLost), errors.Is(err, rendezvous.ErrEnded):
		return exitLost
	}
	return exitAborted
}

// become replaces this process by the program of the part.
func become(program string, pass *rendezvous.Pass, file string, identity rendezvous.Identity) int {
	if pass.Directory != "" {
		if err := os.Chdir(pass.Directory); err != nil {
			return fail(err)
		}
	}
	environment := append(os.Environ(), pass.Environment...)
	for _, variable := range []struct {
		name  string
		value any
	}{
		{"PASS", file}, {"TOKEN_FILE", file}, {"INSTANCE", identity.Instance}, {"RANK", identity.Rank}, {"JOB", pass.Ensemble},
		{"SUBJOB", pass.Serial}, {"LABEL", pass.Label}, {"INDEX", pass.Index}, {"NSUBJOBS_HINT", pass.Parts}, {"COUNT", pass.Count},
	} {
		environment = append(environment, fmt.Sprintf("COALLOC_%s=%v", variable.name, variable.value))
	}
	environment = append(environment, fmt.Sprintf("GLOBUS_DUROC_SUBJOB_INDEX=%d", pass.Index))
	return fail(syscall.Exec(program, pass.Arguments, environment))
}

// printRank prints the rank of the process in its part.
func printRank(ctx context.Context, arguments []string) int {
	file := os.Getenv("COALLOC_PASS")
	if len(arguments) > 0 || file == "" {
		return wrongUsage("rank", "(in a program of an ensemble)")
	}
	pass, err := rendezvous.ReadPass(file)
	if err != nil {
		return fail(err)
	}
	dial := func(ctx context.Context) (net.Conn, error) { return tree.DialStream(ctx, filepath.Dir(file)) }
	session, err := rendezvous.OpenSession(ctx, dial, pass, rendezvous.Identity{Instance: os.Getenv("COALLOC_INSTANCE"), Rank: -1})
	if err != nil {
		return failWaiting(err)
	}
	fmt.Println(session.Rank())
	_ = session.Close() // nothing more is to come
	return 0
}
