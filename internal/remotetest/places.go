package remotetest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func testEnvironment(t *testing.T, s *suite) {
	t.Run("variables are added to the place's own", func(t *testing.T) {
		command := shellCommand(`echo "$RMCTL_ONE-$RMCTL_TWO-${PATH:+path}"`)
		command.Environment = map[string]string{"RMCTL_ONE": "1", "RMCTL_TWO": "2"}
		require.Equal(t, "1-2-path\n", s.run(t, command).stdout)
	})
	t.Run("variables are replaced one by one", func(t *testing.T) {
		command := shellCommand(`echo "$HOME"`)
		command.Environment = map[string]string{"HOME": "/elsewhere"}
		require.Equal(t, "/elsewhere\n", s.run(t, command).stdout)
	})
	t.Run("variables of the place are removed", func(t *testing.T) {
		command := shellCommand(`echo "${HOME-unset}"`)
		command.Unset = []string{"HOME", "RMCTL_NEVER_SET"}
		require.Equal(t, "unset\n", s.run(t, command).stdout)
	})
	t.Run("a variable that is removed and given has the given value", func(t *testing.T) {
		command := shellCommand(`echo "$HOME"`)
		command.Unset = []string{"HOME"}
		command.Environment = map[string]string{"HOME": "/given"}
		require.Equal(t, "/given\n", s.run(t, command).stdout)
	})
	t.Run("an empty value is a value", func(t *testing.T) {
		command := shellCommand(`echo "${RMCTL_EMPTY-unset}"`)
		command.Environment = map[string]string{"RMCTL_EMPTY": ""}
		require.Equal(t, "\n", s.run(t, command).stdout)
	})
	t.Run("it can be replaced as a whole", func(t *testing.T) {
		command := remote.Command{
			Arguments:          []string{"env"},
			Environment:        map[string]string{"PATH": "/usr/bin:/bin", "RMCTL_ONLY": "1"},
			ReplaceEnvironment: true,
		}
		require.ElementsMatch(t, []string{"PATH=/usr/bin:/bin", "RMCTL_ONLY=1"}, strings.Fields(s.run(t, command).stdout))
	})
	t.Run("what is to be kept stays when it is replaced", func(t *testing.T) {
		command := remote.Command{
			Arguments:          []string{"env"},
			Environment:        map[string]string{"RMCTL_ONLY": "1"},
			ReplaceEnvironment: true,
			Keep:               []string{"PATH", "RMCTL_NOT_SET"},
		}
		printed := s.run(t, command).stdout
		require.Regexp(t, `(?m)^PATH=.`, printed)
		require.Len(t, strings.Fields(printed), 2, printed)
	})
	t.Run("values pass unchanged", func(t *testing.T) {
		for _, text := range hostileTexts() {
			command := shellCommand(`printf '%s.' "$RMCTL_TEXT"`)
			command.Environment = map[string]string{"RMCTL_TEXT": text}
			require.Equal(t, text+".", s.run(t, command).stdout, "%q", text)
		}
	})
	t.Run("what cannot be a variable is refused", func(t *testing.T) {
		for name, value := range map[string]string{"": "x", "A=B": "x", "A\x00B": "x", "RMCTL_ZERO": "a\x00b"} {
			command := shellCommand("exit 0")
			command.Environment = map[string]string{name: value}
			_, err := s.connection.Start(timeLimit(t), command)
			var start *remote.StartError
			require.ErrorAs(t, err, &start, "%q=%q", name, value)
		}
	})
	t.Run("the program is searched in the command's own PATH", func(t *testing.T) {
		directory := s.temporaryDirectory(t)
		s.writeFile(t, directory+"/rmctl-test-program", "#!/bin/sh\necho found\n", 0o755)
		command := remote.Command{
			Arguments:   []string{"rmctl-test-program"},
			Environment: map[string]string{"PATH": "/nonexistent:" + directory + ":/usr/bin:/bin"},
		}
		require.Equal(t, "found\n", s.run(t, command).stdout)
	})
}

func testDirectories(t *testing.T, s *suite) {
	home := s.connection.Info().Home
	physical := s.shell(t, `cd "$1" && pwd -P`, home).stdout
	directory := s.temporaryDirectory(t)

	t.Run("commands run in Home", func(t *testing.T) {
		require.Equal(t, physical, s.shell(t, "pwd -P").stdout)
	})
	t.Run("or in the directory they name", func(t *testing.T) {
		command := shellCommand("pwd")
		command.Directory = "/"
		require.Equal(t, "/\n", s.run(t, command).stdout)
	})
	t.Run("a relative one is below Home", func(t *testing.T) {
		command := shellCommand("pwd -P")
		command.Directory = "."
		require.Equal(t, physical, s.run(t, command).stdout)
	})
	t.Run("its name is not interpreted", func(t *testing.T) {
		name := directory + "/a b'\"$HOME`*\n-\\é"
		require.NoError(t, s.connection.MkdirAll(timeLimit(t), name, 0o755))
		command := shellCommand(`[ "$(pwd -P)" = "$(cd "$1" && pwd -P)" ] && [ "$PWD" = "$1" ]`, name)
		command.Directory = name
		require.Zero(t, s.run(t, command).code)
	})
	t.Run("a program with a slash is relative to it", func(t *testing.T) {
		s.writeFile(t, directory+"/script", "#!/bin/sh\necho here\n", 0o755)
		require.Equal(t, "here\n", s.run(t, remote.Command{Arguments: []string{"./script"}, Directory: directory}).stdout)
	})
}

