//go:build linux

package mi_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

const objects = `
#include <vector>
#include <string>
#include <map>
#include <stdexcept>
struct Base { int b = 4; virtual ~Base() {} };
struct Derived : Base {
private: int x = 5;
public: double y = 6.5; static int z;
};
int Derived::z = 9;
namespace inside { int counter = 8; }
int twice(int n) { return 2 * n; }
int fault(int n) { return *(int *)8; }
void work(std::vector<int> &v, const std::string &s, Derived &d, std::map<int, std::string> &m) {
	int local = 1;
	for (int i = 0; i < 3; i++)
		local += v[i];
	try { throw std::runtime_error("oops"); } catch (std::exception &e) {
		local++;
	}
}
int main() {
	std::vector<int> v{1, 2, 3}; std::string s = "hello"; Derived d; std::map<int, std::string> m{{1, "a"}, {2, "b"}};
	work(v, s, d, m);
	return 0;
}`

func TestObjectsAndExceptionsOfCPlusPlus(t *testing.T) {
	path := compile(t, "g++", "objects.cc", objects)
	s, _ := attach(t, path)
	placed := s.place(debug.Breakpoint{ID: 1, Function: "work"}, debug.Breakpoint{ID: 2, Exception: "throw"}, debug.Breakpoint{ID: 3, Exception: "catch", Disabled: true}, debug.Breakpoint{ID: 4, Exception: "panic"})
	require.Equal(t, []debug.Placement{{ID: 1, Verified: true, File: filepath.Join(filepath.Dir(path), "objects.cc"), Line: 16}, {ID: 2, Verified: true}, {ID: 3, Verified: true}, {ID: 4, Text: "gdb cannot stop at this exception"}}, placed)
	require.Equal(t, []int{1}, s.until().Breakpoints)
	arguments := s.ask(debug.Request{Verb: debug.Variables, Text: "arguments"}).Variables
	require.Len(t, arguments, 4)
	require.Equal(t, "std::vector of length 3, capacity 3 = {1, 2, 3}", arguments[0].Value)
	require.Equal(t, debug.Variable{Name: "s", Value: `"hello"`, Type: "const std::string &", Expression: "s"}, arguments[1])
	require.Regexp(t, `^\{<Base> = \{_vptr\.Base = 0x[0-9a-f]+ <vtable for Derived\+16>, b = 4\}, x = 5, y = 6\.5, static z = 9\}$`, arguments[2].Value)

	elements := s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[0].Reference, First: 1, Count: 2})
	require.Equal(t, debug.Answer{Total: 3, Variables: []debug.Variable{{Name: "[1]", Value: "2", Type: "int"}, {Name: "[2]", Value: "3", Type: "int"}}}, elements)
	require.Len(t, s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[0].Reference, Count: 1}).Variables, 1)
	members := s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[2].Reference})
	require.Equal(t, 4, members.Total)
	names := make([]string, len(members.Variables))
	for i, member := range members.Variables {
		names[i] = member.Name
		require.Equal(t, member.Value, s.evaluate(member.Expression).Value, member.Name)
	}
	require.Equal(t, []string{"Base", "y", "z", "x"}, names)
	require.Equal(t, debug.Answer{Total: 4, Variables: members.Variables[2:3]}, s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[2].Reference, First: 2, Count: 1}))
	require.Equal(t, "7", s.ask(debug.Request{Verb: debug.Assign, Reference: arguments[2].Reference, Text: "x", Value: "3 + 4"}).Variables[0].Value)
	require.Equal(t, "7", s.evaluate("d.x").Value)
	pairs := s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[3].Reference}).Variables
	require.Len(t, pairs, 2)
	require.Equal(t, []string{"[1]", `"a"`}, []string{pairs[0].Name, pairs[0].Value})
	require.Equal(t, []string{"[2]", `"b"`}, []string{pairs[1].Name, pairs[1].Value})
	require.Equal(t, debug.Answer{Total: 2, Variables: pairs[1:]}, s.ask(debug.Request{Verb: debug.Variables, Reference: arguments[3].Reference, First: 1, Count: 5}))
	globals := s.ask(debug.Request{Verb: debug.Variables, Text: "globals"}).Variables
	require.Equal(t, []string{"Derived::z", "inside::counter"}, []string{globals[0].Name, globals[1].Name})
	require.Equal(t, "8", globals[1].Value)

	require.True(t, s.place(debug.Breakpoint{ID: 2, Exception: "throw"}, debug.Breakpoint{ID: 5, Watch: "local", Condition: "local == 4"}, debug.Breakpoint{ID: 6, Watch: "d.y", Access: "read", Disabled: true})[1].Verified)
	stop := s.until()
	require.Equal(t, debug.ReasonWatch, stop.Reason)
	require.Equal(t, "2 -> 4", stop.Text)
	require.Equal(t, []int{5}, stop.Breakpoints)
	stop = s.until()
	require.Equal(t, debug.ReasonException, stop.Reason)
	require.Equal(t, []int{2}, stop.Breakpoints)
	require.Equal(t, "__cxa_throw", stop.Frame.Function)
	require.Regexp(t, `^libstdc\+\+`, stop.Frame.Module)
	require.Regexp(t, `^0x[0-9a-f]{4,7}$`, stop.Frame.Address, "it counts from where the library begins")
	stop = s.until()
	require.Equal(t, debug.ReasonWatch, stop.Reason)
	require.Equal(t, "the watched expression is out of scope", stop.Text)
	require.Equal(t, []int{5}, stop.Breakpoints)
	require.Equal(t, 0, *s.until().Code)
}

