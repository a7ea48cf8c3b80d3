package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/track"
	"github.com/rmctl/rmctl/internal/tree"
)

// Exit codes of the commands of processes in an ensemble.
const (
	exitAborted = 10
	exitTimeout = 11
	exitRefused = 12
	exitLost    = 13
)

// Variables of the programs of an ensemble.
const (
	passVariable     = "COALLOC_PASS"
	instanceVariable = "COALLOC_INSTANCE"
	rankVariable     = "COALLOC_RANK"
	addressVariable  = "COALLOC_ADDRESS" // set by users
	ourPrefix        = "COALLOC_"
	indexVariable    = "GLOBUS_DUROC_SUBJOB_INDEX"
)

// reachTime bounds how long a command tries to reach the co-allocator.
const reachTime = time.Minute

// A process is a process of a part.
type process struct {
	file     string
	pass     *rendezvous.Pass
	identity rendezvous.Identity
}

// newProcess reads the pass of a process. It has neither an instance nor a rank yet.
func newProcess(file string) (*process, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	pass, err := rendezvous.ReadPass(file)
	if err != nil {
		return nil, err
	}
	return &process{file: file, pass: pass, identity: rendezvous.Identity{Host: track.NodeName(), Rank: -1}}, nil
}

// currentProcess returns the process that called this program.
func currentProcess() (*process, error) {
	file, instance := os.Getenv(passVariable), os.Getenv(instanceVariable)
	if file == "" || instance == "" {
		return nil, fmt.Errorf("%s and %s are not set: this process is not part of an ensemble", passVariable, instanceVariable)
	}
	p, err := newProcess(file)
	if err != nil {
		return nil, err
	}
	p.identity.Instance = instance
	if p.pass.Gate == rendezvous.GateProgram {
		return p, p.identifyInProgram()
	}
	if number, err := strconv.Atoi(os.Getenv(rankVariable)); err == nil {
		p.identity.Rank = number
	}
	return p, nil
}

// identifyInProgram sets the rank by the launcher that started this process. A program may start
// many processes, each with the environment of the first, so the rank is a part of the instance.
func (p *process) identifyInProgram() error {
	found, hasRank, err := rank.Of(os.Getenv, p.pass.RankFrom)
	if err != nil || !hasRank {
		return err
	}
	p.identity.Rank, p.identity.Size = found.Rank, rank.SizeOf(os.Getenv, found)
	sum := sha256.Sum256([]byte(p.identity.Instance + " " + strconv.Itoa(found.Rank)))
	p.identity.Instance = hex.EncodeToString(sum[:16])
	return nil
}

// dial connects to the co-allocator, once.
func (p *process) dial(ctx context.Context) (net.Conn, error) {
	return tree.DialStream(ctx, filepath.Dir(p.file))
}

// open opens a session. If the co-allocator cannot be reached, the error is rendezvous.ErrLost.
func (p *process) open(ctx context.Context) (*rendezvous.Session, error) {
	limited, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	session, err := rendezvous.OpenSession(limited, p.dial, p.pass, p.identity)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", rendezvous.ErrLost, err)
	}
	return session, err
}

// variables are the variables of the program of a process.
func (p *process) variables() []string {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	variables := []string{
		passVariable + "=" + p.file, "COALLOC_TOKEN_FILE=" + p.file, instanceVariable + "=" + p.identity.Instance,
		"COALLOC_RMCTL_NODE=" + program, "COALLOC_JOB=" + p.pass.Ensemble, "COALLOC_LABEL=" + p.pass.Label,
	}
	for _, number := range []struct {
		name  string
		value int
	}{
		{"COALLOC_SUBJOB", p.pass.Serial}, {"COALLOC_INDEX", p.pass.Index}, {"COALLOC_NSUBJOBS_HINT", p.pass.Parts},
		{"COALLOC_COUNT", p.pass.Count}, {indexVariable, p.pass.Index}, {rankVariable, p.identity.Rank},
	} {
		if number.value >= 0 { // the rank may be unknown
			variables = append(variables, number.name+"="+strconv.Itoa(number.value))
		}
	}
	return variables
}

// withoutOurs returns an environment without the variables of an ensemble around this one.
func withoutOurs(environment []string) []string {
	var others []string
	for _, each := range environment {
		name, _, _ := strings.Cut(each, "=")
		if name == addressVariable || !strings.HasPrefix(name, ourPrefix) && name != indexVariable {
			others = append(others, each)
		}
	}
	return others
}

// setVariables returns an environment with variables added or replaced.
func setVariables(environment, variables []string) []string {
	set := map[string]string{}
	for _, each := range variables {
		name, value, _ := strings.Cut(each, "=")
		set[name] = value
	}
	var result []string
	for _, each := range environment {
		name, _, _ := strings.Cut(each, "=")
		if _, isSet := set[name]; !isSet {
			result = append(result, each)
		}
	}
	for _, each := range variables {
		name, _, _ := strings.Cut(each, "=")
		if value, isLeft := set[name]; isLeft {
			result = append(result, name+"="+value)
			delete(set, name)
		}
	}
	return result
}

// valueOf returns the value of a variable in an environment, or "".
func valueOf(environment []string, name string) string {
	for _, each := range environment {
		if value, isFound := strings.CutPrefix(each, name+"="); isFound {
			return value
		}
	}
	return ""
}

// codeOf returns the exit code of a command that failed.
func codeOf(err error) int {
	var (
		abort   *rendezvous.AbortError
		refused *rendezvous.RefusedError
		request *rendezvous.RequestError
	)
	switch {
	case errors.As(err, &abort):
		return exitAborted
	case errors.Is(err, rendezvous.ErrLost), errors.Is(err, rendezvous.ErrEnded):
		return exitLost
	case errors.As(err, &refused), errors.As(err, &request), errors.Is(err, rendezvous.ErrDenied), errors.Is(err, rendezvous.ErrNotJoined), errors.Is(err, rendezvous.ErrFull):
		return exitRefused
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	return 1
}

// failRequest reports why a command failed. The text is of other processes.
func failRequest(err error) int {
	fmt.Fprintln(os.Stderr, "rmctl-node:", tree.OneLine(err.Error()))
	return codeOf(err)
}
