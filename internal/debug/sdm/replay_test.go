package sdm

import (
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/proxy"
)

// The master answers the commands of captured sessions of the original debugger with the same events. Only
// output, addresses, the depths that the original did not find, and one code of an error differ.
func TestCapturedSessionsGetTheSameEvents(t *testing.T) {
	for name, program := range map[string]play{
		"testdata/step.txt":  {line: 3, codes: []int{6, 6}},
		"testdata/gdb13.txt": {line: 4, codes: []int{2, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			c := startMaster(t, 2, program.answer)
			expected := map[string]int{} // the ranks as bits, by event
			got := map[string]int{}
			settle := func() {
				for !covers(got, expected) {
					select {
					case frame, isOpen := <-c.frames:
						require.True(t, isOpen)
						note(t, got, frame)
					case <-time.After(10 * time.Second):
						require.Equal(t, keys(expected), keys(got), "no further event in time")
					}
				}
				require.Equal(t, keys(expected), keys(got))
			}
			for _, each := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				line, err := proxy.ParseLine(each)
				require.NoError(t, err)
				switch {
				case line.Closed:
				case line.FromAgent:
					note(t, expected, line.Frame)
				default:
					settle()
					require.NoError(t, c.writer.Write(line.Frame))
				}
			}
			require.NoError(t, <-c.ended)
			_, isOpen := <-c.frames
			require.False(t, isOpen, "the connection ends after QUIT")
		})
	}
}

var address = regexp.MustCompile(`^0x[0-9a-f]+$`)

// note adds an event, unless it is output.
func note(t *testing.T, events map[string]int, frame proxy.Frame) {
	t.Helper()
	if frame.ID == eventOutput {
		return
	}
	words := []string{strconv.Itoa(int(frame.ID)), strconv.Itoa(int(frame.Transaction))}
	arguments := frame.Arguments[1:]
	for i, argument := range arguments {
		isDepth := frame.ID == eventSuspend && i == len(arguments)-2
		isNotRunning := frame.ID == eventError && strings.HasSuffix(arguments[len(arguments)-1], "The program is not being run.")
		switch {
		case address.MatchString(argument):
			argument = "ADDRESS"
		case isDepth:
			argument = "DEPTH"
		case isNotRunning || frame.ID == eventError && argument == "The program is not being run" || argument == "19":
			argument = "NOT RUNNING"
		}
		words = append(words, argument)
	}
	digits := frame.Arguments[0][strings.Index(frame.Arguments[0], ":")+1:]
	bits, err := strconv.ParseInt(digits, 16, 32)
	require.NoError(t, err)
	events[strings.Join(words, " ")] |= int(bits)
}

func covers(got, expected map[string]int) bool {
	for event, ranks := range expected {
		if got[event] != ranks {
			return false
		}
	}
	return true
}

func keys(events map[string]int) []string {
	var all []string
	for event, ranks := range events {
		all = append(all, event+" "+strconv.Itoa(ranks))
	}
	sort.Strings(all)
	return all
}