func TestAFunctionThatTheDebuggerCallsStops(t *testing.T) {
	path := compile(t, "g++", "objects.cc", objects)
	s, _ := attach(t, path)
	s.place(debug.Breakpoint{ID: 1, Function: "work"})
	s.until()
	answer := s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "twice(4)"})
	if strings.Contains(answer.Text, "Couldn't write extended state status") {
		t.Skip("the kernel here does not let gdb call functions")
	}
	require.Equal(t, "8", answer.Variables[0].Value)
	failed := s.Do(within(t), debug.Request{Verb: debug.Evaluate, Text: "fault(1)"})
	require.Equal(t, debug.Failed, failed.Problem)
	require.Equal(t, "work", s.ask(debug.Request{Verb: debug.Stack}).Frames[0].Function, "gdb has left the function")
}

const fortran = `
module state
  integer :: steps = 3
end module
program solver
  use state
  implicit none
  real(8) :: grid(4)
  type point
    integer :: x
    real :: y
  end type
  type(point) :: p
  character(len=5) :: label
  complex :: z
  integer :: table(2,3,2)
  type(point) :: corners(2)
  integer :: i
  p%x = 3
  p%y = 1.5
  label = "hello"
  z = (1.0, 2.0)
  do i = 1, 4
    grid(i) = i * 0.5
  end do
  table = reshape((/ (i, i = 1, 12) /), (/ 2, 3, 2 /))
  corners(2)%x = 8
  steps = steps + 1
  print *, grid
end program
`

