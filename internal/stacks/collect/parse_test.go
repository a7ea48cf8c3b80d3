package collect

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stacks"
)

func TestTracebacksAreParsed(t *testing.T) {
	calls := parseTraceback("Traceback (most recent call first):\n  <built-in method sleep of module object at remote 0x7f>\n  File \"/a \", line 3, in x.py\", line 5, in deepest\n    time.sleep(1)\n  File \"/a.py\", line x, in f\n  File \"/a.py\", line 9, in <module>\n")
	require.Equal(t, []stacks.Frame{{Function: "<module>", File: "/a.py", Line: 9, Python: true}, {Function: "deepest", File: "/a \", line 3, in x.py", Line: 5, Python: true}}, calls)
}

func TestPythonReplacesTheInterpretersCalls(t *testing.T) {
	c := func(names ...string) (frames []stacks.Frame) {
		for _, name := range names {
			frames = append(frames, stacks.Frame{Function: name})
		}
		return frames
	}
	require.Equal(t, c("f", "g", "select"), join(c("f", "g"), c("main", "_PyEval_EvalFrameDefault", "call", "_PyEval_EvalFrameDefault.cold", "select")))
	require.Equal(t, c("main", "PyEval_EvalFrameEx"), join(nil, c("main", "PyEval_EvalFrameEx")))
}

func TestReasonsSayWhatHelps(t *testing.T) {
	for scope, want := range map[string]string{"1": "--track", "2": "root", "3": "restarts", "0": "another user", "": "another user"} {
		require.Contains(t, forbidden(scope), want)
	}
}

func FuzzTraceback(f *testing.F) {
	f.Add("  File \"/a.py\", line 5, in f\n")
	f.Add("  File \"\", line 5\n  File \", line , in \xff")
	f.Fuzz(func(t *testing.T, printed string) {
		for _, call := range parseTraceback(printed) {
			require.True(t, call.Python)
			require.GreaterOrEqual(t, call.Line, 0)
		}
	})
}

func FuzzPySpy(f *testing.F) {
	f.Add([]byte(`[{"os_thread_id":3,"thread_name":"MainThread","frames":[{"name":"f","filename":"a.py","line":3}]}]`))
	f.Add([]byte(`[{"os_thread_id":null,"frames":[{"line":-1}]}]`))
	f.Fuzz(func(t *testing.T, printed []byte) {
		threads, _ := parseSpy(printed)
		for _, thread := range threads {
			for _, call := range thread.calls() {
				require.GreaterOrEqual(t, call.Line, 0)
			}
		}
	})
}

// smallCore returns a core file with notes and a part of memory.
func smallCore() []byte {
	var file bytes.Buffer
	word := func(values ...any) {
		for _, value := range values {
			_ = binary.Write(&file, binary.LittleEndian, value)
		}
	}
	memory := "argument\x00PMI_RANK=3\x00A=b\x00/bin/sh\x00\x00"
	notes := func() []byte {
		before := file
		file = bytes.Buffer{}
		word(uint32(5), uint32(32), uint32(noteAuxiliary))
		file.WriteString("CORE\x00\x00\x00\x00")
		word(uint64(auxiliaryName), uint64(0x1000+24), uint64(0), uint64(0))
		made := file.Bytes()
		file = before
		return made
	}()
	file.WriteString("\x7fELF\x02\x01\x01" + string(make([]byte, 9)))
	word(uint16(4), uint16(62), uint32(1), uint64(0), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(2), uint16(0), uint16(0), uint16(0))
	begin := uint64(64 + 2*56)
	word(uint32(4), uint32(4), begin, uint64(0), uint64(0), uint64(len(notes)), uint64(len(notes)), uint64(4))
	word(uint32(1), uint32(4), begin+uint64(len(notes)), uint64(0x1000), uint64(0), uint64(len(memory)), uint64(len(memory)), uint64(1))
	file.Write(notes)
	file.WriteString(memory)
	return file.Bytes()
}

func TestCoresHaveTheirEnvironment(t *testing.T) {
	found := parseCore(bytes.NewReader(smallCore()))
	require.NoError(t, found.err)
	require.Equal(t, "/bin/sh", found.executable)
	require.Equal(t, map[string]string{"PMI_RANK": "3", "A": "b"}, found.environment)
}

func FuzzCore(f *testing.F) {
	f.Add(smallCore())
	f.Fuzz(func(t *testing.T, content []byte) {
		found := parseCore(bytes.NewReader(content))
		require.True(t, found.err != nil || found.executable[0] == '/')
	})
}
