package adapter_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/adapter"
)

// patience is how long a test waits for a message.
const patience = 20 * time.Second

// schemas compile the parts of the protocol's schema.
var schemas = sync.OnceValue(func() *jsonschema.Compiler {
	text, err := os.ReadFile("testdata/debugAdapterProtocol.json")
	if err != nil {
		panic(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("dap.json", document); err != nil {
		panic(err)
	}
	return compiler
})

// compiled are the schemas of messages, by definition. A compiler is not safe for concurrent use.
var compiled = struct {
	sync.Mutex
	of map[string]*jsonschema.Schema
}{of: map[string]*jsonschema.Schema{}}

// validate checks a message of the adapter against the protocol's schema.
func validate(content []byte) error {
	var head struct {
		Type, Command, Event string
		Success              bool
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return err
	}
	name := strings.ToUpper(head.Command[:min(1, len(head.Command))]) + head.Command[min(1, len(head.Command)):] + "Response"
	switch {
	case head.Type == "event":
		name = strings.ToUpper(head.Event[:1]) + head.Event[1:] + "Event"
	case !head.Success:
		name = "ErrorResponse"
	}
	compiled.Lock()
	defer compiled.Unlock()
	schema := compiled.of[name]
	if schema == nil {
		var err error
		if schema, err = schemas().Compile("dap.json#/definitions/" + name); err != nil {
			return err
		}
		compiled.of[name] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, content)
	}
	return nil
}

// An editor is a client of the adapter.
type editor struct {
	t      testing.TB
	conn   net.Conn
	served chan error
	number int
	check  bool // against the schema

	mutex    sync.Mutex
	messages []dap.Message
	taken    map[int]bool // of messages
	changed  chan struct{}
	err      error
	closed   chan struct{}
}

// open serves an editor.
func open(t testing.TB, options adapter.Options) *editor {
	t.Helper()
	near, far := net.Pipe()
	e := &editor{t: t, conn: near, served: make(chan error, 1), taken: map[int]bool{}, changed: make(chan struct{}), closed: make(chan struct{}), check: true}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { e.served <- adapter.Serve(ctx, far, options) }()
	go e.read()
	t.Cleanup(func() {
		near.Close()
		select {
		case <-e.served:
		case <-time.After(patience):
			t.Error("Serve does not return")
		}
		cancel()
		<-e.closed
	})
	return e
}

func (e *editor) read() {
	defer close(e.closed)
	reader := bufio.NewReader(e.conn)
	for {
		content, err := dap.ReadBaseMessage(reader)
		var message dap.Message
		if err == nil && e.check {
			err = validate(content)
		}
		if err == nil {
			message, err = dap.DecodeProtocolMessage(content)
		}
		e.mutex.Lock()
		if err != nil {
			e.err = err
		} else {
			e.messages = append(e.messages, message)
		}
		close(e.changed)
		e.changed = make(chan struct{})
		e.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// await returns the first message from an index on that fits, and its index.
func (e *editor) await(from int, what string, fits func(dap.Message) bool) (dap.Message, int) {
	e.t.Helper()
	timeout := time.After(patience)
	for {
		e.mutex.Lock()
		for i := from; i < len(e.messages); i++ {
			if fits(e.messages[i]) {
				message := e.messages[i]
				e.mutex.Unlock()
				return message, i
			}
		}
		changed, err := e.changed, e.err
		e.mutex.Unlock()
		if err != nil {
			require.NoError(e.t, err, "waiting for %s", what)
		}
		select {
		case <-changed:
		case <-timeout:
			e.t.Fatalf("no %s:\n%s", what, e.transcript())
		}
	}
}

func (e *editor) transcript() string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var b strings.Builder
	for _, message := range e.messages {
		text, _ := json.Marshal(message)
		b.Write(append(text, '\n'))
	}
	return b.String()
}

// send sends a request, and returns its number.
func (e *editor) send(command string, arguments any) int {
	e.t.Helper()
	e.number++
	content, err := json.Marshal(map[string]any{"seq": e.number, "type": "request", "command": command, "arguments": arguments})
	require.NoError(e.t, err)
	require.NoError(e.t, dap.WriteBaseMessage(e.conn, content))
	return e.number
}

// response waits for the response to a request.
func (e *editor) response(number int) dap.Message {
	e.t.Helper()
	message, _ := e.await(0, fmt.Sprintf("response to request %d", number), func(m dap.Message) bool {
		response, isResponse := m.(dap.ResponseMessage)
		return isResponse && response.GetResponse().RequestSeq == number
	})
	return message
}

// failing sends a request that fails, and returns the message.
func (e *editor) failing(command string, arguments any) string {
	e.t.Helper()
	message := e.response(e.send(command, arguments))
	failed, hasFailed := message.(*dap.ErrorResponse)
	require.True(e.t, hasFailed, "%s succeeded: %+v", command, message)
	require.Equal(e.t, failed.Message, failed.Body.Error.Format)
	return failed.Message
}

// ask sends a request and returns its response.
func ask[R dap.Message](e *editor, command string, arguments any) R {
	e.t.Helper()
	return wait[R](e, e.send(command, arguments))
}

func wait[R dap.Message](e *editor, number int) R {
	e.t.Helper()
	message := e.response(number)
	if failed, hasFailed := message.(*dap.ErrorResponse); hasFailed {
		e.t.Fatalf("request %d failed: %s", number, failed.Message)
	}
	response, isTyped := message.(R)
	require.True(e.t, isTyped, "%T", message)
	return response
}

// next returns the next event of a type, each one once.
func next[E dap.Message](e *editor) E {
	e.t.Helper()
	var found E
	_, at := e.await(0, fmt.Sprintf("%T", found), func(m dap.Message) bool {
		event, isTyped := m.(E)
		if isTyped && !e.taken[m.GetSeq()] {
			found = event
			return true
		}
		return false
	})
	e.mutex.Lock()
	e.taken[e.messages[at].GetSeq()] = true
	e.mutex.Unlock()
	return found
}

// output waits until the output of a category contains a text.
func (e *editor) output(category, text string) {
	e.t.Helper()
	e.await(0, "output "+text, func(m dap.Message) bool {
		output, isOutput := m.(*dap.OutputEvent)
		return isOutput && output.Body.Category == category && strings.Contains(output.Body.Output, text)
	})
}

// initialize begins as VS Code does.
func (e *editor) initialize() *dap.InitializeResponse {
	e.t.Helper()
	return ask[*dap.InitializeResponse](e, "initialize", map[string]any{
		"clientID": "vscode", "adapterID": "rmctl", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path",
		"supportsVariablePaging": true, "supportsProgressReporting": true, "supportsInvalidatedEvent": true,
	})
}

// begin initializes and launches.
func (e *editor) begin(arguments map[string]any) {
	e.t.Helper()
	e.initialize()
	ask[*dap.LaunchResponse](e, "launch", arguments)
	next[*dap.InitializedEvent](e)
}

// start lets the program start and waits for its first stop.
func (e *editor) start() *dap.StoppedEvent {
	e.t.Helper()
	ask[*dap.ConfigurationDoneResponse](e, "configurationDone", nil)
	return next[*dap.StoppedEvent](e)
}

// threads waits until the threads have some names, and returns their ids.
func (e *editor) threads(names ...string) (ids []int) {
	e.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		var found []string
		ids = nil
		for _, each := range ask[*dap.ThreadsResponse](e, "threads", nil).Body.Threads {
			found, ids = append(found, each.Name), append(ids, each.Id)
		}
		if slices.Equal(found, names) {
			return ids
		}
		require.True(e.t, time.Now().Before(deadline), "%q", found)
	}
}

// end waits for the end of the session, and returns its error.
func (e *editor) end() error {
	e.t.Helper()
	select {
	case err := <-e.served:
		e.served <- err
		return err
	case <-time.After(patience):
		e.t.Fatal("the session does not end")
		return io.EOF
	}
}
