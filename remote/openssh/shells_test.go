package openssh_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
)

// pieces that some shell interprets.
var pieces = []string{
	" ", "\t", "\n", "\r", "'", `"`, "`", "$", "$(", ")", "${", "}", "!", "!!", "*", "?", "[", "]", "~", "#", ";", "&", "|", "<", ">", "^", "%", "%s",
	`\`, `\n`, "{", ",", "=", "-", "--", "(", "a", "HOME", "é", "日", "\xff", "\x01", "\x1b[31m", "\x7f", "\u2028",
}

func randomValue(random *rand.Rand) string {
	var value strings.Builder
	for range random.IntN(12) {
		value.WriteString(pieces[random.IntN(len(pieces))])
	}
	return value.String()
}

// Values come through as arguments and as a variable, whatever the login shell.
func TestRandomValuesReachPrograms(t *testing.T) {
	server := startSSHD(t, "28256")
	const rounds, valuesOfARound = 20, 50
	for _, shell := range []string{"sh", "bash", "zsh", "csh", "tcsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			random := rand.New(rand.NewPCG(seed, 0))
			connection := connect(t, server.options(t, "rmtest-"+shell))
			for range rounds {
				arguments := []string{"sh", "-c", `printf '%s\0' "$@" "$RMCTL_VALUE"`, "sh"}
				var expected strings.Builder
				for range valuesOfARound {
					value := randomValue(random)
					arguments = append(arguments, value)
					expected.WriteString(value + "\x00")
				}
				variable := randomValue(random)
				expected.WriteString(variable + "\x00")
				var output bytes.Buffer
				process, err := connection.Start(timeLimit(t), remote.Command{Arguments: arguments, Environment: map[string]string{"RMCTL_VALUE": variable}, Stdout: &output})
				require.NoError(t, err)
				code, err := process.Wait()
				require.NoError(t, err)
				require.Zero(t, code)
				require.Equal(t, expected.String(), output.String(), "the random values of seed %d", seed)
			}
			require.NoError(t, connection.Close())
		})
	}
}

// The figures of docs/operate/performance.md need a real sshd: RMCTL_CLUSTERS=1.
func BenchmarkCommands(b *testing.B) {
	server := startSSHD(b, "28258")
	connection := connect(b, server.options(b, "rmtest-target"))
	remotetest.Figures(b, connection)
	require.NoError(b, connection.Close())
}

func BenchmarkNewChannel(b *testing.B) {
	server := startSSHD(b, "28258")
	dialer := dial(b, server.options(b, "rmtest-target"))
	for b.Loop() {
		require.NoError(b, run(b, dialer, "true", "").err)
	}
}

func BenchmarkConnect(b *testing.B) {
	server := startSSHD(b, "28258")
	options := server.options(b, "rmtest-target")
	for b.Loop() {
		dialer, err := openssh.Dial(b.Context(), options)
		require.NoError(b, err)
		require.NoError(b, dialer.Close())
	}
}
