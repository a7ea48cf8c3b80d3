package prompt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/prompt"
)

const rulesOfEight = `
0-7 start => run ; stop main main /src/app.c:3
0-7 source => fail no such file
0-2,5-7 evaluate n => value 8
3 evaluate n => value -1
4 evaluate n => fail no such variable
0-7 continue => run
0-7 halt => stop halt loop /src/app.c:20
0-7 kill => signal SIGKILL
0-7 detach => gone
`

// optionsOf returns options whose end kills the ranks.
func optionsOf(j *fakeJob, in io.Reader, out io.Writer) prompt.Options {
	return prompt.Options{
		In: in, Out: out, Start: &debug.Request{Stop: debug.StopAtMain},
		Kill:    func(ctx context.Context) error { return askAll(ctx, j, debug.Kill) },
		Release: func(ctx context.Context) error { return askAll(ctx, j, debug.Detach) },
	}
}

func TestALongWaitEndsWithTheContextAndKillsTheRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 8, parseRules(t, rulesOfEight))
		defer j.end()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(errors.New("enough")) })
		var out bytes.Buffer
		_, err := prompt.Run(ctx, j.session, optionsOf(j, strings.NewReader("continue\nprint n\n"), &out))
		require.ErrorContains(t, err, "enough")
		require.Equal(t, "0-7", j.session.Ranks(debug.Exited).String())
		require.NotContains(t, out.String(), "no such variable", "commands after the end do not run")
	})
}

// A brokenWriter fails after some writes.
type brokenWriter struct{ left int }

func (w *brokenWriter) Write(text []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(text), nil
}

func TestClosedOutputEndsThePrompt(t *testing.T) {
	for left := range 4 {
		synctest.Test(t, func(t *testing.T) {
			j := newJob(t, 8, parseRules(t, rulesOfEight))
			defer j.end()
			options := optionsOf(j, strings.NewReader("print n\nprint n\nprint n\nprint n\n"), &brokenWriter{left})
			options.IsKept = left%2 == 0
			_, err := prompt.Run(t.Context(), j.session, options)
			require.ErrorIs(t, err, io.ErrClosedPipe)
			require.Equal(t, "0-7", j.session.Ranks(debug.Exited, debug.Released).String())
		})
	}
}

func TestTooLongLinesEndThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 1, parseRules(t, rulesOfEight))
		defer j.end()
		_, err := prompt.Run(t.Context(), j.session, optionsOf(j, strings.NewReader(strings.Repeat("x", 1<<20)), io.Discard))
		require.ErrorContains(t, err, "too long")
	})
}

func TestAJobWithoutRanksSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed := false
		var out bytes.Buffer
		lines := make(chan string, 2)
		lines <- "the job waits in the queue\x1b"
		close(lines)
		_, err := prompt.Run(t.Context(), &debug.Session{}, prompt.Options{
			In: strings.NewReader(""), Out: &out, Log: lines,
			Ready: func(context.Context) error {
				time.Sleep(time.Second)
				return errors.New("the job was canceled")
			},
			Kill: func(context.Context) error { killed = true; return nil },
		})
		require.EqualError(t, err, "the job was canceled")
		require.Equal(t, "the job waits in the queue\\u001b\n", out.String())
		require.True(t, killed, "ranks may come later")
	})
}

func TestRanksThatStopSoonAfterOneAnotherAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 3, parseRules(t, "0-2 start => run ; stop main main /src/app.c:3\n0-2 source => fail no\n0-2 continue => run"))
		defer j.end()
		var out bytes.Buffer
		in, typed := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := prompt.Run(t.Context(), j.session, optionsOf(j, in, &out))
			ended <- err
		}()
		_, err := io.WriteString(typed, "continue &\n")
		require.NoError(t, err)
		synctest.Wait()
		out.Reset()
		for i, delay := range []time.Duration{0, 40, 60} {
			time.Sleep(delay * time.Millisecond)
			j.ranks[i].report("stop", "breakpoint work /src/app.c:9 1")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, "0-1: stopped in work at app.c:9 (breakpoint 1)\n2: stopped in work at app.c:9 (breakpoint 1)\n", out.String())
		require.NoError(t, typed.Close())
		require.NoError(t, <-ended)
	})
}