func TestProgramsInFortranStopInTheirMainProgram(t *testing.T) {
	path := compile(t, "gfortran", "solver.f90", fortran)
	s, _ := attach(t, path)
	stop := s.toMain()
	require.Equal(t, "solver", stop.Frame.Function)
	require.Equal(t, 19, stop.Frame.Line)
	s.place(debug.Breakpoint{ID: 2, File: "solver.f90", Line: 28})
	require.Equal(t, []int{2}, s.until().Breakpoints)
	values := map[string]debug.Variable{}
	for _, variable := range s.ask(debug.Request{Verb: debug.Variables, Text: "locals"}).Variables {
		values[variable.Name] = variable
	}
	require.Equal(t, "(0.5, 1, 1.5, 2)", values["grid"].Value)
	require.Equal(t, "( x = 3, y = 1.5 )", values["p"].Value)
	require.Equal(t, "'hello'", values["label"].Value)
	require.Zero(t, values["label"].Reference)
	require.Equal(t, "(1,2)", values["z"].Value)
	require.Zero(t, values["z"].Reference)
	elements := s.ask(debug.Request{Verb: debug.Variables, Reference: values["grid"].Reference}).Variables
	require.Len(t, elements, 4)
	require.Equal(t, "1.5", elements[2].Value)
	require.Equal(t, "1.5", s.evaluate(elements[2].Expression).Value)
	fields := s.ask(debug.Request{Verb: debug.Variables, Reference: values["p"].Reference}).Variables
	require.Equal(t, []string{"x", "y"}, []string{fields[0].Name, fields[1].Name})
	require.Equal(t, "1.5", s.evaluate(fields[1].Expression).Value)
	for _, variable := range s.descend([]debug.Variable{values["table"], values["corners"]}, 3) {
		require.Equal(t, variable.Value, s.evaluate(variable.Expression).Value, variable.Expression)
	}
	require.Equal(t, "9", s.ask(debug.Request{Verb: debug.Assign, Text: "p%x", Value: "9"}).Variables[0].Value)
	require.Equal(t, "3", s.evaluate("steps").Value)
}

const threads = `
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
pthread_barrier_t barrier;
int work(int n) {
	return n + 1;
}
void *run(void *x) {
	pthread_barrier_wait(&barrier);
	for (;;) {
		work((int)(long)x);
		usleep(1000);
	}
}
int main() {
	pthread_t made[3];
	pthread_barrier_init(&barrier, 0, 4);
	for (long i = 0; i < 3; i++) pthread_create(&made[i], 0, run, (void *)i);
	pthread_barrier_wait(&barrier);
	puts("ready"); fflush(stdout);
	for (;;) pause();
}`

func TestThreadsAreListedAndSteppedTogether(t *testing.T) {
	path := compile(t, "gcc", "threads.c", threads, "-pthread")
	s, started := attach(t, path)
	s.ask(debug.Request{Verb: debug.Continue})
	require.Eventually(t, func() bool { return started.output.String() != "" }, timeout, pause)
	s.place(debug.Breakpoint{ID: 1, Function: "work"})
	stop := s.next(debug.ReportStopped)
	require.Equal(t, "work", stop.Frame.Function)
	require.Greater(t, stop.Thread, 1)
	listed := s.ask(debug.Request{Verb: debug.Threads}).Threads
	require.Len(t, listed, 4)
	for i, thread := range listed {
		require.Equal(t, i+1, thread.ID)
		require.Equal(t, "program", thread.Name)
		require.NotNil(t, thread.Frame)
		require.Equal(t, thread.ID == stop.Thread, thread.Current)
	}
	frames := s.ask(debug.Request{Verb: debug.Stack, Thread: 1}).Frames
	require.Equal(t, "main", frames[len(frames)-1].Function)
	require.Equal(t, "work", s.ask(debug.Request{Verb: debug.Stack}).Frames[0].Function, "the thread that stopped")
	require.Equal(t, debug.Failed, s.Do(within(t), debug.Request{Verb: debug.Stack, Thread: 99}).Problem)
	s.place()
	for range 5 {
		s.ask(debug.Request{Verb: debug.Step, Text: debug.StepOver})
		require.Equal(t, stop.Thread, s.next(debug.ReportStopped).Thread)
	}
	s.ask(debug.Request{Verb: debug.Continue})
	s.ask(debug.Request{Verb: debug.Halt})
	require.Equal(t, debug.ReasonHalt, s.next(debug.ReportStopped).Reason)
	s.ask(debug.Request{Verb: debug.Detach})
	requireRuns(t, started.pid)
}
