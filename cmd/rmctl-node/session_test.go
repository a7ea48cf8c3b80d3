package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// A sessionEnd is the program's end of a session.
type sessionEnd struct {
	*running
	input  io.WriteCloser
	output *bufio.Scanner
}

// opens opens sessions for parts with one process each.
func (e *ensemble) opens(parts int) []*sessionEnd {
	e.t.Helper()
	var all []*sessionEnd
	var serials []int
	for serial := 1; serial <= parts; serial++ {
		r := e.command("run", "--pass", e.writes(e.admits(serial, 1, rendezvous.GateHeld, "sh", "-c", `exec "$COALLOC_RMCTL_NODE" session`)))
		input, err := r.StdinPipe()
		require.NoError(e.t, err)
		r.Stdout = nil
		output, err := r.StdoutPipe()
		require.NoError(e.t, err)
		require.NoError(e.t, r.Start())
		e.t.Cleanup(func() { _ = r.Process.Kill() }) // it may have ended
		lines := bufio.NewScanner(output)
		lines.Buffer(nil, mostRequestLine)
		all, serials = append(all, &sessionEnd{r, input, lines}), append(serials, serial)
	}
	e.releases(serials...)
	return all
}

func (s *sessionEnd) writes(format string, values ...any) {
	s.t.Helper()
	_, err := fmt.Fprintf(s.input, format+"\n", values...)
	require.NoError(s.t, err)
}

func (s *sessionEnd) reads() (answer sessionAnswer) {
	s.t.Helper()
	require.True(s.t, s.output.Scan(), "%v %s", s.output.Err(), s.errors.String())
	require.NoError(s.t, json.Unmarshal(s.output.Bytes(), &answer))
	return answer
}

func TestSessionsExchangeMessages(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	all := e.opens(2)
	near, far := all[0], all[1]
	require.Equal(t, sessionAnswer{Session: &sessionStart{Rank: 0, Size: 1, Index: 0, Label: "part1", Ensemble: "e"}}, near.reads())
	require.Equal(t, "part2", far.reads().Session.Label)
	near.writes(`{"id":1,"request":"structure"}`)
	structure := near.reads().Structure
	require.Equal(t, "part2", structure.Others[0].Label)

	far.writes(`{"id":5,"request":"receive","tag":"t","timeout":50}`)
	for i := range 100 { // without waiting for answers
		near.writes(`{"id":%d,"request":"send","to":%d,"tag":"many","data":"%s"}`, 100+i, structure.Others[0].Address, "YWJj")
	}
	near.writes(`{"id":2,"request":"send","to":%d,"tag":"t"}`, structure.Others[0].Address)
	confirmed := map[int64]bool{}
	for range 101 {
		answer := near.reads()
		require.Empty(t, answer.Error)
		confirmed[answer.ID] = true
	}
	require.Len(t, confirmed, 101)
	answer := far.reads()
	require.Equal(t, int64(5), answer.ID)
	require.Equal(t, structure.Own.Address, *answer.Message.From)
	require.Empty(t, answer.Message.Data)
	far.writes(`{"id":6,"request":"receive","tag":"many","from":%d}`, structure.Own.Address)
	require.Equal(t, "abc", string(far.reads().Message.Data))

	far.writes(`{"id":7,"request":"exchange","name":"x","data":"Yg=="}`)
	near.writes(`{"id":8,"request":"exchange","name":"x","data":"YQ=="}`)
	for _, s := range all {
		parts := s.reads().Parts
		require.Equal(t, "ab", string(parts[0].Data)+string(parts[1].Data))
	}
	near.writes(`{"id":9,"request":"receive","tag":"never"}`)
	for _, s := range all { // what still waits is given up
		require.NoError(t, s.input.Close())
		require.False(t, s.output.Scan(), s.output.Text())
		require.Equal(t, 0, s.ends(), s.errors.String())
	}
}

func TestRequestsOfASessionThatFail(t *testing.T) {
	t.Parallel()
	s := newEnsemble(t).opens(1)[0]
	s.reads()
	for line, want := range map[string]sessionAnswer{
		`{"id":1,"request":"receive","tag":"t","timeout":0.05}`: {ID: 1, Error: "context deadline exceeded", Code: exitTimeout},
		`{"id":2,"request":"send","to":7}`:                      {ID: 2, Error: "no part has address 7", Code: exitRefused},
		`{"id":3,"request":"leave"}`:                            {ID: 3, Error: `invalid request: unknown request "leave"`, Code: 1},
		`{"id":4,"request":"send"}`:                             {ID: 4, Error: "invalid request: send requires either to or toRank", Code: 1},
		`{"id":5,"request":"receive","to":1}`:                   {ID: 5, Error: "invalid request: receive does not take to", Code: 1},
		`{"id":6,"request":"exchange","name":"a","x":1}`:        {ID: 6, Error: `invalid request: json: unknown field "x"`, Code: 1},
		`{"request":"structure"}`:                               {Error: "invalid request: id must be a number above 0", Code: 1},
		`structure`:                                             {Error: "invalid request: invalid character 's' looking for beginning of value", Code: 1},
		``:                                                      {Error: "invalid request: EOF", Code: 1},
	} {
		s.writes("%s", line)
		require.Equal(t, want, s.reads())
	}
	for i := range mostReceiving + 1 {
		s.writes(`{"id":%d,"request":"receive","tag":"never"}`, i+1)
	}
	require.Equal(t, sessionAnswer{ID: mostReceiving + 1, Error: "too many requests wait for answers", Code: exitRefused}, s.reads())
	_, err := io.WriteString(s.input, strings.Repeat("x", mostRequestLine+1))
	require.NoError(t, err)
	require.Equal(t, sessionAnswer{Error: "bufio.Scanner: token too long", Code: 1}, s.reads())
	require.Equal(t, 1, s.ends())
}

func TestASessionEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	for code, end := range map[int]func(e *ensemble){
		exitLost:    func(e *ensemble) { require.NoError(e.t, e.relay.Process.Kill()) },
		exitAborted: func(e *ensemble) { e.server.Remove(1, "canceled") },
	} {
		e := newEnsemble(t)
		s := e.opens(1)[0]
		s.reads()
		s.writes(`{"id":1,"request":"receive","tag":"never"}`)
		s.writes(`{"id":2,"request":"structure"}`)
		require.Equal(t, int64(2), s.reads().ID)
		end(e)
		for _, id := range []int64{1, 0} {
			answer := s.reads()
			require.Equal(t, [2]int64{id, int64(code)}, [2]int64{answer.ID, int64(answer.Code)})
			require.NotEmpty(t, answer.Error)
		}
		require.Equal(t, code, s.ends(), s.errors.String())
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, line := range []string{
		`{"id":1,"request":"send","toRank":0,"tag":"t","data":"YQ=="}`, `{"id":2,"request":"receive","from":3,"timeout":1.5}`,
		`{"id":3,"request":"exchange","name":"x"}`, `{"id":4,"request":"structure"} {}`, `{"id":1e3}`, `[`, "\x00",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRequest(line)
		if err != nil {
			require.Equal(t, sessionRequest{ID: r.ID}, r)
			return
		}
		require.Positive(t, r.ID)
		require.GreaterOrEqual(t, r.limit(), 0*r.limit())
		require.False(t, r.Request == requestSend && (r.To == nil) == (r.ToRank == nil))
		text, err := json.Marshal(r)
		require.NoError(t, err)
		require.NotEmpty(t, text)
	})
}

func TestThePythonModule(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no python3")
	}
	e := newEnsemble(t)
	folder := t.TempDir()
	module, err := exec.Command(e.program, "python").Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "coalloc.py"), module, 0o600))
	script := filepath.Join("testdata", "couple.py")
	script, err = filepath.Abs(script)
	require.NoError(t, err)
	var all []*running
	for serial := 1; serial <= 2; serial++ {
		all = append(all, e.runs(e.admits(serial, 1, rendezvous.GateProgram, python, "-B", script), "PYTHONPATH="+folder, "MARK="+filepath.Join(folder, strconv.Itoa(serial))))
	}
	require.Eventually(t, func() bool { // both have waited in vain once
		marks, err := filepath.Glob(filepath.Join(folder, "[12]"))
		return err == nil && len(marks) == 2
	}, patience, 10*time.Millisecond)
	e.releases(1, 2)
	for _, r := range all {
		require.Equal(t, 0, r.ends(), r.errors.String())
	}
	require.Equal(t, "pong for ping\n", all[0].output.String())
	require.Equal(t, "a message of 1048576 bytes\n", all[1].output.String())
}

// BenchmarkSessionMessage measures a message of 1 KiB from one session to another one, until it is received.
func BenchmarkSessionMessage(b *testing.B) {
	near, far, address := coupled(b)
	data := strings.Repeat("YWJj", 256*4/3)
	for b.Loop() {
		far.writes(`{"id":1,"request":"receive","tag":"t"}`)
		near.writes(`{"id":1,"request":"send","to":%d,"tag":"t","data":"%s"}`, address, data)
		require.NotEmpty(b, far.reads().Message.Data)
		require.Empty(b, near.reads().Error)
	}
}

// BenchmarkSessionMessages measures messages of 1 KiB with 128 on the way.
func BenchmarkSessionMessages(b *testing.B) {
	near, far, address := coupled(b)
	data := strings.Repeat("YWJj", 256*4/3)
	window := make(chan struct{}, 128)
	ended := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(ended)
		for range b.N {
			window <- struct{}{}
			far.writes(`{"id":1,"request":"receive","tag":"t"}`)
			near.writes(`{"id":1,"request":"send","to":%d,"tag":"t","data":"%s"}`, address, data)
		}
	}()
	go func() {
		for near.output.Scan() {
		}
	}()
	for range b.N {
		require.NotEmpty(b, far.reads().Message.Data)
		<-window
	}
	<-ended
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// coupled returns two sessions, and the address of the second one.
func coupled(b *testing.B) (near, far *sessionEnd, address int) {
	b.Helper()
	all := newEnsemble(b).opens(2)
	all[0].reads()
	all[1].reads()
	all[0].writes(`{"id":1,"request":"structure"}`)
	return all[0], all[1], all[0].reads().Structure.Others[0].Address
}
