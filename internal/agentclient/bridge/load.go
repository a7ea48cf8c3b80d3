package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/remote"
)

// maxDefinitionBytes bounds the definition of an agent.
const maxDefinitionBytes = 4 << 20

// Definition returns the definition of a target that has an agent. The connection is one of
// this package, or leads to one.
func Definition(ctx context.Context, connection remote.Connection) (*config.Definition, error) {
	text, failures := &bounded{most: maxDefinitionBytes}, &bounded{most: longestMessage}
	process, err := connection.Start(ctx, remote.Command{Arguments: []string{definition.Command, "definition"}, Stdout: text, Stderr: failures})
	if err != nil {
		return nil, fmt.Errorf("reaching the agent: %w", err)
	}
	code, err := process.Wait()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reaching the agent: %w", err)
	case code != 0:
		return nil, fmt.Errorf("the agent has no definition: %s", failures.String())
	}
	read, err := config.Read("agent.xml", text.Bytes(), func(string, string) (string, []byte, error) { return "", nil, os.ErrNotExist })
	if err != nil {
		return nil, fmt.Errorf("the definition of the agent: %w", err)
	}
	return read, nil
}

// A bounded keeps so many bytes at most.
type bounded struct {
	bytes.Buffer
	most int
}

var errTooLong = errors.New("the agent prints too much")

// Write implements io.Writer.
func (b *bounded) Write(text []byte) (int, error) {
	if b.Len()+len(text) > b.most {
		return 0, errTooLong
	}
	return b.Buffer.Write(text)
}
