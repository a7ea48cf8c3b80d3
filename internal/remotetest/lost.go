package remotetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// soon is how long anything may take that a place which is gone, or does not
// answer, must not hold.
const soon = 10 * time.Second

// RunLost tests what becomes of work when its place vanishes. Open returns a
// connection for itself, and what cuts it off from its place without ending it;
// the suite closes it. A connection that was cut off may be one that connects
// again: then further calls succeed.
func RunLost(t *testing.T, open func(t *testing.T) (connection remote.Connection, cut func())) {
	HeedHangUps()
	tests := []struct {
		name string
		test func(t *testing.T, l *loss)
	}{
		{"while commands start", testLostStart},
		{"while commands run", testLostRunning},
		{"while a command prints", func(t *testing.T, l *loss) { testLostPrinting(t, l, nil) }},
		{"while a command prints on a terminal", func(t *testing.T, l *loss) { testLostPrinting(t, l, &remote.Terminal{}) }},
		{"while a command gets input", testLostInput},
		{"while a file is written", func(t *testing.T, l *loss) { testLostWrite(t, l, "new") }},
		{"while a file is replaced", func(t *testing.T, l *loss) { testLostWrite(t, l, "kept") }},
		{"before a file that was written has its name", testLostRename},
		{"while a file is read", testLostRead},
		{"while a terminal is open", testLostTerminal},
		{"while it listens", testLostListener},
		{"while nothing happens", func(t *testing.T, l *loss) { l.lose(); l.tryFurther(t) }},
		{"while it is closed", testLostClose},
	}
	goroutinesEnd(t)
	for _, one := range tests {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.test(t, newLoss(t, open))
		})
	}
}

// loss is a connection that is about to be lost, and another one that sees what
// is left at the place.
type loss struct {
	connection remote.Connection
	lose       func()
	witness    *suite
	place      string // a directory with the file "kept", which holds "old"
}

func newLoss(t *testing.T, open func(t *testing.T) (remote.Connection, func())) *loss {
	t.Helper()
	witness, _ := open(t)
	t.Cleanup(func() { require.NoError(t, witness.Close()) })
	l := &loss{witness: &suite{connection: witness}}
	l.place = l.witness.temporaryDirectory(t)
	l.witness.writeFile(t, l.place+"/kept", "old", 0o600)
	l.connection, l.lose = open(t)
	t.Cleanup(func() { requireSoon(t, "closing", func() { requireLostOrNil(t, l.connection.Close()) }) })
	return l
}

// requireSoon does what must not hang.
func requireSoon(t *testing.T, name string, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	impatience := time.NewTimer(soon)
	defer impatience.Stop()
	select {
	case <-done:
	case <-impatience.C:
		require.FailNow(t, name+" takes too long")
	}
}

// waitSoon waits for a process that must not hang.
func waitSoon(t *testing.T, process remote.Handle) (code int, err error) {
	t.Helper()
	requireSoon(t, "waiting for a process", func() { code, err = process.Wait() })
	return code, err
}

func requireLost(t *testing.T, process remote.Handle) {
	t.Helper()
	code, err := waitSoon(t, process)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, -1, code)
	requireSoon(t, "signalling", func() {
		requireLostOrNil(t, process.Signal(15))
		process.Terminate()
	})
}

func requireLostOrNil(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		require.ErrorIs(t, err, remote.ErrUnreachable)
	}
}

// tryFurther makes calls after the loss: they fail at once, or succeed over a
// new connection.
func (l *loss) tryFurther(t *testing.T) {
	t.Helper()
	ctx := timeLimit(t)
	for name, call := range map[string]func() error{
		"Start": func() error { return startAndWait(ctx, l.connection) },
		"Stat":  func() error { _, err := l.connection.Stat(ctx, l.place); return err },
		"Open": func() error {
			file, err := l.connection.Open(ctx, l.place+"/kept")
			if err == nil {
				err = file.Close()
			}
			return err
		},
		"WriteFile": func() error { return l.connection.WriteFile(ctx, l.place+"/after", strings.NewReader("x"), 0o600) },
		"MkdirAll":  func() error { return l.connection.MkdirAll(ctx, l.place, 0o700) },
		"Chmod":     func() error { return l.connection.Chmod(ctx, l.place, 0o700) },
		"Remove": func() error {
			err := l.connection.Remove(ctx, l.place+"/absent")
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // the place said so
			}
			return err
		},
	} {
		var err error
		requireSoon(t, name, func() { err = call() })
		requireLostOrNil(t, err)
	}
	require.NotEmpty(t, l.connection.Info().Home, "what is known of the place stays known")
}

// startAndWait runs a command to its end.
func startAndWait(ctx context.Context, connection remote.Connection) error {
	process, err := connection.Start(ctx, remote.Command{Arguments: []string{"true"}})
	if err == nil {
		_, err = process.Wait()
	}
	return err
}

func testLostStart(t *testing.T, l *loss) {
	const starters, enough = 4, 3
	lost := make(chan struct{})
	var running sync.WaitGroup
	for range starters {
		running.Go(func() {
			// Those that go on must do so over a new connection.
			for afterwards := 0; afterwards < enough; {
				if err := startAndWait(timeLimit(t), l.connection); err != nil {
					requireLostOrNil(t, err)
					return
				}
				select {
				case <-lost:
					afterwards++
				default:
				}
			}
		})
	}
	require.NoError(t, startAndWait(timeLimit(t), l.connection))
	l.lose()
	close(lost)
	requireSoon(t, "starting", running.Wait)
	l.tryFurther(t)
}