// Debuggers may need minutes for the symbols of a large program.
func TestASlowStartIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 1, parseRules(t, "0 start => wait 600 ; run ; stop main main /src/app.c:3\n0 source => fail no"))
		defer j.end()
		var out bytes.Buffer
		_, err := prompt.Run(t.Context(), j.session, optionsOf(j, strings.NewReader("ranks"), &out))
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("0: stopped in main at app.c:3 (main)\n", 2), out.String())
	})
}

// All JSON is one object a line, and each command ends with one.
func TestJSONHasAnObjectForEachCommand(t *testing.T) {
	commands := []string{"ranks", "focus 0-3", "break work", "breakpoints", "disable", "print n", "where", "locals", "threads", "list", "help", "bogus", "halt", "raw \x1b", "quit"}
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 8, parseRules(t, rulesOfEight))
		defer j.end()
		var out bytes.Buffer
		options := optionsOf(j, strings.NewReader(strings.Join(commands, "\n")), &out)
		options.JSON = true
		_, err := prompt.Run(t.Context(), j.session, options)
		require.NoError(t, err)
		var ended []string
		for line := range strings.Lines(out.String()) {
			var object map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &object), line)
			if command, isEnd := object["command"].(string); isEnd {
				ended = append(ended, command)
			}
		}
		require.Equal(t, append([]string{"start"}, commands...), ended)
	})
}

// Whatever the user enters, the prompt continues, and the ranks are killed at the end.
func FuzzCommands(f *testing.F) {
	for _, text := range []string{
		"ranks\nfocus 1,3-4\nfocus all", "break a.c:3 if x hits %5 log {x}\nbreakpoints\ndelete 1", "print *p->q[3]", "set x = 3\nset a==b", "c &\nhalt",
		"list x.c:9\nlist\nup 3\nframe 99999999999", "-bogus\n# comment\n&\n-\n- -", "watch x any\ncatch throw\ntbreak 3", "thread 3\nthreads\nargs\nlocals", "help x", "kill", "detach",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		synctest.Test(t, func(t *testing.T) {
			j := newJob(t, 5, parseRules(t, rulesOfEight))
			defer j.end()
			var out bytes.Buffer
			options := optionsOf(j, strings.NewReader(text), &out)
			options.JSON = isJSON
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble; some commands wait for ranks
			defer cancel()
			_, err := prompt.Run(ctx, j.session, options)
			if err != nil {
				require.True(t, errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "too long"), err)
			}
			require.Equal(t, "0-4", j.session.Ranks(debug.Exited, debug.Released).String())
			for _, r := range out.String() {
				require.False(t, r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0, "%q", out.String())
			}
		})
	})
}

func BenchmarkPrint(b *testing.B) {
	for _, size := range []int{1, 64, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rules := fmt.Sprintf("0-%d evaluate n => value 8", size)
			j := newJob(b, size, parseRules(b, rules))
			defer j.end()
			in, typed := io.Pipe()
			answers := make(lineCounter)
			options := optionsOf(j, in, answers)
			options.Start = nil
			ended := make(chan error, 1)
			go func() {
				_, err := prompt.Run(b.Context(), j.session, options)
				ended <- err
			}()
			for b.Loop() {
				if _, err := io.WriteString(typed, "print n\n"); err != nil {
					b.Fatal(err)
				}
				<-answers
			}
			if err := errors.Join(typed.Close(), <-ended); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// Stacks of 4,096 ranks, which are all equal or all different.
func BenchmarkWhere(b *testing.B) {
	const size = 4096
	different := func() string {
		var rules strings.Builder
		for rank := range size {
			fmt.Fprintf(&rules, "%d stack => frame work%d /src/app.c:%d ; frame main /src/app.c:20 ; frame start /src/app.c:30\n", rank, rank, rank)
		}
		return rules.String()
	}
	for name, rules := range map[string]string{
		"equal": fmt.Sprintf("0-%d stack => frame work /src/app.c:1 ; frame main /src/app.c:20 ; frame start /src/app.c:30", size-1), "different": different(),
	} {
		b.Run(name, func(b *testing.B) {
			j := newJob(b, size, parseRules(b, rules))
			defer j.end()
			for b.Loop() {
				options := optionsOf(j, strings.NewReader("where\n"), io.Discard)
				options.Start, options.Kill = nil, func(context.Context) error { return nil }
				if _, err := prompt.Run(b.Context(), j.session, options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A lineCounter passes on each write.
type lineCounter chan struct{}

func (c lineCounter) Write(text []byte) (int, error) {
	c <- struct{}{}
	return len(text), nil
}
