package mi

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

// FuzzOutput feeds possible output of a debugger to an engine.
func FuzzOutput(f *testing.F) {
	for _, lines := range []string{
		"*stopped,reason=\"breakpoint-hit\",bkptno=\"7\",frame={func=\"f\",fullname=\"/a.c\",line=\"1\"},thread-id=\"2\"\n=breakpoint-deleted,id=\"7\"",
		"=breakpoint-modified,bkpt={number=\"7\",addr=\"<PENDING>\",times=\"3\"}\n*stopped,reason=\"watchpoint-scope\",wpnum=\"7\"",
		"*stopped,reason=\"watchpoint-trigger\",wpt={number=\"7\"},value={old=\"1\",new=\"2\"}",
		"*stopped,reason=\"signal-received\",signal-name=\"SIGSTOP\"\n*running,thread-id=\"all\"\n*stopped,reason=\"solib-event\"",
		"=thread-group-exited,id=\"i1\"\n*stopped,reason=\"exited\",exit-code=\"07777777777777777777\"",
		"&\"warning: \\377\"\n3^done,threads=[{id=\"1\",state=\"stopped\"}],current-thread-id=\"1\"\n3^error,msg=\"a\"\n*stopped",
	} {
		f.Add(lines)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(f, err)
	f.Cleanup(func() { _ = null.Close() })
	f.Fuzz(func(t *testing.T, lines string) {
		engine := &Engine{child: &child{input: null}, waiting: map[int]func(result){}, halted: make(chan struct{}), hits: map[int]bool{}, phase: running, owed: 1, lastRun: "-exec-continue"}
		engine.placed = map[int]*placed{7: {breakpoint: debug.Breakpoint{ID: 1, Watch: "x", Temporary: true}}, 8: {breakpoint: debug.Breakpoint{ID: 2, Function: "f"}}}
		var notices []debug.Notice
		engine.notices.start(func(notice debug.Notice) { notices = append(notices, notice) })
		for line := range strings.SplitSeq(lines, "\n") {
			if record, err := ParseRecord(line); err == nil {
				engine.apply(record)
			}
		}
		engine.notices.close()
		ends, isRunning := 0, true
		for _, notice := range notices {
			requireBounded(t, notice.Text, notice.Signal)
			if notice.Frame != nil {
				requireBounded(t, notice.Frame.Function, notice.Frame.File, notice.Frame.Module, notice.Frame.Address)
			}
			switch notice.Report {
			case debug.ReportRunning:
				require.False(t, isRunning)
				isRunning = true
			case debug.ReportStopped:
				require.True(t, isRunning)
				isRunning = false
			case debug.ReportExited:
				ends++
				require.True(t, notice.Code == nil || *notice.Code >= 0)
			}
		}
		require.LessOrEqual(t, ends, 1)
	})
}

func requireBounded(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.LessOrEqual(t, len(text), longestValue)
		require.True(t, utf8.ValidString(text))
	}
}

// FuzzValues reads values and types as a debugger might print them.
func FuzzValues(f *testing.F) {
	f.Add("std::map with 1 element = {[1] = 2}", "std::map<int, int>", "m", "1")
	f.Add("@0x7ffd: {a = 1}", "S &", "s(:,2)", "3")
	f.Add("(1,2)", "complex(kind=4)", "z", "x")
	f.Add("0x0", "char *", "p", "*p")
	f.Fuzz(func(t *testing.T, value, typeName, expression, child string) {
		engine := &Engine{}
		variable := engine.variable(debug.Request{}, child, expression, typeName, value)
		requireBounded(t, variable.Name, variable.Value, variable.Type)
		require.LessOrEqual(t, len(variable.Expression), longestValue)
		require.Equal(t, variable.Reference, engine.variable(debug.Request{}, child, expression, typeName, value).Reference)
		_ = isFortran(typeName)
		require.LessOrEqual(t, len(fortranChild(expression, typeName, child)), len(expression)+2*len(typeName)+len(child)+2)
	})
}

// FuzzMappings finds an address in the mappings of a process.
func FuzzMappings(f *testing.F) {
	f.Add("55d0c0a0d000-55d0c0a0e000 r-xp 00001000 08:01 123 /bin/a b\n", uint64(0x55d0c0a0d123))
	f.Add("400000-401000 r-xp 00000000 08:01 1 /bin/fixed\n7f00-", uint64(0x400123))
	f.Fuzz(func(t *testing.T, mappings string, address uint64) {
		_, isAddress := parseAddress(relativeTo(strings.NewReader(mappings), address))
		require.True(t, isAddress)
	})
}

func TestAddressesAreThoseInFiles(t *testing.T) {
	const mappings = "00400000-00401000 r-xp 00000000 08:01 1 /bin/fixed\n" +
		"55d0c0a0c000-55d0c0a0d000 r--p 00000000 08:01 2 /bin/a b\n55d0c0a0d000-55d0c0a0e000 r-xp 00001000 08:01 2 /bin/a b\n55d0c0a0f000-55d0c0a10000 rw-p 00000000 00:00 0 [heap]\n"
	for address, expected := range map[uint64]string{0x400123: "0x400123", 0x55d0c0a0d123: "0x1123", 0x55d0c0a0f001: "0x55d0c0a0f001", 0x55d0c0a0f0000: "0x55d0c0a0f0000"} {
		require.Equal(t, expected, relativeTo(strings.NewReader(mappings), address))
	}
}

func FuzzRequests(f *testing.F) {
	f.Add("main", "a.c", 3, "x", "n == 1", "throw")
	f.Add(`a" -t`, "a\nb", 0, "", "", "")
	f.Fuzz(func(t *testing.T, function, file string, line int, watch, condition, exception string) {
		command, problem := insertion(debug.Breakpoint{ID: 1, Function: function, File: file, Line: line, Watch: watch, Condition: condition, Exception: exception}, "main")
		require.NotEqual(t, command == "", problem == "")
		require.NotContains(t, command, "\n", "it would be two commands")
	})
}
