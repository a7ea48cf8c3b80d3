package agentdecode

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/proxy"
)

// traced returns the trace of a session.
func traced(t *testing.T, lines ...proxy.Line) string {
	t.Helper()
	var text strings.Builder
	trace := proxy.NewTrace(&text)
	for _, line := range lines {
		require.NoError(t, trace.Write(line))
	}
	return text.String()
}

// printed decodes a text for display.
func printed(t *testing.T, text string) (shown string, broken int) {
	t.Helper()
	var to strings.Builder
	broken, err := Print(&to, strings.NewReader(text), false)
	require.NoError(t, err)
	return to.String(), broken
}

func TestTracesAreDecoded(t *testing.T) {
	shown, broken := printed(t, traced(t,
		proxy.Line{Frame: proxy.Frame{ID: 1, Arguments: []string{"2.0", "baseId=1000"}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{}},
		proxy.Line{Frame: proxy.Frame{ID: 5, Transaction: 7, Arguments: []string{"jobSubId=JOB_1", "progArgs=a b", "progArgs="}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xdc, Transaction: 3, Arguments: []string{"1002", "2", "1010", "1", "name=x", "1011-1013", "0"}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xd3, Transaction: 7, Arguments: []string{"2", "jobSubId=JOB_1", "errorMsg=no\nway"}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xfb, Transaction: 2, Arguments: []string{"1", "8", "nodes", "INTEGER", "Nodes", "", "0", "1", "1", "64"}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xe6, Arguments: []string{"9", "1010"}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xfd, Arguments: []string{"x"}}},
		proxy.Line{FromAgent: true, Closed: true},
	)+"noise\n")
	require.Equal(t, `    1 client INIT               #0 version=2.0 baseId=1000
    2 agent  OK                 #0 answers INIT
    3 client SUBMIT_JOB         #7 jobSubId=JOB_1 progArgs="a b" progArgs=""
    4 agent  NEW_JOB            #3 below 1002
        1010 name=x
        1011-1013 (3)
    5 agent  SUBMITJOB_ERROR    #7 answers SUBMIT_JOB jobSubId=JOB_1 errorMsg="no\nway"
    6 agent  ATTR_DEF           #2
        nodes INTEGER "Nodes" default 1 from 1 to 64 hidden
    7 agent  -                  #0
        arguments: 9 1010
        error: byte 31: more groups announced than the frame holds: "9"
    8 agent  update 00fd        #0
        arguments: x
    9 agent  connection closed
   10 client -
        error: not a line of a trace: it begins with neither C> nor <E
`, shown)
	require.Equal(t, 2, broken)
}

func TestTheSenderOfAStreamIsDetected(t *testing.T) {
	for from, frames := range map[string][]proxy.Frame{
		"client": {{ID: 1, Arguments: []string{"version=2.0", "baseId=1"}}, {ID: 5}, {ID: 6}},
		"agent":  {{ID: 0}, {ID: 5}, {ID: 6}},
	} {
		var text []byte
		for _, frame := range frames {
			text = frame.Append(text)
		}
		shown, broken := printed(t, string(text))
		require.Zero(t, broken)
		require.Equal(t, len(frames), strings.Count(shown, from))
	}
	for from, frame := range map[string]proxy.Frame{
		"client SUBMIT_JOB": {ID: 5, Arguments: []string{"jobSubId=JOB_1"}}, "client TERMINATE_JOB": {ID: 6, Arguments: []string{"jobId=1"}}, "client MODEL_DEF": {ID: 2},
		"agent  ERROR": {ID: 5, Arguments: []string{"1", "errorCode=1"}}, "agent  MESSAGE": {ID: 1, Arguments: []string{"1", "messageText=x"}}, "agent  SHUTDOWN": {ID: 6}, "agent  NEW_JOB": {ID: 0xdc, Arguments: []string{"1", "0"}},
	} {
		shown, _ := printed(t, string(frame.Append(nil)))
		require.Contains(t, shown, from)
	}
}

func TestStreamsEndAtInvalidFrames(t *testing.T) {
	whole := string(proxy.Frame{ID: 6}.Append(nil))
	shown, broken := printed(t, whole+"00000017 0006;00000000:00000000"+whole+"oops")
	require.Equal(t, 2, broken)
	require.Equal(t, 2, strings.Count(shown, "SHUTDOWN"))
	require.Contains(t, shown, `byte 93: not a frame of the proxy protocol: "oops"`)
	shown, broken = printed(t, whole+whole[:20])
	require.Equal(t, 1, broken)
	require.Contains(t, shown, "the stream ends inside a frame")
}

func TestHostileTextsAreShownOnOneLine(t *testing.T) {
	hostile := "\x1b[2J\n\u202e" + strings.Repeat("x\u0301\u0301\u0301\u0301", 5000)
	shown, _ := printed(t, traced(t, proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xdc, Arguments: []string{hostile, "1", hostile, "1", hostile + "=" + hostile}}},
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xfb, Arguments: []string{"1", "7", hostile, "ENUMERATED", hostile, hostile, "true", hostile, hostile}}}))
	require.NotContains(t, shown, "\x1b")
	require.NotContains(t, shown, "\u202e")
	require.Equal(t, 4, strings.Count(shown, "\n"))
	require.Less(t, len(shown), 10*4*longestText)
}

func TestMessagesAreJSONLines(t *testing.T) {
	var to strings.Builder
	broken, err := Print(&to, strings.NewReader(traced(t,
		proxy.Line{FromAgent: true, Frame: proxy.Frame{ID: 0xe6, Transaction: 3, Arguments: []string{"1", "1010-1011", "1", "name=\u202e"}}}, proxy.Line{Closed: true})), true)
	require.NoError(t, err)
	require.Zero(t, broken)
	require.NotContains(t, to.String(), "\u202e")
	lines := strings.Split(strings.TrimSpace(to.String()), "\n")
	require.Len(t, lines, 2)
	var read message
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &read))
	transaction := uint32(3)
	require.Equal(t, message{Line: 1, From: "agent", Name: "CHANGE_JOB", Transaction: &transaction, Groups: []group{{"1010-1011", 2, []attribute{{"name", "\u202e"}}}}}, read)
	require.JSONEq(t, `{"line":2,"from":"client","closed":true}`, lines[1])
}

func TestReadErrorsAreReturned(t *testing.T) {
	for _, before := range []string{"", "C> ", "C> 000", "0000", "00000017 "} {
		_, err := Print(&strings.Builder{}, io.MultiReader(strings.NewReader(before), iotest.ErrReader(io.ErrClosedPipe)), false)
		require.ErrorIs(t, err, io.ErrClosedPipe, before)
	}
}
