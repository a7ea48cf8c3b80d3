package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/terminal"
)

func TestEachErrorIsAnObject(t *testing.T) {
	first, second := errors.New("no \x1b[2Janswer\ntry again"), errors.New("no job")
	for want, err := range map[string]error{
		"{\"error\":\"no job\",\"exitCode\":4}\n": second,
		"{\"error\":\"no \\u001b[2Janswer\",\"hint\":\"try again\",\"exitCode\":4}\n{\"error\":\"no job\",\"exitCode\":4}\n": errors.Join(first, nil, errors.Join(second)),
		"{\"error\":\"no job and no job\",\"exitCode\":4}\n":                                                                 fmt.Errorf("%w and %w", second, second),
	} {
		var printed bytes.Buffer
		require.NoError(t, terminal.JSONErrors(&printed, err, 4))
		require.Equal(t, want, printed.String())
	}
}
