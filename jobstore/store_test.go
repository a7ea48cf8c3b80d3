package jobstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

func TestStoreIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "deep", "state")
	store := openStore(t, directory)
	intend(t, store, "a", "big")
	requirePrivate(t, directory)

	require.NoError(t, os.Chmod(directory, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(directory, "jobs.db"), 0o644))
	openStore(t, directory)
	requirePrivate(t, directory)
}

// requirePrivate checks the directory and everything in it.
func requirePrivate(t *testing.T, directory string) {
	t.Helper()
	info, err := os.Stat(directory)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		if !strings.HasPrefix(entry.Name(), "unrecorded-") {
			names = append(names, entry.Name())
		}
	}
	require.Subset(t, []string{"jobs.db", "jobs.db-shm", "jobs.db-wal"}, names)
}

func TestDirectoryOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(directory, 65534, -1))
	} else {
		directory = "/"
	}
	_, err := jobstore.Open(t.Context(), directory)
	require.ErrorContains(t, err, "belongs to user id")
	require.ErrorContains(t, err, directory)
}

// A log that somebody else has put next to the file would become part of it.
func TestWhatOthersHavePutIntoAnOpenDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	intend(t, store, "a", "big")
	require.NoError(t, os.Chmod(directory, 0o777))
	openStore(t, directory)
	requirePrivate(t, directory)
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	for name, plant := range map[string]func(path string) error{
		"a log":  func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) },
		"a link": func(path string) error { return os.Symlink("/etc/passwd", path) },
	} {
		t.Run(name, func(t *testing.T) {
			planted := filepath.Join(directory, "planted")
			require.NoError(t, plant(planted))
			require.NoError(t, os.Lchown(planted, 65533, 65533))
			require.NoError(t, os.Chmod(directory, 0o777))
			_, err := jobstore.Open(t.Context(), directory)
			require.ErrorContains(t, err, planted)
			require.NoError(t, os.Remove(planted))
		})
	}
}

func TestWhatIsNoStoreIsRefused(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(directory string) error{
		"a file at the path of the directory": func(directory string) error { return os.WriteFile(directory, nil, 0o600) },
		"a directory at the path of the file": func(directory string) error {
			return os.MkdirAll(filepath.Join(directory, "jobs.db"), 0o700)
		},
		"a file of another kind": func(directory string) error {
			return errors.Join(os.MkdirAll(directory, 0o700),
				os.WriteFile(filepath.Join(directory, "jobs.db"), []byte(strings.Repeat("not a database\n", 100)), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			directory := filepath.Join(t.TempDir(), "state")
			require.NoError(t, prepare(directory))
			_, err := jobstore.Open(t.Context(), directory)
			require.ErrorContains(t, err, directory)
		})
	}
}

func TestOpenWaitsForADirectoryThatAnotherMachineIsMaking(t *testing.T) {
	t.Parallel()
	// As on a file server, the directory exists already where it is to be made, and is not
	// found where it is to be used.
	folder := t.TempDir()
	directory, made := filepath.Join(folder, "state"), filepath.Join(folder, "made")
	require.NoError(t, os.Symlink(made, directory))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := jobstore.Open(canceled, directory)
	require.ErrorIs(t, err, os.ErrExist)
	problem := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { problem <- os.Mkdir(made, 0o700) })
	intend(t, openStore(t, directory), "a", "big")
	require.NoError(t, <-problem)
}

func TestNamesOfStateDirectoriesAreNotInterpreted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "?mode=memory", "#x", "%41", "'\"", "é\xff", ":memory:"} {
		directory := filepath.Join(t.TempDir(), name)
		intend(t, openStore(t, directory), "a", "big")
		_, err := openStore(t, directory).ByTag(t.Context(), "a")
		require.NoError(t, err, "%q", name)
		require.FileExists(t, filepath.Join(directory, "jobs.db"), "%q", name)
	}
}

func TestARecordOutlivesTheStoreAndTheProcess(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	require.NoError(t, store.Intend(t.Context(), fullJob(1)))
	require.NoError(t, store.Close())

	store = openStore(t, directory)
	require.NoError(t, store.Intend(t.Context(), fullJob(2)))

	// What a crash leaves: the files as they are while the store is open.
	crashed := t.TempDir()
	for _, name := range []string{"jobs.db", "jobs.db-wal"} {
		content, err := os.ReadFile(filepath.Join(directory, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(crashed, name), content, 0o600))
	}
	unresolved, err := openStore(t, crashed).Unresolved(t.Context(), "big")
	require.NoError(t, err)
	require.Equal(t, []string{"tag-2", "tag-1"}, tags(unresolved))
	require.Equal(t, fullJob(2).Script, unresolved[0].Script)
}

func TestATornEndOfTheLogLosesNothingThatWasWholeBefore(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	require.NoError(t, store.Intend(t.Context(), fullJob(1)))
	log, err := os.ReadFile(filepath.Join(directory, "jobs.db-wal"))
	require.NoError(t, err)
	whole := len(log)
	require.NoError(t, store.Intend(t.Context(), fullJob(2)))
	log, err = os.ReadFile(filepath.Join(directory, "jobs.db-wal"))
	require.NoError(t, err)
	database, err := os.ReadFile(filepath.Join(directory, "jobs.db"))
	require.NoError(t, err)

	for _, size := range []int{whole, whole + 1, (whole + len(log)) / 2, len(log) - 1} {
		crashed := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(crashed, "jobs.db"), database, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(crashed, "jobs.db-wal"), log[:size], 0o600))
		jobs, err := openStore(t, crashed).List(t.Context(), jobstore.Filter{})
		require.NoError(t, err)
		require.Equal(t, []string{"tag-1"}, tags(jobs), "cut to %d of %d bytes", size, len(log))
	}
}

func TestHostileTextsAreGivenBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for i, text := range []string{
		"", "a\x00b", "\x00", "line\nbreak\r\n", `'"; DROP TABLE jobs; --`, "caf\xe9", "\xff\xfe\x00", "日本\u2028", "%s ${x} ?1", strings.Repeat("long\x00\xff", 500),
	} {
		store := openStore(t, t.TempDir())
		j := fullJob(i)
		j.Tag, j.Target = "tag "+text, "target "+text
		j.Name, j.Queue, j.Owner, j.Directory = text, text, text, text
		j.Definition, j.Connection, j.Script = text, text, text
		j.Arguments = []string{text, "x", text}
		j.Attributes = map[string]any{
			"text " + text: text, "list": []string{text, ""}, "map": map[string]string{"key " + text: text, "key \xfe": "1", "key \xfd": "2"},
		}
		require.NoError(t, store.Intend(t.Context(), j))
		_, err := store.Accept(t.Context(), j.Tag, job.Job{ID: "id " + text, ShortID: "short " + text, Observation: job.Observation{Native: text, Evidence: text, Observed: noon}})
		require.NoError(t, err)

		j.Phase, j.ID, j.ShortID = job.PhaseSubmitted, "id "+text, "short "+text
		j.Native, j.Evidence, j.Observed = text, text, noon
		for _, id := range []string{j.ID, j.ShortID} {
			found, err := store.Find(t.Context(), id, j.Target)
			require.NoError(t, err)
			require.Equal(t, []job.Job{j}, found)
		}
	}
}

func TestManyHandlesAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	const handles, jobs = 5, 6
	directory := filepath.Join(t.TempDir(), "state")
	failures := make(chan error, handles)
	var group sync.WaitGroup
	for handle := range handles {
		group.Go(func() { failures <- work(t.Context(), directory, handle, jobs) })
	}
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	requireWork(t, directory, handles*jobs)
}

// patience is how long other processes may take for what they are started for.
const patience = 2 * time.Minute

// workVariable holds the number of a process that is to do work, and workPlace
// the directory of its store.
const (
	workVariable = "RMCTL_TEST_JOBSTORE_WORKER"
	workPlace    = "RMCTL_TEST_JOBSTORE_DIRECTORY"
	workAmount   = 6
)

func TestMain(m *testing.M) {
	number := os.Getenv(workVariable)
	if number == "" {
		os.Exit(m.Run())
	}
	var handle int
	_, err := fmt.Sscan(number, &handle)
	if err == nil {
		err = work(context.Background(), os.Getenv(workPlace), handle, workAmount)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestManyProcessesAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	const processes = 4
	directory := filepath.Join(t.TempDir(), "state")
	program, err := os.Executable()
	require.NoError(t, err)
	var commands []*exec.Cmd
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for process := range processes {
		command := exec.CommandContext(ctx, program)
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", workVariable, process), workPlace+"="+directory)
		command.Stderr = os.Stderr
		require.NoError(t, command.Start())
		commands = append(commands, command)
	}
	for _, command := range commands {
		require.NoError(t, command.Wait())
	}
	requireWork(t, directory, processes*workAmount)
}

// work submits that many jobs, sees each run, and sees one job that all workers
// share.
func work(ctx context.Context, directory string, worker, jobs int) (err error) {
	store, err := jobstore.Open(ctx, directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for i := range jobs {
		j := fullJob(i)
		j.Tag = fmt.Sprintf("%d.%d", worker, i)
		if err := store.Intend(ctx, j); err != nil {
			return err
		}
		if _, err := store.Accept(ctx, j.Tag, job.Job{ID: j.Tag, Observation: job.Observation{Observed: noon}}); err != nil {
			return err
		}
		if _, err := store.Observe(ctx, j.Tag, job.Observation{Detail: job.Running, Observed: noon.Add(time.Second)}); err != nil {
			return err
		}
		shared, err := store.Adopt(ctx, job.Job{Target: "shared", ID: "shared", Created: noon})
		if err != nil {
			return err
		}
		if _, err := store.MarkMissing(ctx, shared.Tag, noon); err != nil {
			return err
		}
		if _, err := store.List(ctx, jobstore.Filter{}); err != nil {
			return err
		}
	}
	return nil
}

func requireWork(t *testing.T, directory string, jobs int) {
	t.Helper()
	store := openStore(t, directory)
	list, err := store.List(t.Context(), jobstore.Filter{Target: "big"})
	require.NoError(t, err)
	require.Len(t, list, jobs)
	for _, j := range list {
		require.Equal(t, j.Tag, j.ID)
		require.Equal(t, job.Running, j.Detail)
	}
	shared, err := store.Find(t.Context(), "shared", "shared")
	require.NoError(t, err)
	require.Len(t, shared, 1)
	require.Equal(t, jobs, shared[0].MissingCount, "an update was lost")
	requirePrivate(t, directory)
}

func TestAWaitForAnotherWriterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := openStore(t, directory)
	other, err := sql.Open("sqlite", "file:"+filepath.Join(directory, "jobs.db")+"?_txlock=immediate")
	require.NoError(t, err)
	transaction, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, store.Intend(ctx, fullJob(1)))
	_, err = store.ByTag(t.Context(), "tag-1")
	require.ErrorIs(t, err, jobstore.ErrNotFound)

	require.NoError(t, transaction.Rollback())
	require.NoError(t, other.Close())
	require.NoError(t, store.Intend(t.Context(), fullJob(1)))
}

func TestAnEmptyFileBecomesAStore(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "jobs.db"), nil, 0o600))
	store := openStore(t, directory)
	intend(t, store, "a", "big")
	_, err := store.ByTag(t.Context(), "a")
	require.NoError(t, err)
}
