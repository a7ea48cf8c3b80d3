package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// patience is the time limit for something that takes long only on a busy machine.
const patience = time.Minute

// define loads a definition with these parts; control data must be in order.
func define(t testing.TB, controlData string, others ...string) *config.Definition {
	t.Helper()
	text := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test"><control-data>` +
		controlData + `</control-data>` + strings.Join(others, "") + `</resource-manager-builder>`
	definition, problems := check.Load("test.xml", []byte(text), nil)
	require.NoError(t, problems.Err())
	return definition
}

// A site is a controller with all it needs, on this machine, in a home folder
// of its own, with a clock that the test moves.
type site struct {
	*control.Controller
	options control.Options
	store   *jobstore.Store
	state   string // the store's folder
	home    string
	clock   sync.Mutex    // of ahead, while commands run at the same time
	ahead   time.Duration // how far the clock is ahead of the real one, or of its stopped time
	stands  time.Time     // the time of a stopped clock; zero while it runs
	looked  atomic.Int64  // how often a stopped clock was read
	pauses  []time.Duration
	// whilePausing is called instead of waiting; nil to go on at once.
	whilePausing func() error
}

// newSite returns a site with a controller for a definition; change may first alter its
// options.
func newSite(t testing.TB, definition *config.Definition, change ...func(*control.Options)) *site {
	t.Helper()
	s := newRenderer(t, definition)
	s.state = t.TempDir()
	s.store = openStore(t, s.state)
	s.options.Store = s.store
	for _, one := range change {
		one(&s.options)
	}
	s.Controller = control.New(s.options)
	return s
}

// newRenderer returns a site without a store, for rendering only.
func newRenderer(t testing.TB, definition *config.Definition, change ...func(*control.Options)) *site {
	t.Helper()
	s := &site{home: newHome(t)}
	local, err := remote.NewLocalWith(patience, patience)
	require.NoError(t, err)
	s.options = control.Options{
		Target: "here", Definition: definition, Connection: local,
		Now: s.now,
		Pause: func(ctx context.Context, length time.Duration) error {
			s.pauses = append(s.pauses, length)
			s.passes(length)
			if s.whilePausing != nil {
				if err := s.whilePausing(); err != nil {
					return err
				}
			}
			return ctx.Err()
		},
	}
	for _, one := range change {
		one(&s.options)
	}
	s.Controller = control.New(s.options)
	return s
}

// now is the time of the site's clock. It advances a little whenever it is read.
func (s *site) now() time.Time {
	s.clock.Lock()
	defer s.clock.Unlock()
	if s.stands.IsZero() {
		return time.Now().Add(s.ahead)
	}
	return s.stands.Add(s.ahead + time.Duration(s.looked.Add(1))*time.Millisecond)
}

// passes lets time pass while commands may run at the same time.
func (s *site) passes(length time.Duration) {
	s.clock.Lock()
	defer s.clock.Unlock()
	s.ahead += length
}

// stopClock replaces the clock by one that only the test moves, so that slow machines do not
// matter. It is ahead of the real clock, which the store uses.
func (s *site) stopClock() { s.stands = time.Now().Add(time.Hour) }

// limits runs a command into its time limit after it has begun: on a busy machine that may
// need more than the shortest limit.
func limits(t *testing.T, run func(limit time.Duration) (hasBegun bool)) {
	t.Helper()
	for _, limit := range []time.Duration{150 * time.Millisecond, 2 * time.Second, patience} {
		if run(limit) {
			return
		}
	}
	require.Fail(t, "the command does not begin")
}

// newHome gives the test its own home directory.
func newHome(t testing.TB) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	test, isTest := t.(interface{ Setenv(key, value string) })
	require.True(t, isTest)
	test.Setenv("HOME", home)
	return home
}

// emptyStore is the file of a store without jobs. Making its tables takes most of the
// time of a short test, the more so with the race detector.
var emptyStore = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "rmctl-store")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	store, err := jobstore.Open(context.Background(), folder)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, storeFile))
})

const storeFile = "jobs.db"

// openStore opens the store of a folder, and creates a missing one.
func openStore(t testing.TB, folder string) *jobstore.Store {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, storeFile)); errors.Is(err, fs.ErrNotExist) {
		empty, err := emptyStore()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, storeFile), empty, 0o600))
	}
	store, err := jobstore.Open(t.Context(), folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// submits submits a program and returns its job.
func (s *site) submits(t testing.TB, submission job.Submission) job.Job {
	t.Helper()
	job, err := s.Submit(t.Context(), submission)
	require.NoError(t, err)
	return job
}

// unresolved returns the submissions without an outcome.
func (s *site) unresolved(t testing.TB) []job.Job {
	t.Helper()
	open, err := s.store.Unresolved(t.Context(), "here")
	require.NoError(t, err)
	return open
}

// path returns a path in the home directory.
func (s *site) path(name string) string { return filepath.Join(s.home, name) }

func (s *site) write(t testing.TB, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o700))
	require.NoError(t, os.WriteFile(s.path(name), []byte(text), 0o600))
}

// fifo makes a named pipe with which a script and a test synchronize.
func fifo(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
}

func (s *site) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(name))
	require.NoError(t, err)
	return string(text)
}

func (s *site) exists(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// files returns the names of files below a directory of the home directory.
func (s *site) files(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(s.path(folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, entry.Name())
		}
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return names
}

// running describes a command of a definition that runs a shell script.
func running(element, script, attributes, children string) string {
	return fmt.Sprintf(`<%s name="%s" %s><arg>/bin/sh -c</arg><arg resolve="false"><![CDATA['%s']]></arg>%s</%s>`,
		element, element, attributes, strings.ReplaceAll(script, "'", `'"'"'`), children, element)
}

// jobIDParser reads a job's id from the first number of a line.
const jobIDParser = `<stdout-parser delim="\n"><target ref="@jobId"><match><expression>job (\d+)\D*</expression>` +
	`<set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>`

// submitting is a batch command that is given the id 7.
func submitting(script, children string) string {
	return running("submit-batch", script, `waitForId="true"`, children+jobIDParser)
}

// asStatus is the parser of a status command that prints a state on a line of
// its own, and facts after their names.
const asStatus = `<stdout-parser delim="\n">
	<target ref="@jobId"><match><expression>([A-Z_]+|null)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
	<target ref="job.native"><match><expression>native (.+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
	<target ref="job.exitCode"><match><expression>exit (.+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
	<target ref="job.outputPath"><match><expression>output (.+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
</stdout-parser>`

// A faultyConnection fails where a test wants it to.
type faultyConnection struct {
	remote.Connection
	start     func(remote.Command) error // nil to start everything
	writeFile func(path string) error
	remove    func(path string) error
}

func (f *faultyConnection) Remove(ctx context.Context, path string) error {
	if f.remove != nil {
		if err := f.remove(path); err != nil {
			return err
		}
	}
	return f.Connection.Remove(ctx, path)
}

func (f *faultyConnection) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	if f.start != nil {
		if err := f.start(c); err != nil {
			return nil, err
		}
	}
	return f.Connection.Start(ctx, c)
}

func (f *faultyConnection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) error {
	if f.writeFile != nil {
		if err := f.writeFile(path); err != nil {
			return err
		}
	}
	return f.Connection.WriteFile(ctx, path, content, mode)
}

// startHook does something whenever a process is about to start.
func startHook(do func()) func(remote.Command) error {
	return func(remote.Command) error {
		do()
		return nil
	}
}
