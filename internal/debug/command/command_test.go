package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/command"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/job"
)

// exitCode is an error that only has a code.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprint("code ", int(e)) }

// A bench runs the command with an environment that records calls.
type bench struct {
	requests []command.Request
	attached []string // ids of jobs
	called   []string // methods of handles
	stdin    string
	out      bytes.Buffer
	json     bool
	exits    int // code with which the rank exits when it starts; -1 to stop it
	editor   func(io.ReadWriter) error
}

func (b *bench) run(t *testing.T, words ...string) error {
	t.Helper()
	environment := command.Environment{
		Stdin: strings.NewReader(b.stdin), Stdout: &b.out, Stderr: io.Discard, IsJSON: func() bool { return b.json },
		AddFlags: func(c *cobra.Command) func([]string, *command.Request) error {
			c.Flags().SetInterspersed(false)
			tasks := c.Flags().StringP("tasks", "n", "", "")
			return func(words []string, r *command.Request) error {
				s := job.Submission{Values: []job.Assignment{{Name: "tasks", Value: *tasks}}}
				if len(words) > 0 {
					s.Executable, s.Arguments = words[0], words[1:]
				}
				r.Submission = s
				return nil
			}
		},
		Launch: func(_ context.Context, r command.Request) (command.Debugged, error) {
			b.requests = append(b.requests, r)
			return b.debugged(t), nil
		},
		Attach: func(_ context.Context, id string, r command.Request) (command.Debugged, error) {
			b.requests, b.attached = append(b.requests, r), append(b.attached, id)
			return b.debugged(t), nil
		},
		ServeEditor: func(_ context.Context, stream io.ReadWriteCloser) error {
			return errors.Join(b.editor(stream), stream.Close())
		},
		StateFolder: func() (string, error) { return t.TempDir(), nil },
		Exit: func(code int) error {
			if code == 0 {
				return nil
			}
			return exitCode(code)
		},
	}
	c := command.NewCommand(environment)
	c.SetArgs(words)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetOut(io.Discard)
	return c.ExecuteContext(t.Context())
}

// debugged returns a program of one rank that stops in main, or exits.
func (b *bench) debugged(t *testing.T) command.Debugged {
	session := &debug.Session{}
	lines := make(chan string, 100)
	member := session.Join(func(line []byte) error { lines <- string(line); return nil })
	send := func(number string, value any) {
		text, err := json.Marshal(value)
		if err == nil {
			err = member.Receive(fmt.Appendf(nil, "%s %s", number, text))
		}
		if err != nil {
			panic(err)
		}
	}
	send("0", debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{Version: debug.ProtocolVersion, Size: 1, Host: "n1", Debugger: "fake"}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for line := range lines {
			number, body, _ := strings.Cut(line, " ")
			switch {
			case strings.Contains(body, `"start"`) && b.exits >= 0:
				send("0", debug.Notice{Report: debug.ReportExited, Code: &b.exits})
			case strings.Contains(body, `"start"`):
				send("0", debug.Notice{Report: debug.ReportStopped, Reason: debug.ReasonMain})
			case strings.Contains(body, `"evaluate"`):
				send(number, debug.Answer{Variables: []debug.Variable{{Value: "8"}}})
				continue
			}
			send(number, debug.Answer{})
		}
	}()
	t.Cleanup(func() {
		close(lines)
		<-done
	})
	return command.Debugged{Session: session, Handle: handle{b, session}}
}

// A handle records calls.
type handle struct {
	b       *bench
	session *debug.Session
}

func (h handle) call(name string) error {
	h.b.called = append(h.b.called, name)
	return nil
}

func (h handle) Ready(context.Context) error           { return h.call("ready") }
func (h handle) Size() int                             { return 1 }
func (h handle) Kill(context.Context) error            { return h.call("kill") }
func (h handle) Detach(context.Context) error          { return h.call("detach") }
func (h handle) ExitCode(context.Context) (int, error) { return h.b.exits, h.call("code") }
func (h handle) Close() error                          { return h.call("close") }

