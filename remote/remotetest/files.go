package remotetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func (s *suite) writeFile(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	require.NoError(t, s.connection.WriteFile(timeLimit(t), path, strings.NewReader(content), mode))
}

func (s *suite) readFile(t *testing.T, path string) string {
	t.Helper()
	file, err := s.connection.Open(timeLimit(t), path)
	require.NoError(t, err)
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return string(content)
}

func testFiles(t *testing.T, s *suite) {
	directory := s.temporaryDirectory(t)
	t.Run("what is written is read", func(t *testing.T) {
		content := strings.Repeat("line\x00\xff\r\n", 50_000)
		s.writeFile(t, directory+"/file", content, 0o640)
		require.Equal(t, content, s.readFile(t, directory+"/file"))
		require.Equal(t, fmt.Sprint(len(content)), strings.TrimSpace(s.shell(t, `wc -c < "$1"`, directory+"/file").stdout))

		info, err := s.connection.Stat(timeLimit(t), directory+"/file")
		require.NoError(t, err)
		require.EqualValues(t, len(content), info.Size())
		require.Equal(t, fs.FileMode(0o640), info.Mode())
		require.Equal(t, "file", info.Name())
		require.False(t, info.ModTime().IsZero())
	})
	t.Run("the mode is exact, for new files and for old ones", func(t *testing.T) {
		for _, mode := range []fs.FileMode{0o600, 0o777, 0o400, 0o755} {
			s.writeFile(t, directory+"/mode", "x", mode)
			info, err := s.connection.Stat(timeLimit(t), directory+"/mode")
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm())
		}
	})
	t.Run("writing again replaces", func(t *testing.T) {
		s.writeFile(t, directory+"/again", "a longer content", 0o600)
		s.writeFile(t, directory+"/again", "short", 0o600)
		require.Equal(t, "short", s.readFile(t, directory+"/again"))
	})
	t.Run("an empty file is a file", func(t *testing.T) {
		s.writeFile(t, directory+"/empty", "", 0o600)
		require.Empty(t, s.readFile(t, directory+"/empty"))
	})
	t.Run("a write that fails leaves what was there and nothing else", func(t *testing.T) {
		place := s.temporaryDirectory(t)
		s.writeFile(t, place+"/kept", "old", 0o600)
		broken := errors.New("broken source")
		content := io.MultiReader(strings.NewReader("new"), failingReader{broken})
		require.ErrorIs(t, s.connection.WriteFile(timeLimit(t), place+"/kept", content, 0o600), broken)

		ctx, cancel := context.WithCancel(t.Context())
		content = io.MultiReader(strings.NewReader("new"), readerFunc(func([]byte) (int, error) { cancel(); return 1, nil }))
		require.ErrorIs(t, s.connection.WriteFile(ctx, place+"/kept", content, 0o600), context.Canceled)

		require.Equal(t, "old", s.readFile(t, place+"/kept"))
		require.Equal(t, "kept\n", s.shell(t, `ls -A "$1"`, place).stdout)
	})
	t.Run("readers see the old file or the new one", func(t *testing.T) { testAtomicWrite(t, s, directory) })
	t.Run("files can be sought in", func(t *testing.T) {
		s.writeFile(t, directory+"/seek", "0123456789", 0o600)
		file, err := s.connection.Open(timeLimit(t), directory+"/seek")
		require.NoError(t, err)
		position, err := file.Seek(-3, io.SeekEnd)
		require.NoError(t, err)
		require.EqualValues(t, 7, position)
		content, err := io.ReadAll(file)
		require.NoError(t, err)
		require.Equal(t, "789", string(content))
		info, err := file.Stat()
		require.NoError(t, err)
		require.EqualValues(t, 10, info.Size())
		require.NoError(t, file.Close())
	})
	t.Run("an open file shows what is appended", func(t *testing.T) {
		s.writeFile(t, directory+"/growing", "one", 0o600)
		file, err := s.connection.Open(timeLimit(t), directory+"/growing")
		require.NoError(t, err)
		_, err = io.ReadAll(file)
		require.NoError(t, err)
		require.Zero(t, s.shell(t, `printf two >> "$1"`, directory+"/growing").code)
		rest, err := io.ReadAll(file)
		require.NoError(t, err)
		require.Equal(t, "two", string(rest))
		require.NoError(t, file.Close())
	})
	t.Run("names are not interpreted", func(t *testing.T) {
		for _, name := range []string{"a b", "it's", "\"", "$HOME", "*", "-rf", "new\nline", "back\\slash", "ÿ", "~", ".rmctl", strings.Repeat("n", 255)} {
			s.writeFile(t, directory+"/"+name, name, 0o600)
			require.Equal(t, name, s.readFile(t, directory+"/"+name))
			require.Equal(t, name, s.shell(t, `cat -- "$1"`, directory+"/"+name).stdout)
			require.NoError(t, s.connection.Remove(timeLimit(t), directory+"/"+name))
		}
	})
	t.Run("relative paths are below Home", func(t *testing.T) {
		expected, err := s.connection.Stat(timeLimit(t), s.connection.Info().Home)
		require.NoError(t, err)
		actual, err := s.connection.Stat(timeLimit(t), ".")
		require.NoError(t, err)
		require.True(t, actual.IsDir())
		require.Equal(t, expected.ModTime(), actual.ModTime())
	})
	t.Run("directories are made with those above", func(t *testing.T) {
		deep := directory + "/one/two/three"
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), deep, 0o700))
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), deep, 0o700))
		info, err := s.connection.Stat(timeLimit(t), deep)
		require.NoError(t, err)
		require.True(t, info.IsDir())
		require.Error(t, s.connection.Remove(timeLimit(t), directory+"/one"), "removed a directory that is not empty")
		require.NoError(t, s.connection.Remove(timeLimit(t), deep))
	})
	t.Run("a directory in the place of a file is not replaced", func(t *testing.T) {
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), directory+"/taken", 0o700))
		require.Error(t, s.connection.WriteFile(timeLimit(t), directory+"/taken", strings.NewReader("x"), 0o600))
		require.Error(t, s.connection.MkdirAll(timeLimit(t), directory+"/file/below", 0o700))
	})
	t.Run("what is absent is told by the error", func(t *testing.T) {
		absent := directory + "/absent"
		_, err := s.connection.Stat(timeLimit(t), absent)
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = s.connection.Open(timeLimit(t), absent)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, s.connection.Remove(timeLimit(t), absent), fs.ErrNotExist)
		err = s.connection.WriteFile(timeLimit(t), absent+"/file", strings.NewReader("x"), 0o600)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("a named pipe does not block", func(t *testing.T) {
		require.Zero(t, s.shell(t, `mkfifo "$1"`, directory+"/pipe").code)
		file, err := s.connection.Open(timeLimit(t), directory+"/pipe")
		if err == nil {
			require.NoError(t, file.Close())
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(buffer []byte) (int, error) { return f(buffer) }

func testAtomicWrite(t *testing.T, s *suite, directory string) {
	const size, rounds = 200_000, 10
	path := directory + "/atomic"
	contents := []string{strings.Repeat("a", size), strings.Repeat("b", size)}
	s.writeFile(t, path, contents[0], 0o600)

	ctx := timeLimit(t)
	var written error
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		defer close(stop)
		for round := range rounds {
			written = s.connection.WriteFile(ctx, path, strings.NewReader(contents[round%2]), 0o600)
			if written != nil {
				return
			}
		}
	})
	for reading := true; reading; {
		require.Contains(t, contents, s.readFile(t, path))
		select {
		case <-stop:
			reading = false
		default:
		}
	}
	group.Wait()
	require.NoError(t, written)
}
