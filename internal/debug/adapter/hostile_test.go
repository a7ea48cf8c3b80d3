package adapter_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/adapter"
)

func TestRequestsOutOfOrderFail(t *testing.T) {
	f := &fleet{size: 2}
	e := open(t, adapter.Options{Launch: f.launch})
	require.Contains(t, e.failing("threads", nil), "the first request must be initialize")
	require.Contains(t, e.failing("flyToTheMoon", nil), `unsupported request "flyToTheMoon"`)
	require.Contains(t, e.failing("initialize", map[string]any{"adapterID": "rmctl", "pathFormat": "uri"}), "unsupported format of paths")
	e.initialize()
	require.Contains(t, e.failing("initialize", map[string]any{"adapterID": "rmctl"}), "already")
	for _, command := range []string{"configurationDone", "restart", "terminate"} {
		require.Contains(t, e.failing(command, map[string]any{}), "no program has been launched")
	}
	require.Contains(t, e.failing("evaluate", map[string]any{"expression": "n"}), "no program has been launched")
	require.Contains(t, e.failing("stackTrace", map[string]any{"threadId": 1}), "no thread 1")
	require.Contains(t, e.failing("scopes", map[string]any{"frameId": 1}), "unknown frame")
	require.Contains(t, e.failing("source", map[string]any{"sourceReference": -1}), "unknown source")
	require.Contains(t, e.failing("next", map[string]any{"threadId": "one"}), "invalid request")
	ask[*dap.LaunchResponse](e, "launch", program)
	require.Contains(t, e.failing("launch", program), "already")
	e.start()
	require.Contains(t, e.failing("configurationDone", nil), "already")
	require.Contains(t, e.failing("pause", map[string]any{"threadId": 1}), "stopped already")
	require.Contains(t, e.failing("exceptionInfo", map[string]any{"threadId": 1}), "not stopped by a signal")
	require.Contains(t, e.failing("evaluate", map[string]any{"expression": "raw shell rm -rf /", "context": "repl"}), "disabled")
	require.Contains(t, e.failing("stepIn", map[string]any{"threadId": 1, "granularity": "instruction"}), "unsupported")
}

func TestInvalidConfigurationsAreExplained(t *testing.T) {
	e := open(t, adapter.Options{Launch: (&fleet{size: 1}).launch})
	e.initialize()
	for text, arguments := range map[string]map[string]any{
		`requires "program"`:                 {},
		`"processes" must be a whole number`: {"program": "a", "processes": "four"},
		`"args" must be a list of strings`:   {"program": "a", "args": "-x"},
		`"env" must be an object`:            {"program": "a", "env": []string{"A=1"}},
		`"noDebug" must be true or false`:    {"program": "a", "noDebug": "no"},
		`invalid "stop" "later"`:             {"program": "a", "stop": "later"},
		`invalid ranks "x"`:                  {"program": "a", "ranks": "x"},
		`invalid ranks "0-99999"`:            {"program": "a", "ranks": "0-99999"},
		`must not be negative`:               {"program": "a", "processes": -1},
		`must be a string, a number or a`:    {"program": "a", "settings": map[string]any{"queue": []int{1}}},
	} {
		require.Contains(t, e.failing("launch", arguments), text)
	}
	require.Contains(t, e.failing("attach", map[string]any{"program": "a"}), `requires "job"`)
}

