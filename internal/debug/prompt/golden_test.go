package prompt_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/prompt"
)

var update = flag.Bool("update", false, "write the output in testdata")

// TestSessionsPrintTheExpectedOutput runs the commands in a file's section "in", or "script", with fake ranks. The first line of
// a file has the number of ranks and options.
func TestSessionsPrintTheExpectedOutput(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			sections := map[string]string{}
			for _, file := range archive.Files {
				sections[file.Name] = string(file.Data)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = runSession(t, string(archive.Comment), sections) })
			if *update {
				updateSection(t, path, archive, got)
				return
			}
			require.Equal(t, sections["out"], got)
		})
	}
}

func updateSection(t *testing.T, path string, archive *txtar.Archive, out string) {
	t.Helper()
	for i, file := range archive.Files {
		if file.Name == "out" {
			archive.Files = append(archive.Files[:i:i], archive.Files[i+1:]...)
			break
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "out", Data: []byte(out)})
	require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o600))
}

// runSession returns the output and the exit code.
func runSession(t *testing.T, comment string, sections map[string]string) string {
	t.Helper()
	words := strings.Fields(strings.SplitN(comment, "\n", 2)[0])
	size, err := strconv.Atoi(words[0])
	require.NoError(t, err)
	j := newJob(t, size, parseRules(t, sections["ranks"]))
	defer j.end()
	var out bytes.Buffer
	options := prompt.Options{In: strings.NewReader(sections["in"]), Out: &out, Size: func() int { return size }}
	if script, hasScript := sections["script"]; hasScript {
		options.Script = strings.NewReader(script)
	}
	options.Start = &debug.Request{Stop: debug.StopAtMain}
	for _, word := range words[1:] {
		switch word {
		case "json":
			options.JSON = true
		case "attached":
			options.IsKept = true
		case "unstarted":
			options.Start = nil
		case "one-more":
			options.Size = func() int { return size + 1 }
		default:
			require.Fail(t, "unknown option", word)
		}
	}
	options.Kill = func(ctx context.Context) error { return askAll(ctx, j, debug.Kill) }
	options.Release = func(ctx context.Context) error { return askAll(ctx, j, debug.Detach) }
	code, err := prompt.Run(t.Context(), j.session, options)
	if err != nil {
		fmt.Fprintf(&out, "-> %v\n", err)
	}
	fmt.Fprintf(&out, "-> exit %d\n", code)
	return out.String()
}

func askAll(ctx context.Context, j *fakeJob, verb debug.Verb) error {
	j.session.Ask(ctx, debug.Question{Ranks: j.session.Ranks(debug.Ready, debug.Running, debug.Stopped), Request: debug.Request{Verb: verb}})
	return nil
}