func testLostRunning(t *testing.T, l *loss) {
	var processes []remote.Handle
	for range 5 {
		talk := (&suite{connection: l.connection}).converseWith(t, timeLimit(t), shellCommand("echo ready; exec sleep 20"))
		talk.expect(t, "ready\n")
		processes = append(processes, talk.process)
	}
	l.lose()
	for _, process := range processes {
		requireLost(t, process)
	}
	l.tryFurther(t)
}

// firstWrite signals the first write.
type firstWrite struct {
	once    sync.Once
	arrived chan struct{}
}

func (w *firstWrite) Write(data []byte) (int, error) {
	w.once.Do(func() { close(w.arrived) })
	return len(data), nil
}

func testLostPrinting(t *testing.T, l *loss, terminal *remote.Terminal) {
	output := &firstWrite{arrived: make(chan struct{})}
	process, err := l.connection.Start(timeLimit(t), remote.Command{Arguments: []string{"yes"}, Stdout: output, Terminal: terminal})
	require.NoError(t, err)
	requireSoon(t, "printing", func() { <-output.arrived })
	l.lose()
	requireLost(t, process)
	l.tryFurther(t)
}

func testLostInput(t *testing.T, l *loss) {
	output := &firstWrite{arrived: make(chan struct{})}
	process, err := l.connection.Start(timeLimit(t), remote.Command{Arguments: []string{"cat"}, Stdin: zeros{}, Stdout: output})
	require.NoError(t, err)
	requireSoon(t, "printing", func() { <-output.arrived })
	l.lose()
	requireLost(t, process)
	l.tryFurther(t)
}

// lossyContent loses the connection when so many bytes were read.
type lossyContent struct {
	source io.Reader
	left   int64
	lose   func()
}

func (c *lossyContent) Read(buffer []byte) (int, error) {
	count, err := c.source.Read(buffer)
	c.left -= int64(count)
	if c.left <= 0 || err == io.EOF {
		c.lose()
	}
	return count, err
}

func testLostWrite(t *testing.T, l *loss, name string) {
	content := &lossyContent{source: io.LimitReader(zeros{}, 64<<20), left: 1 << 20, lose: sync.OnceFunc(l.lose)}
	var err error
	requireSoon(t, "writing", func() { err = l.connection.WriteFile(timeLimit(t), l.place+"/"+name, content, 0o600) })
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Equal(t, "old", l.witness.readFile(t, l.place+"/kept"))
	_, err = l.witness.connection.Stat(timeLimit(t), l.place+"/new")
	require.ErrorIs(t, err, fs.ErrNotExist)
	l.tryFurther(t)
}

// testLostRename loses the connection when all of the file was read but not all
// of it arrived: it may come to be or not, but as a whole.
func testLostRename(t *testing.T, l *loss) {
	text := strings.Repeat("new", 10_000)
	content := &lossyContent{source: strings.NewReader(text), left: int64(len(text)) + 1, lose: sync.OnceFunc(l.lose)}
	var err error
	requireSoon(t, "writing", func() { err = l.connection.WriteFile(timeLimit(t), l.place+"/kept", content, 0o600) })
	requireLostOrNil(t, err)
	kept := l.witness.readFile(t, l.place+"/kept")
	if err == nil {
		require.Equal(t, text, kept)
	} else {
		require.Contains(t, []string{"old", text}, kept)
	}
	l.tryFurther(t)
}

func testLostRead(t *testing.T, l *loss) {
	const size = 64 << 20
	l.witness.makeLargeFile(t, l.place+"/large", size)
	file, err := l.connection.Open(timeLimit(t), l.place+"/large")
	require.NoError(t, err)
	_, err = io.ReadFull(file, make([]byte, 1<<20))
	require.NoError(t, err)
	l.lose()
	requireSoon(t, "reading", func() {
		count, err := io.Copy(io.Discard, file)
		if err == nil {
			require.EqualValues(t, size-1<<20, count, "a part passed for the whole")
		}
		requireLostOrNil(t, err)
		_, err = file.Stat()
		requireLostOrNil(t, err)
		requireLostOrNil(t, file.Close())
	})
	l.tryFurther(t)
}

// makeLargeFile makes a file of that many bytes, which take no room.
func (s *suite) makeLargeFile(t *testing.T, path string, size int64) {
	t.Helper()
	made := s.shell(t, `dd if=/dev/null of="$1" bs=1 count=0 seek="$2"`, path, fmt.Sprint(size))
	require.Zero(t, made.code, made.stderr)
}

func testLostTerminal(t *testing.T, l *loss) {
	sizes := make(chan remote.Size, 1)
	command := shellCommand("stty -echo; echo ready; read never")
	command.Terminal = &remote.Terminal{Resized: sizes}
	talk := (&suite{connection: l.connection}).converseWith(t, timeLimit(t), command)
	talk.expect(t, "ready\r\n")
	l.lose()
	sizes <- remote.Size{Columns: 10, Rows: 10}
	requireLost(t, talk.process)
	l.tryFurther(t)
}

func testLostClose(t *testing.T, l *loss) {
	talk := (&suite{connection: l.connection}).converseWith(t, timeLimit(t), shellCommand("echo ready; exec sleep 20"))
	talk.expect(t, "ready\n")
	l.lose()
	requireSoon(t, "closing", func() { requireLostOrNil(t, l.connection.Close()) })
	requireLost(t, talk.process)
}
