package adapter_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/adapter"
)

// A recorded stream plays the messages of an editor, and keeps the answers.
type recorded struct {
	io.Reader
	bytes.Buffer
}

func (r *recorded) Read(to []byte) (int, error) { return r.Reader.Read(to) }

// framed returns messages as they are sent.
func framed(messages ...string) []byte {
	var b bytes.Buffer
	for _, message := range messages {
		_ = dap.WriteBaseMessage(&b, []byte(message))
	}
	return b.Bytes()
}

// Whatever an editor sends, each valid request has one answer, and all answers and events are valid.
func FuzzRequests(f *testing.F) {
	number := 0
	request := func(command string, arguments any) string {
		number++
		text, _ := json.Marshal(map[string]any{"seq": number, "type": "request", "command": command, "arguments": arguments})
		return string(text)
	}
	begin := []string{
		request("initialize", map[string]any{"adapterID": "rmctl"}), request("launch", program), request("setBreakpoints", map[string]any{
			"source": map[string]any{"path": "/src/solver.c"}, "breakpoints": []any{map[string]any{"line": 20, "hitCondition": "%2", "condition": "$rank"}},
		}), request("configurationDone", nil), request("threads", nil), request("stackTrace", map[string]any{"threadId": 1, "levels": 2}),
		request("scopes", map[string]any{"frameId": 1}), request("variables", map[string]any{"variablesReference": 2, "start": 1, "count": 1}),
		request("evaluate", map[string]any{"expression": "n", "context": "repl"}), request("next", map[string]any{"threadId": 1}),
		request("setVariable", map[string]any{"variablesReference": 2, "name": "n", "value": "1"}), request("continue", map[string]any{"threadId": 2}),
		request("setDataBreakpoints", map[string]any{"breakpoints": []any{map[string]any{"dataId": "n"}}}), request("pause", map[string]any{"threadId": 1}),
		request("setExceptionBreakpoints", map[string]any{"filters": []string{"throw"}}), request("source", map[string]any{"sourceReference": 1}),
		request("exceptionInfo", map[string]any{"threadId": 1}), request("cancel", map[string]any{"requestId": 3}),
		request("restart", map[string]any{"arguments": program}), request("terminate", nil), request("disconnect", map[string]any{"terminateDebuggee": true}),
	}
	f.Add(framed(begin...))
	f.Add(framed(begin[0], begin[1], begin[len(begin)-1]))
	f.Add([]byte("Content-Length: 3\r\n\r\n{}\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		stream := &recorded{Reader: bytes.NewReader(sent)}
		fleet := &fleet{size: 3}
		_ = adapter.Serve(context.Background(), stream, adapter.Options{Launch: fleet.launch})
		expected := map[int]int{}
		var understood []byte
		for reader := bufio.NewReader(bytes.NewReader(sent)); ; {
			content, err := dap.ReadBaseMessage(reader)
			if err != nil {
				break
			}
			understood = append(understood, framed(string(content))...)
			var request dap.Request
			if json.Unmarshal(content, &request) == nil && request.Type == "request" && request.Seq > 0 {
				expected[request.Seq]++
			}
		}
		isExact := bytes.Equal(understood, sent) // package dap accepts fewer headers
		for reader := bufio.NewReader(&stream.Buffer); ; {
			content, err := dap.ReadBaseMessage(reader)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			require.NoError(t, validate(content))
			var response dap.Response
			require.NoError(t, json.Unmarshal(content, &response))
			if response.Type == "response" && isExact {
				expected[response.RequestSeq]--
				require.GreaterOrEqual(t, expected[response.RequestSeq], 0, "%s", fmt.Sprint(response))
			}
		}
		for _, r := range fleet.ranks {
			require.NotEmpty(t, fleet.kills, "rank %d was left", r.number)
		}
	})
}
