package agenttrace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agenttrace"
	"github.com/rmctl/rmctl/proxy"
)

func line(arguments ...string) proxy.Line {
	return proxy.Line{Frame: proxy.Frame{ID: 5, Arguments: arguments}}
}

// read returns the arguments of the lines of a trace.
func read(t *testing.T, path string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for one := range strings.Lines(string(text)) {
		parsed, err := proxy.ParseLine(one)
		require.NoError(t, err)
		all = append(all, parsed.Frame.Arguments)
	}
	return all
}

func TestTracesHaveNoSecrets(t *testing.T) {
	var text strings.Builder
	given := line("env=TOKEN=hush", "env=HOME", "env=EMPTY=", "dbPassword=hush", "execName=a=b", "password")
	require.NoError(t, agenttrace.To(&text)(given))
	parsed, err := proxy.ParseLine(text.String())
	require.NoError(t, err)
	require.Equal(t, []string{"env=TOKEN=(hidden)", "env=HOME", "env=EMPTY=", "dbPassword=(hidden)", "execName=a=b", "password"}, parsed.Frame.Arguments)
	require.Equal(t, "env=TOKEN=hush", given.Frame.Arguments[0], "the message itself stays as it was")
}

func TestTracesArePrivate(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "trace")
	whole, err := agenttrace.Renew(path)
	require.NoError(t, err)
	info, err := os.Stat(whole)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	require.NoError(t, os.Chmod(path, 0o640))
	_, err = agenttrace.Renew(path)
	require.ErrorContains(t, err, "other users can access it: run chmod 600")
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink(path, link))
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, other := range []string{link, folder, pipe, filepath.Join(folder, "none", "trace")} {
		_, err = agenttrace.Append(other)
		require.Error(t, err, other)
		_, err = agenttrace.Renew(other)
		require.Error(t, err, other)
	}
}

func TestOnlyTracesAreEmptied(t *testing.T) {
	folder := t.TempDir()
	for content, isTrace := range map[string]bool{"": true, "C> 00000017 0003:00000000:00000000\n": true, "<E (connection closed)\n": true, "C": false, "#!/bin/sh\n": false} {
		path := filepath.Join(folder, "file")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := agenttrace.Renew(path)
		if isTrace {
			require.NoError(t, err, content)
			content = ""
		} else {
			require.ErrorContains(t, err, "not a trace", content)
		}
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left))
	}
}

func TestFilesGetOldAndNewMessagesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	var r agenttrace.Recorder
	r.Write(line("before"))
	_, end, err := r.Follow(path)
	require.NoError(t, err)
	_, endOther, err := r.Follow(path)
	require.NoError(t, err)
	r.Write(line("with both"))
	require.NoError(t, end())
	r.Write(line("with one"))
	require.NoError(t, endOther())
	r.Write(line("afterwards"))
	require.Equal(t, [][]string{{"before"}, {"with both"}, {"with one"}}, read(t, path))
}

func TestTheNewestMessagesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	var r agenttrace.Recorder
	long := strings.Repeat("x", 100<<10)
	for i := range 100 {
		r.Write(line(strconv.Itoa(i), long))
	}
	_, end, err := r.Follow(path)
	require.NoError(t, err)
	require.NoError(t, end())
	kept := read(t, path)
	require.Len(t, kept, 10)
	require.Equal(t, "99", kept[9][0])
}

func TestAFileThatCannotBeWrittenIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	var r agenttrace.Recorder
	failed, end, err := r.Follow(path)
	require.NoError(t, err)
	r.Break(path, errors.New("the disk is full"))
	r.Write(line("lost"))
	<-failed
	r.Write(line("lost as well"))
	require.ErrorContains(t, end(), "the disk is full")
}