func TestFlagsBecomeARequest(t *testing.T) {
	b := &bench{exits: -1}
	require.NoError(t, b.run(t, "-n", "4", "--debugger", "/opt/gdb", "--ranks", "0-1,3", "--stop", "entry", "--copy", "a.out", "--when-left", "release", "--linger", "5s", "--", "./a.out", "--dap"))
	require.Len(t, b.requests, 1)
	r := b.requests[0]
	require.Equal(t, "./a.out", r.Submission.Executable)
	require.Equal(t, []string{"--dap"}, r.Submission.Arguments)
	require.Equal(t, "4", r.Submission.Values[0].Value)
	require.Equal(t, "0-1,3", r.Ranks.String())
	r.Submission, r.Ranks = job.Submission{}, nil
	require.Equal(t, command.Request{Debugger: "/opt/gdb", Stop: "entry", Mode: command.Run, Copy: "a.out", WhenLeft: command.Release, Linger: 5 * time.Second}, r)
	require.Equal(t, []string{"ready", "kill", "close"}, b.called)
}

func TestLeavingDetachesFromAttachedJobs(t *testing.T) {
	b := &bench{exits: -1, stdin: "print n\n"}
	require.NoError(t, b.run(t, "attach", "--ranks", "0", "4711"))
	require.Equal(t, []string{"4711"}, b.attached)
	require.Equal(t, command.Release, b.requests[0].WhenLeft)
	require.Equal(t, []string{"ready", "detach", "close"}, b.called)
	require.Contains(t, b.out.String(), "0: 8\n")
}

func TestTheExitCodeOfAProgramThatHasEndedCounts(t *testing.T) {
	b := &bench{exits: 3}
	require.Equal(t, exitCode(3), b.run(t, "./a.out"))
	require.Equal(t, []string{"ready", "code", "close"}, b.called)
}

func TestAScriptThatFailsEndsWithCode1(t *testing.T) {
	script := filepath.Join(t.TempDir(), "commands")
	require.NoError(t, os.WriteFile(script, []byte("print n\nbogus\nprint n\n"), 0o600))
	b := &bench{exits: -1}
	require.Equal(t, exitCode(1), b.run(t, "-x", script, "./a.out"))
	require.Equal(t, 1, strings.Count(b.out.String(), "0: 8"))
	require.Equal(t, []string{"ready", "kill", "close"}, b.called)

	b = &bench{exits: -1}
	require.ErrorContains(t, b.run(t, "-x", script+".missing", "./a.out"), "no such file")
	require.Empty(t, b.requests, "nothing is submitted")
}

func TestMistakesAreRefused(t *testing.T) {
	for name, words := range map[string][]string{
		"PROGRAM is missing":             nil,
		"JOB is missing":                 {"attach"},
		`unexpected argument "2"`:        {"attach", "1", "2"},
		`--debugger "windbg"`:            {"--debugger", "windbg", "./a.out"},
		`--stop "now"`:                   {"--stop", "now", "./a.out"},
		`--ranks "x"`:                    {"--ranks", "x", "./a.out"},
		`--ranks "65536"`:                {"--ranks", "65536", "./a.out"},
		`--when-left "stay"`:             {"--when-left", "stay", "./a.out"},
		"--linger -1s":                   {"--linger", "-1s", "./a.out"},
		"--dap has no arguments":         {"--dap", "./a.out"},
		"--dap cannot be used together":  {"--dap", "--ranks", "1"},
		"--dap=tcp:1":                    {"--dap=tcp:1"},
		"--dap=unix:":                    {"--dap=unix:"},
		`--print-config "vi"`:            {"--print-config", "vi"},
		"--print-config cannot be used":  {"--print-config", "nvim", "--dap"},
		"--print-config has no argument": {"--print-config", "nvim", "./a.out"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{}
			err := b.run(t, words...)
			var usage *command.UsageError
			require.ErrorAs(t, err, &usage)
			require.ErrorContains(t, err, name)
			require.Empty(t, b.called)
		})
	}
}

func TestAnEditorIsServedOnStandardStreams(t *testing.T) {
	b := &bench{stdin: "question", editor: func(stream io.ReadWriter) error {
		text, err := io.ReadAll(stream)
		_, writeErr := fmt.Fprintf(stream, "answer to %s", text)
		return errors.Join(err, writeErr)
	}}
	require.NoError(t, b.run(t, "--dap"))
	require.Equal(t, "answer to question", b.out.String())
}

func TestAnEditorIsServedOnASocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "dap") // short, for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	path := filepath.Join(folder, "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	require.NoError(t, err)
	left.SetUnlinkOnClose(false)
	require.NoError(t, left.Close())

	mode := make(chan os.FileMode, 1)
	b := &bench{editor: func(stream io.ReadWriter) error {
		_, err := fmt.Fprint(stream, "hello")
		return err
	}}
	served := make(chan error, 1)
	go func() { served <- b.run(t, "--dap=unix:"+path) }()
	var conn net.Conn
	require.Eventually(t, func() bool {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Perm() == 0o600 {
			select {
			case mode <- info.Mode():
			default:
			}
			conn, err = peer.Dial(t.Context(), path)
		}
		return err == nil && conn != nil
	}, time.Minute, time.Millisecond)
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
	require.NoError(t, conn.Close())
	require.NoError(t, <-served)
	require.NoFileExists(t, path)
}

func TestOtherFilesAreNotSockets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
	require.ErrorContains(t, (&bench{}).run(t, "--dap=unix:"+file), "is not a socket")
	require.FileExists(t, file)

	shared := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(shared, 0o700))
	require.NoError(t, os.Chmod(shared, 0o777))
	require.Error(t, (&bench{}).run(t, "--dap=unix:"+filepath.Join(shared, "s")))
}

// The rules are those of VS Code's extensionValidator.ts and debugSchemas.ts, which knows only these members.
func TestTheExtensionForVSCodeIsValid(t *testing.T) {
	b := &bench{}
	require.NoError(t, b.run(t, "--print-config", "vscode"))
	type attributes struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	type debugger struct {
		Type                    string                `json:"type"`
		Label                   string                `json:"label"`
		Runtime                 string                `json:"runtime"`
		Args                    []string              `json:"args"`
		Languages               []string              `json:"languages"`
		InitialConfigurations   []map[string]any      `json:"initialConfigurations"`
		ConfigurationAttributes map[string]attributes `json:"configurationAttributes"`
		ConfigurationSnippets   []struct {
			Label       string         `json:"label"`
			Description string         `json:"description"`
			Body        map[string]any `json:"body"`
		} `json:"configurationSnippets"`
	}
	var extension struct {
		Name, DisplayName, Description, Version, Publisher, License string
		Engines                                                     map[string]string
		Categories                                                  []string
		Contributes                                                 struct {
			Breakpoints []struct{ Language string }
			Debuggers   []debugger
		}
	}
	decoder := json.NewDecoder(&b.out)
	decoder.DisallowUnknownFields() // such as activationEvents, which an extension without code must not have
	require.NoError(t, decoder.Decode(&extension))
	require.Regexp(t, `^[0-9]+\.[0-9]+\.[0-9]+$`, extension.Version)
	require.Regexp(t, `^\^1\.[0-9]+\.[0-9]+$`, extension.Engines["vscode"])
	require.NotEmpty(t, extension.Publisher)
	d := extension.Contributes.Debuggers[0]
	require.Equal(t, "rmctl", d.Type)
	require.Equal(t, []string{"debug", "--dap"}, d.Args)
	require.Equal(t, "rmctl", d.Runtime, "a program would be looked for in the directory of the extension")
	configurations := d.InitialConfigurations
	for _, snippet := range d.ConfigurationSnippets {
		configurations = append(configurations, snippet.Body)
	}
	for _, configuration := range configurations {
		request, _ := configuration["request"].(string)
		known := d.ConfigurationAttributes[request]
		require.NotEmpty(t, known.Properties)
		for _, name := range known.Required {
			require.Contains(t, configuration, name)
		}
		for name := range configuration {
			if name != "type" && name != "request" && name != "name" {
				require.Contains(t, known.Properties, name)
			}
		}
	}
}

func TestConfigurationsOfEditorsRunTheAdapter(t *testing.T) {
	for editor, version := range map[string]string{"nvim": "nvim-dap 0.6.0", "emacs": "dape 0.20.0"} {
		b := &bench{}
		require.NoError(t, b.run(t, "--print-config", editor))
		require.Contains(t, b.out.String(), version)
		require.Contains(t, b.out.String(), `"--dap"`)
		if editor == "nvim" {
			require.Contains(t, b.out.String(), "auto_continue_if_many_stopped = false", "ranks must not continue by themselves")
		}
	}
}
