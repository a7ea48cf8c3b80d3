//go:build linux

package mi_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

// A writer writes random programs in C that stop in a function after some calls. Several of them make up
// one executable, because to start a debugger takes longest.
type writer struct {
	*rand.Rand
	strings.Builder
	number     int // of the program in the executable
	structures int
}

// declare writes a variable with a random type and value, and returns its name.
func (w *writer) declare(prefix, name string) {
	switch w.IntN(7) {
	case 0:
		fmt.Fprintf(w, "%sint %s = %d;\n", prefix, name, w.IntN(1<<20)-1<<19)
	case 1:
		fmt.Fprintf(w, "%sdouble %s = %g;\n", prefix, name, w.NormFloat64()*1000)
	case 2:
		fmt.Fprintf(w, "%sunsigned char %s[%d] = {%d, %d, 200};\n", prefix, name, 3+w.IntN(300), w.IntN(256), w.IntN(256))
	case 3:
		fmt.Fprintf(w, "%schar %s[%d] = \"%s\";\n", prefix, name, 20+w.IntN(300), strings.Repeat("text\\n\\t\\\"", w.IntN(3)))
	case 4:
		fmt.Fprintf(w, "%slong long %s[%d][%d] = {{%d}, {1, %d}};\n", prefix, name, 2+w.IntN(30), 2+w.IntN(30), w.Int64(), w.IntN(100))
	case 5:
		fmt.Fprintf(w, "%sint *%s = &anchor + %d;\n", prefix, name, w.IntN(2))
	default:
		fmt.Fprintf(w, "%sstruct s%d_%d %s = {0};\n", prefix, w.number, w.IntN(w.structures), name)
	}
}

// program writes a program and returns how many global and local variables it has.
func (w *writer) program(number int) (globals, locals int) {
	w.number, w.structures = number, 1+w.IntN(3)
	for i := range w.structures {
		name := fmt.Sprintf("struct s%d_%d", number, i)
		fmt.Fprintf(w, "%s { int a; float b[%d]; const char *text; unsigned flag : 3; enum color color; void (*call)(void); union { int i; char c[4]; } u; %s *next;", name, 1+w.IntN(5), name)
		if i > 0 {
			fmt.Fprintf(w, " struct s%d_%d inner[%d];", number, w.IntN(i), 1+w.IntN(3))
		}
		w.WriteString(" };\n")
	}
	globals = 1 + w.IntN(5)
	for i := range globals {
		w.declare([]string{"", "static "}[w.IntN(2)], fmt.Sprintf("g%d_%d", number, i))
	}
	fmt.Fprintf(w, "int call%d(int depth, double x) {\n\tif (depth == 0) { stop_here(); return 0; }\n", number)
	locals = 2 + w.IntN(6)
	for i := range locals {
		w.declare("\t", fmt.Sprintf("v%d", i))
	}
	fmt.Fprintf(w, "\treturn call%d(depth - 1, x / 3) + 1;\n}\n", number)
	return globals, locals
}

var (
	addresses = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	castings  = regexp.MustCompile(`^\((?:const )?[\w ]+\*\) `)
)

// masked returns a value without the parts that differ between two processes.
func masked(value string) string { return addresses.ReplaceAllString(value, "ADDRESS") }

// A stop is a stop as an engine and a bare debugger report it.
type stop struct {
	variables []debug.Variable
	frames    []debug.Frame
	values    []string
	types     []string
	stack     []string
}

// askBare lets gdb run an executable to the same places and evaluate the same expressions.
func askBare(t *testing.T, path string, stops []stop) {
	t.Helper()
	const mark = "@@"
	arguments := []string{"-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set width 0", "-ex", "break stop_here", "-ex", "run"}
	add := func(command string) { arguments = append(arguments, "-ex", "echo "+mark, "-ex", command) }
	for _, stop := range stops {
		add("backtrace")
		add("frame 2")
		for _, variable := range stop.variables {
			add("output " + variable.Expression)
			add("whatis " + variable.Expression)
		}
		add("continue")
	}
	output, err := exec.Command("gdb", append(arguments, path)...).Output()
	require.NoError(t, err)
	parts := strings.Split(string(output), mark)[1:]
	for i := range stops {
		stop := &stops[i]
		require.Greater(t, len(parts), 2+2*len(stop.variables), "%s", output)
		stop.stack = strings.Split(strings.TrimSpace(parts[0]), "\n")
		parts = parts[2:]
		for range stop.variables {
			stop.values = append(stop.values, castings.ReplaceAllString(parts[0], ""))
			stop.types = append(stop.types, strings.TrimSuffix(strings.TrimPrefix(parts[1], "type = "), "\n"))
			parts = parts[2:]
		}
		parts = parts[1:]
	}
}

