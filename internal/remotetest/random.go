package remotetest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// valuesPerCommand bounds what one command gets, since systems bound it.
const valuesPerCommand = 250

func testRandomValues(t *testing.T, s *suite) {
	seed := s.options.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("Options.Seed = %d repeats these values", seed)
	isLong := func(text string) bool { return len(text) > 100 }
	random := &randomTexts{rand.New(rand.NewPCG(seed, 0)), slices.DeleteFunc(hostileTexts(), isLong)}

	t.Run("arguments and input pass unchanged", func(t *testing.T) {
		for left := s.options.Values; left > 0; left -= valuesPerCommand {
			arguments := random.list(min(left, valuesPerCommand))
			stdin := random.binary()
			command := shellCommand(`printf '%s\000' "$@"; cat`, arguments...)
			command.Stdin = bytes.NewReader(stdin)
			ran := s.run(t, command)
			require.Zero(t, ran.code, ran.stderr)
			echoed, same := strings.CutSuffix(ran.stdout, string(stdin))
			require.True(t, same, "the input is another one")
			requireSameTexts(t, arguments, splitTexts(echoed))
		}
	})
	t.Run("so do variables with any name", func(t *testing.T) {
		for left := s.options.Values; left > 0; left -= valuesPerCommand {
			variables := map[string]string{"PATH": "/usr/bin:/bin", "a.b": "dot", "BASH_FUNC_rmctl%%": "() { :;}; echo wrong", "every": everyByte()}
			for range min(left, valuesPerCommand) {
				variables[random.name()] = random.text()
			}
			var expected []string
			for name, value := range variables {
				expected = append(expected, name+"="+value)
			}
			command := remote.Command{Arguments: []string{"env", "-0"}, Environment: variables, ReplaceEnvironment: true}
			ran := s.run(t, command)
			require.Zero(t, ran.code, ran.stderr)
			printed := splitTexts(ran.stdout)
			slices.Sort(expected)
			slices.Sort(printed)
			requireSameTexts(t, expected, printed)
		}
	})
	t.Run("so do names of directories and files", func(t *testing.T) {
		place := s.temporaryDirectory(t)
		for range min(s.options.Values/20, 20) {
			directory, file := place+"/"+random.fileName(), random.fileName()
			require.NoError(t, s.connection.MkdirAll(timeLimit(t), directory, 0o700), "%q", directory)
			s.writeFile(t, directory+"/"+file, file, 0o600)
			require.Equal(t, file, s.readFile(t, directory+"/"+file))
			info, err := s.connection.Stat(timeLimit(t), directory+"/"+file)
			require.NoError(t, err)
			require.Equal(t, file, info.Name())

			command := remote.Command{Arguments: []string{"cat", "./" + file}, Directory: directory}
			require.Equal(t, file, s.run(t, command).stdout)
			require.NoError(t, s.connection.Remove(timeLimit(t), directory+"/"+file))
			require.NoError(t, s.connection.Remove(timeLimit(t), directory))
		}
	})
}

// requireSameTexts compares one by one, so that a failure shows the one that
// differs.
func requireSameTexts(t *testing.T, expected, actual []string) {
	t.Helper()
	require.Len(t, actual, len(expected))
	for i := range expected {
		require.Equal(t, expected[i], actual[i], "value %d", i)
	}
}

// splitTexts splits where each text ends with a zero byte.
func splitTexts(printed string) []string {
	if printed == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(printed, "\x00"), "\x00")
}

// everyByte is a value with all that a value can hold.
func everyByte() string {
	var text strings.Builder
	for char := 1; char < 256; char++ {
		text.WriteByte(byte(char))
	}
	return text.String()
}

// randomTexts makes values that mean something to many programs on their way.
type randomTexts struct {
	source  *rand.Rand
	hostile []string // some that are known to be; none is long
}

func (r *randomTexts) text() string {
	length := r.source.IntN(24)
	if r.source.IntN(50) == 0 {
		length = r.source.IntN(3000)
	}
	var text strings.Builder
	for text.Len() < length {
		switch r.source.IntN(4) {
		case 0:
			text.WriteByte(byte(1 + r.source.IntN(255)))
		case 1:
			text.WriteByte("'\"\\$`!*?[]{}()<>|&;#~^= \t\n\r%-,:@\x1b"[r.source.IntN(33)])
		case 2:
			text.WriteString(r.hostile[r.source.IntN(len(r.hostile))])
		default:
			text.WriteByte("abcEFnrtux019"[r.source.IntN(13)])
		}
	}
	return text.String()
}

func (r *randomTexts) list(count int) []string {
	texts := make([]string, count)
	for i := range texts {
		texts[i] = r.text()
	}
	return texts
}

// name is that of a variable, which a shell need not be able to name. It is not
// the one that shells set themselves.
func (r *randomTexts) name() string {
	for {
		name := strings.ReplaceAll(r.text(), "=", "")
		if name != "" && name != "_" && name != "PATH" {
			return name
		}
	}
}

func (r *randomTexts) fileName() string {
	for {
		name := strings.ReplaceAll(r.text(), "/", "")
		name = name[:min(len(name), 200)]
		if name != "" && name != "." && name != ".." {
			return name
		}
	}
}

func (r *randomTexts) binary() []byte {
	data := make([]byte, r.source.IntN(10_000))
	for i := range data {
		data[i] = byte(r.source.Uint32())
	}
	return data
}