func testArguments(t *testing.T, s *suite) {
	t.Run("they reach the program unchanged", func(t *testing.T) {
		texts := hostileTexts()
		echoed := s.shell(t, `for argument; do printf '%s\000' "$argument"; done`, texts...)
		require.Zero(t, echoed.code)
		require.Equal(t, strings.Join(texts, "\x00")+"\x00", echoed.stdout)
	})
	t.Run("many reach it", func(t *testing.T) {
		require.Equal(t, "5000\n", s.shell(t, "echo $#", strings.Fields(strings.Repeat("word ", 5000))...).stdout)
	})
	t.Run("a zero byte is refused", func(t *testing.T) {
		_, err := s.connection.Start(timeLimit(t), remote.Command{Arguments: []string{"echo", "a\x00b"}})
		var start *remote.StartError
		require.ErrorAs(t, err, &start)
	})
	t.Run("a command without words is refused", func(t *testing.T) {
		_, err := s.connection.Start(timeLimit(t), remote.Command{})
		var start *remote.StartError
		require.ErrorAs(t, err, &start)
	})
}

func testMissing(t *testing.T, s *suite) {
	directory := s.temporaryDirectory(t)
	start := func(command remote.Command) *remote.StartError {
		_, err := s.connection.Start(timeLimit(t), command)
		var failure *remote.StartError
		require.ErrorAs(t, err, &failure)
		require.Contains(t, err.Error(), command.Arguments[0])
		return failure
	}
	t.Run("a program that is nowhere in PATH", func(t *testing.T) {
		err := start(remote.Command{Arguments: []string{"rmctl-no-such-program"}, Environment: map[string]string{"PATH": "/rmctl-searched:/bin"}})
		require.ErrorIs(t, err, remote.ErrCommandNotFound)
		require.NotErrorIs(t, err, fs.ErrNotExist)
		require.Contains(t, err.Error(), "/rmctl-searched:/bin")
	})
	t.Run("a program whose path leads nowhere", func(t *testing.T) {
		for _, program := range []string{"./absent", "/rmctl-no-such/program", "/dev/null/program"} {
			require.ErrorIs(t, start(remote.Command{Arguments: []string{program}}), remote.ErrCommandNotFound)
		}
	})
	t.Run("a directory that is not there", func(t *testing.T) {
		err := start(remote.Command{Arguments: []string{"sh"}, Directory: directory + "/absent"})
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NotErrorIs(t, err, remote.ErrCommandNotFound)
		require.Equal(t, directory+"/absent", err.Directory)
	})
	t.Run("a program that may not be executed", func(t *testing.T) {
		s.writeFile(t, directory+"/plain", "#!/bin/sh\n", 0o644)
		err := start(remote.Command{Arguments: []string{"./plain"}, Directory: directory})
		require.ErrorIs(t, err, fs.ErrPermission)
		require.NotErrorIs(t, err, remote.ErrCommandNotFound)
		require.ErrorIs(t, start(remote.Command{Arguments: []string{"/"}}), fs.ErrPermission)
	})
	t.Run("a program whose interpreter is missing", func(t *testing.T) {
		s.writeFile(t, directory+"/orphan", "#!/rmctl-no-such/interpreter\n", 0o755)
		err := start(remote.Command{Arguments: []string{"./orphan"}, Directory: directory})
		require.ErrorIs(t, err, remote.ErrCommandNotFound)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("a script without an interpreter line is one for sh", func(t *testing.T) {
		s.writeFile(t, directory+"/bare", "echo \"ran $1\"\n", 0o755)
		require.Equal(t, "ran it\n", s.run(t, remote.Command{Arguments: []string{"./bare", "it"}, Directory: directory}).stdout)
	})
	t.Run("the error says what was not started", func(t *testing.T) {
		err := start(remote.Command{Arguments: []string{"rmctl-no-such-program"}})
		require.Equal(t, "rmctl-no-such-program", err.Program)
		require.True(t, errors.Is(err, remote.ErrCommandNotFound))
	})
}