// descend adds the expressions of the children of variables.
func (s session) descend(variables []debug.Variable, depth int) []debug.Variable {
	all := variables
	for _, variable := range variables {
		if variable.Reference > 0 && depth > 0 && variable.Type != "void (*)(void)" {
			children := s.ask(debug.Request{Verb: debug.Variables, Reference: variable.Reference, Count: 4}).Variables
			all = append(all[:len(all):len(all)], s.descend(children, depth-1)...)
		}
	}
	return all
}

func TestRandomProgramsGiveWhatABareDebuggerGives(t *testing.T) {
	const executables, programs = 5, 6
	for seed := range uint64(executables) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 26))}
		w.WriteString("enum color { RED, GREEN };\nint anchor = 5;\nvoid stop_here(void) {}\n")
		allGlobals, locals, calls := 1, make([]int, programs), ""
		for i := range programs {
			var globals int
			globals, locals[i] = w.program(i)
			allGlobals += globals
			calls += fmt.Sprintf("\tcall%d(%d, 2.5);\n", i, 1+w.IntN(8))
		}
		w.WriteString("int main() {\n" + calls + "}\n")
		path := compile(t, "gcc", "random.c", w.String())
		s, _ := attach(t, path)
		s.place(debug.Breakpoint{ID: 1, Function: "stop_here"})
		stops := make([]stop, programs)
		for i := range stops {
			require.Equal(t, []int{1}, s.until().Breakpoints)
			stops[i] = s.read(t, locals[i], allGlobals)
		}
		askBare(t, path, stops)
		for i, stop := range stops {
			stop.requireEqual(t, fmt.Sprintf("%d %d", seed, i))
		}
		s.Close()
	}
}

// read reads all there is at a stop.
func (s session) read(t *testing.T, locals, globals int) stop {
	t.Helper()
	found := s.ask(debug.Request{Verb: debug.Variables, Frame: 2, Text: "locals"}).Variables
	require.Len(t, found, locals)
	outside := s.ask(debug.Request{Verb: debug.Variables, Frame: 2, Text: "globals"}).Variables
	require.Len(t, outside, globals)
	arguments := s.ask(debug.Request{Verb: debug.Variables, Frame: 2, Text: "arguments"}).Variables
	require.Len(t, arguments, 2)
	read := stop{variables: s.descend(append(append(found, outside...), arguments...), 2), frames: s.ask(debug.Request{Verb: debug.Stack}).Frames}
	for _, variable := range read.variables {
		require.NotEmpty(t, variable.Expression)
		again := s.ask(debug.Request{Verb: debug.Evaluate, Frame: 2, Text: variable.Expression}).Variables[0]
		require.Equal(t, []string{variable.Value, variable.Type}, []string{again.Value, again.Type}, variable.Expression)
	}
	return read
}

// requireEqual checks that both debuggers say the same.
func (s stop) requireEqual(t *testing.T, name string) {
	t.Helper()
	for i, variable := range s.variables {
		require.Equal(t, masked(s.values[i]), masked(variable.Value), "%s: %s", name, variable.Expression)
		require.Equal(t, s.types[i], variable.Type, "%s: %s", name, variable.Expression)
	}
	require.Len(t, s.stack, len(s.frames))
	for i, frame := range s.frames {
		require.Contains(t, s.stack[i], " "+frame.Function+" (")
		require.Contains(t, s.stack[i], fmt.Sprintf("at %s:%d", filepath.Base(frame.File), frame.Line))
	}
}
