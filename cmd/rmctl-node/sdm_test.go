package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/proxy"
)

const sdmSource = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum color { RED, GREEN = 5 };
struct point { int x; double y; };
struct shape { struct point at; enum color color; char name[8]; struct shape *next; };
union both { int i; double d; };
static int work(int n) {
	struct shape shape = {{n, 1.5}, GREEN, "box", 0};
	struct shape other = {{2, 2.5}, RED, "in", &shape};
	int numbers[3] = {1, -2, n};
	unsigned char byte = 200;
	char *text = "hello";
	union both both;
	size_t size = 7;
	both.d = 2.0;
	int j = n + 1;
	j += numbers[2] + other.color + byte + size + (int)both.d + text[0];
	return j;
}
int main(int argc, char **argv) {
	setvbuf(stdout, NULL, _IONBF, 0);
	int rank = atoi(getenv("PMI_RANK"));
	printf("rank %d ", rank);
	printf("has %s\n", argv[1]);
	int result = work(rank + 3);
	if (argc > 2) for (;;) ;
	return result > 0 ? rank + 4 : 1;
}
`

// An sdmRun is a master and servers as a client of Eclipse PTP starts them.
type sdmRun struct {
	t         *testing.T
	directory string
	program   string
	conn      net.Conn
	reader    *proxy.Reader
	writer    *proxy.Writer
	master    *exec.Cmd
	servers   []*exec.Cmd
	size      int
	output    strings.Builder
}

// startSDM starts a master and servers, and accepts the connection of the master.
func startSDM(t *testing.T, size int) *sdmRun {
	t.Helper()
	for _, needed := range []string{"gdb", "gcc"} {
		if _, err := exec.LookPath(needed); err != nil {
			if os.Getenv("RMCTL_CLUSTERS") == "1" {
				require.Fail(t, needed+" is not installed")
			}
			t.Skipf("%s is not installed: testdata/clusters/install.sh installs it", needed)
		}
	}
	r := &sdmRun{t: t, directory: t.TempDir(), size: size}
	r.program = filepath.Join(r.directory, "app")
	require.NoError(t, os.WriteFile(r.program+".c", []byte(sdmSource), 0o600))
	output, err := exec.Command("gcc", "-g", "-O0", "-w", "-o", r.program, r.program+".c").CombinedOutput()
	require.NoError(t, err, "%s", output)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	node := rmctltest.NodeProgram(t, installation)
	start := func(environment string, words ...string) *exec.Cmd {
		command := exec.Command(node, append([]string{"sdm"}, words...)...)
		command.Dir, command.Env, command.Stderr = r.directory, append(os.Environ(), environment), os.Stderr
		require.NoError(t, command.Start())
		t.Cleanup(func() {
			_ = command.Process.Kill() // most have ended
			_ = command.Wait()
		})
		return command
	}
	options := []string{"--port=" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), "--host=127.0.0.1", "--debugger=gdb-mi"}
	for rank := range size {
		r.servers = append(r.servers, start(fmt.Sprintf("PMI_RANK=%d", rank), options...))
	}
	hosts := strings.TrimSuffix(strings.Repeat("127.0.0.1,", size), ",")
	r.master = start("X=", append([]string{"--master", "--generate_routes=" + hosts}, options...)...)
	require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
	r.conn, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.conn.Close() })
	r.reader, r.writer = proxy.NewReader(r.conn), proxy.NewWriter(r.conn)
	return r
}

// send sends a command to all ranks.
func (r *sdmRun) send(id uint16, transaction uint32, arguments ...string) {
	r.t.Helper()
	if id > 1 {
		arguments = append([]string{r.all()}, arguments...)
	}
	require.NoError(r.t, r.writer.Write(proxy.Frame{ID: id, Transaction: transaction, Arguments: arguments}))
}

func (r *sdmRun) all() string { return fmt.Sprintf("%x:%02x", r.size, 1<<r.size-1) }

// next returns the next event that is no output: its id, process set and arguments.
func (r *sdmRun) next() string {
	r.t.Helper()
	require.NoError(r.t, r.conn.SetReadDeadline(time.Now().Add(patience)))
	for {
		frame, err := r.reader.Read()
		require.NoError(r.t, err)
		if frame.ID == 110 {
			r.output.WriteString(frame.Arguments[0] + " " + frame.Arguments[1])
			continue
		}
		return fmt.Sprint(frame.ID, " ", strings.Join(frame.Arguments, " "))
	}
}

// expect checks the next events for all ranks, which may come apart.
func (r *sdmRun) expect(pattern string) {
	r.t.Helper()
	missing := 1<<r.size - 1
	for missing > 0 {
		event := r.next()
		id, rest, _ := strings.Cut(event, " ")
		set, rest, _ := strings.Cut(rest, " ")
		require.Regexp(r.t, regexp.MustCompile("^"+pattern+"$"), strings.TrimSpace(id+" "+rest))
		bits, err := strconv.ParseInt(set[strings.Index(set, ":")+1:], 16, 32)
		require.NoError(r.t, err)
		missing &^= int(bits)
	}
}

// One session with a real gdb, from the start to the end of the program.
func TestAClientOfPTPDebugsProgramsWithGDB(t *testing.T) {
	t.Parallel()
	r := startSDM(t, 2)
	r.send(1, 1, "app", r.directory, r.directory, "arg")
	r.expect("111")
	r.send(3, 2, "0", "1", "0", "app.c", "main", "", "0", "0")
	r.expect(`104 0 0 0 0 0 breakpoint app.c main 0x0+ 2\d 0`)
	r.send(10, 3)
	r.expect("111")
	r.expect(`113 3 0 app.c main 0x0+ 2\d 1 1 0`)
	r.send(2, 4, "1", "0", "0", "app.c", "18", "", "0", "0")
	r.expect(`104 1 1 0 0 0 breakpoint app.c \w* ?0x0+ 18 0`)
	r.send(3, 5, "2", "0", "0", "", "nosuch", "", "0", "0")
	r.expect(`112 11 Function "nosuch" not defined.*`)
	r.send(10, 6)
	r.expect("111")
	r.expect("113 0 1 1 2 0")
	r.send(14, 7, "0", "1")
	r.expect(`105 2 0 app.c work 0x0+ 18 1 app.c main 0x0+ 2\d`)
	r.send(19, 8, "0", "0")
	r.expect("109 1 n")
	r.send(16, 9, "byte")
	r.expect("106 c c8 unsigned char")
	r.send(16, 10, "numbers")
	r.expect(`106 \[r0..2is4\]is4 00000001fffffffe0000000[34] int \[3\]`)
	r.send(16, 11, "shape.at")
	r.expect(`106 \{point\|x=is4,y=f8;;;\} 0000000[34]3ff8000000000000 struct point`)
	r.send(16, 12, "shape.color")
	r.expect(`106 <color\|GREEN=5>is4 00000005 enum color`)
	r.send(16, 13, "text")
	r.expect(`106 pa8 0000[0-9a-f]{12}00072268656c6c6f22 char \*`)
	r.send(16, 14, "both")
	r.expect(`106 \(both\|i=is4,d=f8\) 000000004000000000000000 union both`)
	r.send(30, 15, "shape", "", "0", "0")
	r.expect(`106 \{shape\|;;;\} 00 struct shape var1`)
	r.send(30, 16, "other.next", "", "1", "0")
	r.expect(`106 \{shape\|at=\{point\|;;;\},color=<color\|GREEN=5>is4,name=s,next=\^a8v0;;;\} 00000005001\w+ struct shape var2`)
	r.send(17, 17, "shape")
	r.expect("107 struct shape")
	r.send(16, 18, "size")
	r.expect(`106 is8 0000000000000007 size_t`)
	r.send(16, 19, "nosuch")
	r.expect(`112 39 Unknown variable: "nosuch"`)
	r.send(23, 20)
	r.expect("116 2")
	r.send(21, 21)
	r.expect("114 1 1 1")
	r.send(24, 22, "0", "&numbers[0]", "x", "4", "1", "2", ".")
	r.expect(`117 0x\w+ \d+ \d+ \d+ \d+ 8 8 1 0x\w+ [. ]+ 2 0x00000001 0xfffffffe`)
	r.send(15, 23, "1")
	r.expect("111")
	r.send(18, 24)
	r.expect("108 2 (rank result|result rank)")
	r.send(11, 25, "1", "2")
	r.expect("111")
	r.expect(`113 2 0 app.c main 0x0+ 2\d 1 1 2 var1 var2`)
	r.send(4, 26, "1")
	r.expect("111")
	r.send(10, 27)
	r.expect("111")
	r.expect("102 0 [45]")
	r.send(11, 28, "1", "1")
	r.expect("112 19 The program is not being run")
	require.Contains(t, r.output.String(), "2:01 rank 0 has arg\n")
	require.Contains(t, r.output.String(), "2:02 rank 1 has arg\n")
	r.send(0, 29)
	require.NoError(t, r.master.Wait())
	for rank, server := range r.servers {
		_ = server.Wait() // by its code
		require.Equal(t, rank+4, server.ProcessState.ExitCode())
	}
	require.NoFileExists(t, filepath.Join(r.directory, "routing_file.secret"))
}

// Whoever is killed, no process stays stopped, and the program ends.
func TestProgramsOfPTPEndWithTheDebugger(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(r *sdmRun){
		"client":  func(r *sdmRun) { _ = r.conn.Close() },
		"master":  func(r *sdmRun) { _ = r.master.Process.Kill() },
		"servers": func(r *sdmRun) { _ = r.servers[0].Process.Kill(); _ = r.servers[1].Process.Kill() },
		"quit":    func(r *sdmRun) { r.send(0, 9) },
	} {
		for _, isRunning := range []bool{false, true} {
			t.Run(fmt.Sprint(name, isRunning), func(t *testing.T) {
				t.Parallel()
				r := startSDM(t, 2)
				r.send(1, 1, "app", r.directory, r.directory, "arg", "endless")
				r.expect("111")
				if isRunning {
					r.send(10, 2)
					r.expect("111")
				}
				pids := programsIn(r.directory)
				require.Len(t, pids, 2)
				kill(r)
				for _, pid := range pids {
					require.Eventually(t, func() bool {
						status, exists := guard.ReadStatus(pid)
						return !exists || status.HasEnded()
					}, patience, 50*time.Millisecond, name)
					_ = syscall.Kill(pid, syscall.SIGKILL) // the rest has ended
				}
			})
		}
	}
}

// programsIn returns the processes of the program app in a folder.
func programsIn(folder string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is valid
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == filepath.Join(folder, "app") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}
