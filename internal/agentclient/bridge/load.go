package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/remote"
)

// maxDefinitionBytes bounds the definition of an agent.
const maxDefinitionBytes = 4 << 20

// Definition returns the definition of a target with an agent. Its file name is the name of the target,
// for rmctl describe. The connection must be a Connection or lead to one.
func Definition(ctx context.Context, connection remote.Connection, target string) (*config.Definition, error) {
	return load(ctx, connection, target, "definition")
}

// KnownDefinition is like Definition, but fails if there is no session with the agent.
func KnownDefinition(ctx context.Context, connection remote.Connection, target string) (*config.Definition, error) {
	return load(ctx, connection, target, knownDefinitionVerb)
}

func load(ctx context.Context, connection remote.Connection, target, verb string) (*config.Definition, error) {
	text, err := ask(ctx, connection, maxDefinitionBytes, verb)
	if err != nil {
		return nil, err
	}
	read, err := config.Read(target, text, func(string, string) (string, []byte, error) { return "", nil, os.ErrNotExist })
	if err != nil {
		return nil, fmt.Errorf("the definition of the agent: %w", err)
	}
	return read, nil
}

// ask returns the output of a command for the agent.
func ask(ctx context.Context, connection remote.Connection, most int, words ...string) ([]byte, error) {
	text, failures := &bounded{most: most}, &bounded{most: longestMessage + 1}
	process, err := connection.Start(ctx, remote.Command{Arguments: append([]string{definition.Command}, words...), Stdout: text, Stderr: failures})
	if unstarted, isUnstarted := errors.AsType[*remote.StartError](err); isUnstarted && unstarted.Err != nil {
		err = unstarted.Err // users do not know the command's program
	}
	if err != nil {
		return nil, fmt.Errorf("reaching the agent: %w", err)
	}
	code, err := process.Wait()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reaching the agent: %w", err)
	case code != 0:
		return nil, errors.New(strings.TrimSpace(failures.String()))
	}
	return text.Bytes(), nil
}

// A bounded is a buffer of limited size.
type bounded struct {
	bytes.Buffer
	most int
}

var errTooLong = errors.New("the output of the agent is too long")

// Write implements io.Writer.
func (b *bounded) Write(text []byte) (int, error) {
	if b.Len()+len(text) > b.most {
		return 0, errTooLong
	}
	return b.Buffer.Write(text)
}
