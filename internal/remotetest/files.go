package remotetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/files"
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
	t.Run("permissions are changed exactly", func(t *testing.T) {
		s.writeFile(t, directory+"/changed", "x", 0o600)
		for _, mode := range []fs.FileMode{0o777, 0o640, 0o000, 0o755} {
			require.NoError(t, s.connection.Chmod(timeLimit(t), directory+"/changed", mode))
			info, err := s.connection.Stat(timeLimit(t), directory+"/changed")
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm())
		}
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), directory+"/private", 0o755))
		require.NoError(t, s.connection.Chmod(timeLimit(t), directory+"/private", 0o700))
		info, err := s.connection.Stat(timeLimit(t), directory+"/private")
		require.NoError(t, err)
		require.Equal(t, fs.ModeDir|0o700, info.Mode())
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
	t.Run("an incomplete file has the name of its file in its own", func(t *testing.T) {
		place := s.temporaryDirectory(t)
		content, begin := io.Pipe()
		written := make(chan error, 1)
		ctx := timeLimit(t)
		go func() { written <- s.connection.WriteFile(ctx, place+"/file", content, 0o600) }()
		_, err := io.WriteString(begin, "begin")
		require.NoError(t, err)
		seen := s.shell(t, `until ls -A "$1" | grep .; do :; done`, place).stdout
		require.NoError(t, begin.Close())
		require.NoError(t, <-written)
		require.True(t, files.IsPartialOf(strings.TrimSpace(seen), place+"/file"), "%q", seen)
		require.False(t, files.IsPartialOf(strings.TrimSpace(seen), place+"/other"), "%q", seen)
		require.Equal(t, "file\n", s.shell(t, `ls -A "$1"`, place).stdout)
	})
	t.Run("who has the old file open reads it on", func(t *testing.T) {
		s.writeFile(t, directory+"/held", "old", 0o600)
		file, err := s.connection.Open(timeLimit(t), directory+"/held")
		require.NoError(t, err)
		s.writeFile(t, directory+"/held", "new and longer", 0o600)
		content, err := io.ReadAll(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Equal(t, "old", string(content))
	})
	t.Run("a symbolic link is read through, and replaced by writing", func(t *testing.T) {
		s.writeFile(t, directory+"/aim", "aim", 0o600)
		require.Zero(t, s.shell(t, `ln -s aim "$1"`, directory+"/link").code)
		require.Equal(t, "aim", s.readFile(t, directory+"/link"))
		info, err := s.connection.Stat(timeLimit(t), directory+"/link")
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular())
		require.EqualValues(t, len("aim"), info.Size())

		s.writeFile(t, directory+"/link", "own", 0o600)
		require.Equal(t, "own", s.readFile(t, directory+"/link"))
		require.Equal(t, "aim", s.readFile(t, directory+"/aim"))
	})
	t.Run("several writers leave one of their files whole", func(t *testing.T) { testWriters(t, s) })
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
	t.Run("a directory at the path of a file is not replaced", func(t *testing.T) {
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), directory+"/taken", 0o700))
		require.Error(t, s.connection.WriteFile(timeLimit(t), directory+"/taken", strings.NewReader("x"), 0o600))
		require.Error(t, s.connection.MkdirAll(timeLimit(t), directory+"/file/below", 0o700))
	})
	t.Run("the error says that a file is missing", func(t *testing.T) {
		absent := directory + "/absent"
		_, err := s.connection.Stat(timeLimit(t), absent)
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = s.connection.Open(timeLimit(t), absent)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, s.connection.Remove(timeLimit(t), absent), fs.ErrNotExist)
		require.ErrorIs(t, s.connection.Chmod(timeLimit(t), absent, 0o600), fs.ErrNotExist)
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

func testFileNames(t *testing.T, s *suite) {
	names := []string{
		"a b", "it's", "\"", "$HOME", "$(id)", "`id`", "*", "?", "[a]", "{a,b}", "-rf", "--", "-", "!", "!!", "#", "%s", "a;b", "a&b",
		"new\nline", "\n", "trailing\n", "carriage\rreturn", "tab\t", "back\\slash", "\\", "ÿ", "日本", "\xff\xfe", "caf\xe9",
		"\x01\x1b[31m\x7f", "~", "~root", ".rmctl", "...", " ", " edges ", strings.Repeat("n", 255), strings.Repeat("é", 127),
	}
	t.Run("they are not interpreted", func(t *testing.T) {
		directory := s.temporaryDirectory(t)
		t.Run("by who makes, reads and removes them", func(t *testing.T) {
			for some := range slices.Chunk(names, namesAtOnce) {
				t.Run("", func(t *testing.T) {
					t.Parallel()
					testNames(t, s, directory, some)
				})
			}
		})
		require.Empty(t, s.shell(t, `ls -A "$1"`, directory).stdout)
	})
	t.Run("nor are those below Home", func(t *testing.T) {
		for _, name := range []string{"-rmctl test ", "~rmctl test ", "$rmctl\ntest "} {
			name += rand.Text()
			s.removeAfterwards(t, name)
			s.writeFile(t, name, name, 0o600)
			require.Equal(t, name, s.readFile(t, name))
			require.NoError(t, s.connection.Chmod(timeLimit(t), name, 0o640))
			info, err := s.connection.Stat(timeLimit(t), name)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o640), info.Mode())
			require.NoError(t, s.connection.Remove(timeLimit(t), name))
			require.NoError(t, s.connection.MkdirAll(timeLimit(t), name, 0o700))
			require.NoError(t, s.connection.Remove(timeLimit(t), name))
		}
	})
}

// namesAtOnce is how many names of files one of several tests at once tries.
const namesAtOnce = 8

func testNames(t *testing.T, s *suite, directory string, names []string) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = directory + "/" + name
		s.writeFile(t, paths[i], name, 0o600)
		require.Equal(t, name, s.readFile(t, paths[i]))
		info, err := s.connection.Stat(timeLimit(t), paths[i])
		require.NoError(t, err)
		require.Equal(t, name, info.Name())
		require.NoError(t, s.connection.Chmod(timeLimit(t), paths[i], 0o640))
	}
	require.Equal(t, strings.Join(names, ""), s.shell(t, `cat -- "$@"`, paths...).stdout)
	for _, path := range paths {
		require.NoError(t, s.connection.Remove(timeLimit(t), path))
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), path, 0o700))
		require.NoError(t, s.connection.Remove(timeLimit(t), path))
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(buffer []byte) (int, error) { return f(buffer) }

func testWriters(t *testing.T, s *suite) {
	const size, writers = 50_000, 8
	place := s.temporaryDirectory(t)
	ctx := timeLimit(t)
	contents := make([]string, writers)
	failures := make([]error, writers)
	var group sync.WaitGroup
	for i := range writers {
		contents[i] = strings.Repeat(fmt.Sprint(i), size)
		group.Go(func() {
			failures[i] = s.connection.WriteFile(ctx, place+"/file", strings.NewReader(contents[i]), 0o600)
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Contains(t, contents, s.readFile(t, place+"/file"))
	require.Equal(t, "file\n", s.shell(t, `ls -A "$1"`, place).stdout)
}

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
