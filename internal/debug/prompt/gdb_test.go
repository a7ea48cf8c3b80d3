package prompt_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/debug/prompt"
	"github.com/rmctl/rmctl/internal/debug/server"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		guard.Serve(context.Background(), os.Stdin, os.Stdout, guard.Silence)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const programText = `#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
  int square = n * n;
  return square;
}

int main(void) {
  int rank = atoi(getenv("RANK"));
  printf("hello\n");
  fflush(stdout);
  int sum = 0;
  for (int i = 0; i < 3; i++)
    sum += work(rank / 2 + i);
  volatile int *nowhere = 0;
  if (rank == 3)
    *nowhere = 1;
  for (int endless = getenv("ENDLESS") != 0; endless;)
    sum++;
  return rank == 2 ? 7 : sum > 1000;
}
`

// compile returns the path of the program for the ranks.
func compile(t *testing.T) string {
	t.Helper()
	for _, needed := range []string{"gcc", "gdb"} {
		if _, err := exec.LookPath(needed); err != nil {
			if os.Getenv("RMCTL_CLUSTERS") == "1" {
				require.NoError(t, err)
			}
			t.Skipf("needs %s", needed)
		}
	}
	folder := t.TempDir()
	source, program := filepath.Join(folder, "app.c"), filepath.Join(folder, "app")
	require.NoError(t, os.WriteFile(source, []byte(programText), 0o600))
	out, err := exec.Command("gcc", "-g", "-O0", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// serveRanks starts servers with gdb, whose ranks are in a session.
func serveRanks(t *testing.T, program string, size int) *debug.Session {
	t.Helper()
	session := &debug.Session{}
	var servers sync.WaitGroup
	t.Cleanup(servers.Wait)
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	for rank := range size {
		near, far := net.Pipe()
		options := server.Options{
			Rank: rank, Size: size, Host: "n1", Debugger: "gdb", Environment: append(os.Environ(), fmt.Sprint("RANK=", rank)),
			Guard: []string{os.Args[0], "guard"}, Find: exec.LookPath, Program: &debug.Program{Arguments: []string{program}},
			WhenLeft: server.End, Linger: 5 * time.Second, Output: output, Errors: output,
			Open: func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
				return mi.OpenEngine(ctx, mi.EngineOptions{Rank: rank, Notify: notify})
			},
		}
		servers.Go(func() {
			if _, err := server.Serve(context.Background(), far, options); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
		join(t, session, near)
	}
	return session
}

// join adds the rank at the other end of a connection to a session.
func join(t *testing.T, session *debug.Session, conn net.Conn) {
	t.Helper()
	lines := make(chan []byte, 1000)
	var tasks sync.WaitGroup
	t.Cleanup(func() {
		close(lines)
		_ = conn.Close()
		tasks.Wait()
	})
	tasks.Go(func() {
		for line := range lines {
			_, _ = conn.Write(line)
		}
	})
	member := session.Join(func(line []byte) error {
		lines <- line
		return nil
	})
	joined := make(chan struct{})
	tasks.Go(func() {
		scanner := bufio.NewScanner(conn)
		scanner.Buffer(nil, debug.MostLine)
		for isFirst := true; scanner.Scan(); isFirst = false {
			if member.Receive(scanner.Bytes()) != nil {
				break
			}
			if isFirst {
				close(joined)
			}
		}
		member.Leave("the connection has ended")
	})
	select {
	case <-joined:
	case <-time.After(patience):
		require.Fail(t, "the rank does not join")
	}
}

// debugs runs commands, and returns the output. States of ranks may take several lines, and output may come
// after a stop.
func debugs(t *testing.T, session *debug.Session, commands ...string) (answers, states, printed string) {
	t.Helper()
	var out bytes.Buffer
	all := func(verb debug.Verb) func(context.Context) error {
		return func(ctx context.Context) error {
			session.Ask(ctx, debug.Question{Ranks: session.Ranks(debug.Ready, debug.Running, debug.Stopped), Request: debug.Request{Verb: verb}})
			return nil
		}
	}
	code, err := prompt.Run(t.Context(), session, prompt.Options{
		In: strings.NewReader(strings.Join(commands, "\n")), Out: &out, Start: &debug.Request{Stop: debug.StopAtMain}, Kill: all(debug.Kill), Release: all(debug.Detach),
	})
	require.NoError(t, err)
	require.Zero(t, code)
	isState := regexp.MustCompile(`^[0-9,-]+: (stopped in|exited with|ended by) `)
	for line := range strings.Lines(out.String()) {
		switch {
		case isState.MatchString(line):
			states += line
		case strings.HasPrefix(line, "["):
			printed += line
		default:
			answers += line
		}
	}
	return answers, states, printed
}

func TestRanksUnderGDB(t *testing.T) {
	session := serveRanks(t, compile(t), 4)
	answers, states, printed := debugs(t, session,
		"break work if $rank >= 2 || n == 0", "breakpoints", "continue", "print n", "where", "args", "up", "print rank", "locals", "list 1", "frame 0",
		"focus 0-1", "finish", "next", "print sum", "set sum = 5", "print sum", "focus all", "delete", "threads", "raw output 6*7",
		"continue", "ranks", "print rank", "focus 3", "kill")
	require.Equal(t, `10	  int rank = atoi(getenv("RANK"));
breakpoint 1: work if $rank >= 2 || n == 0
  0-3: app.c:5
1  work if $rank >= 2 || n == 0
   0-3: app.c:5
5	  int square = n * n;
0-1: 0 | 2-3: 1
0-3:
  >#0 work at app.c:5
   #1 main at app.c:15
n = 0-1: 0 | 2-3: 1
0-3: #1 main at app.c:15
0: 0 | 1: 1 | 2: 2 | 3: 3
i = 0
rank = 0: 0 | 1: 1 | 2: 2 | 3: 3
sum = 0
nowhere = 0x0
1	#include <stdio.h>
2	#include <stdlib.h>
3	
4	static int work(int n) {
5	  int square = n * n;
6	  return square;
7	}
8	
9	int main(void) {
10	  int rank = atoi(getenv("RANK"));
11	  printf("hello\n");
0-3: #0 work at app.c:5
focus: 0-1
15	    sum += work(rank / 2 + i);
14	  for (int i = 0; i < 3; i++)
0-1: 0
0-1: 5
0-1: 5
focus: all ranks (0-3)
0-1: * 1 app main at app.c:14 | 2-3: * 1 app work at app.c:5
0-3: 42
18	    *nowhere = 1;
focus: 3
`, answers)
	require.Regexp(t, `^(\[[0-9,-]+\] hello\n)+$`, printed)
	require.Contains(t, states, "0-1: exited with code 0\n2: exited with code 7\n3: stopped in main at app.c:18 by SIGSEGV\n")
	require.Contains(t, states, "0-1: exited with code 0 | 2: exited with code 7 | 3: 3\n")
	require.Contains(t, states, "3: ended by SIGKILL\n")
}

func TestRunningRanksUnderGDBAreHalted(t *testing.T) {
	t.Setenv("ENDLESS", "1")
	session := serveRanks(t, compile(t), 4)
	answers, states, _ := debugs(t, session, "focus 0-2", "break 20", "continue", "delete", "continue &", "print rank", "break 5", "halt", "print rank", "focus 3", "frame", "quit")
	require.Contains(t, answers, "20	    sum++;\nerror: 0-2: the process is running\n")
	require.Contains(t, answers, "  0-3: app.c:5\n", "breakpoints are set while ranks run")
	require.Contains(t, answers, "0: 0 | 1: 1 | 2: 2\nfocus: 3\n3: #0 main at app.c:10\n")
	require.NotContains(t, states, "exited")
}