func TestConfigurationsReachTheLaunch(t *testing.T) {
	f := &fleet{size: 1}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(map[string]any{
		"program": "a", "args": []string{"-x", "1"}, "cwd": "/tmp", "env": map[string]any{"A": "1"}, "target": "cluster", "processes": 8,
		"settings": map[string]any{"queue": "debug", "nodes": 2, "exclusive": true, "memory": 1e6}, "debugger": "gdb", "debuggerPath": "/opt/gdb",
		"stopOnEntry": true, "ranks": "0-3,7", "configuration": "nightly", "copy": "build/a", "type": "rmctl", "presentation": map[string]any{},
	})
	require.Equal(t, "0-3,7", f.arguments.Ranks.String())
	f.arguments.Ranks = nil
	settings := f.arguments.Settings
	require.Equal(t, map[string]string{"queue": "debug", "nodes": "2", "exclusive": "true", "memory": "1000000"}, settings)
	f.arguments.Settings = nil
	require.Equal(t, adapter.LaunchArguments{
		Program: "a", Arguments: []string{"-x", "1"}, Directory: "/tmp", Environment: map[string]string{"A": "1"}, Target: "cluster", Processes: 8,
		Debugger: "gdb", DebuggerPath: "/opt/gdb", Stop: "entry", Configuration: "nightly", Copy: "build/a",
	}, f.arguments)
}

func TestInvalidStreamsEndTheSession(t *testing.T) {
	for text, want := range map[string]string{
		"Content-Length: 99999999\r\n\r\n":                          "exceeds",
		"Content-Length: -1\r\n\r\n":                                "invalid Content-Length",
		"Content-Length: 999999999999999999999999\r\n\r\n":          "invalid Content-Length",
		"GET / HTTP/1.1\r\n\r\n":                                    "invalid header",
		"\r\n\r\n":                                                  "no Content-Length",
		"X: " + strings.Repeat("x", 1<<16):                          "invalid header",
		strings.Repeat("X: 1\r\n", 100):                             "too many lines",
		"Content-Length: 100\r\n\r\n{}":                             "unexpected EOF",
		"Content-Length: 2\r\nContent-Type: x\r\n\r\n{}GARBAGE\r\n": "invalid header",
	} {
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- adapter.Serve(t.Context(), far, adapter.Options{}) }()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		_, _ = io.WriteString(near, text)
		if want == "unexpected EOF" {
			near.Close()
		}
		require.ErrorContains(t, <-served, want, "%.40q", text)
	}
}

// Invalid requests get no answer, and the session continues.
func TestGarbageInMessagesIsIgnored(t *testing.T) {
	e := open(t, adapter.Options{Launch: (&fleet{size: 1}).launch})
	for _, text := range []string{"", "null", "[]", "{", `"x"`, `{"type":"response","seq":1}`, `{"type":"event","event":"stopped"}`, `{"seq":1,"type":7}`, `{"seq":"x","type":"request","command":"threads"}`, `{"type":"request","command":"threads"}`, strings.Repeat("[", 20000)} {
		require.NoError(t, dap.WriteBaseMessage(e.conn, []byte(text)))
		require.Contains(t, next[*dap.OutputEvent](e).Body.Output, "ignores an invalid message", "%.40s", text)
	}
	e.initialize()
}

// nvim-dap did so up to 0.7, against the schema.
func TestRequestsMayBeCountedFromZero(t *testing.T) {
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- adapter.Serve(t.Context(), far, adapter.Options{}) }()
	require.NoError(t, dap.WriteBaseMessage(near, []byte(`{"seq":0,"type":"request","command":"initialize","arguments":{"adapterID":"rmctl"}}`)))
	message, err := dap.ReadProtocolMessage(bufio.NewReader(near))
	require.NoError(t, err)
	require.IsType(t, &dap.InitializeResponse{}, message)
	require.NoError(t, near.Close())
	<-served
}

func TestManyRequestsAtTheSameTime(t *testing.T) {
	f := &fleet{size: 8}
	e := open(t, adapter.Options{Launch: f.launch})
	e.begin(program)
	e.start()
	f.on(0, func(r *rank) { r.silent = true })
	refused := 0
	var numbers []int
	for i := range 1500 {
		numbers = append(numbers, e.send("evaluate", map[string]any{"expression": fmt.Sprint(i), "context": "repl"}))
	}
	for _, number := range numbers {
		if number > numbers[1023] {
			failed, hasFailed := e.response(number).(*dap.ErrorResponse)
			require.True(t, hasFailed)
			require.Equal(t, "too many requests at the same time", failed.Message)
			refused++
		}
	}
	require.Equal(t, 1500-1024, refused)
}
