package tree

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A jobFixture is the directory of a job, the private directory of a host and processes.
type jobFixture struct {
	t            testing.TB
	job, private string
	run          string // marks the processes
	wrapper      bool   // no variable names their ranks
	groups       []int
}

func newJob(t testing.TB) *jobFixture {
	t.Helper()
	folder, err := os.MkdirTemp("", "tree") // short: the paths of sockets are bounded
	require.NoError(t, err)
	j := &jobFixture{t: t, job: filepath.Join(folder, "job"), private: filepath.Join(folder, "p")}
	require.NoError(t, os.Mkdir(j.job, 0o700))
	require.NoError(t, os.Mkdir(j.private, 0o700))
	t.Cleanup(func() {
		for _, group := range j.groups {
			_ = syscall.Kill(-group, syscall.SIGKILL) // most have ended
		}
		require.NoError(t, os.RemoveAll(folder))
	})
	return j
}

// A trackedProcess is a process that plays the wrapper of a rank.
type trackedProcess struct {
	*exec.Cmd
	rank int
}

// track starts the wrapper of a rank.
func (j *jobFixture) track(rank int, place string) trackedProcess {
	j.t.Helper()
	p := part{Play: "track", Node: place, Place: place, Ranks: strconv.Itoa(rank), Job: j.job, Private: j.private, Run: j.run, Wrapper: j.wrapper}
	launch := p.launch(j.t)
	command := exec.Command(launch.Words[0])
	command.Env = append(os.Environ(), played+"="+launch.Environment[played])
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	require.NoError(j.t, err)
	require.NoError(j.t, command.Start())
	j.groups = append(j.groups, command.Process.Pid)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(j.t, err)
	require.Equal(j.t, "started\n", line)
	return trackedProcess{command, rank}
}

// requireAnswers waits until exactly these ranks answer, each with itself.
func requireAnswers(t testing.TB, f *fixture, ranks string) {
	t.Helper()
	var parts []Part
	require.Eventually(t, func() bool {
		asked, err := f.Ask(t.Context(), ask("rank"))
		parts = asked
		if err != nil {
			return false
		}
		var answered []string
		for _, part := range parts {
			if part.Body != nil {
				require.Equal(t, part.Ranks.String(), string(part.Body))
				answered = append(answered, string(part.Body))
			}
		}
		return strings.Join(answered, ",") == ranks
	}, 30*time.Second, 50*time.Millisecond, "%v", &parts)
}

func TestTheProcessesOfAHostElectAnotherRelay(t *testing.T) {
	j := newJob(t)
	processes := map[int]trackedProcess{}
	for rank := range 4 {
		processes[rank] = j.track(rank, "host")
	}
	f := connect(t, Options{Node: "n1", Place: "host", Job: j.job, Attach: j.private, Local: newFakeLocal("7")})
	requireAnswers(t, f, "0,1,2,3")
	members, err := f.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 1, "the relay that rmctl started leaves the host to the tracked processes")
	require.Equal(t, "n1", members[0].Node)
	require.True(t, members[0].Tracked)

	for _, killed := range []int{0, 2} { // rank 0 was there first, so it is the relay
		require.NoError(t, processes[killed].Process.Kill())
		_ = processes[killed].Wait() // killed
	}
	requireAnswers(t, f, "1,3")

	require.NoError(t, processes[1].Process.Signal(syscall.SIGTERM))
	require.NoError(t, processes[1].Wait())
	requireAnswers(t, f, "3")
	require.NoError(t, processes[3].Process.Signal(syscall.SIGTERM))
	require.NoError(t, processes[3].Wait())
	requireAnswers(t, f, "7")
	left, err := os.ReadDir(j.private)
	require.NoError(t, err)
	require.Empty(t, left, "sockets and locks stay behind")
}

func TestAWrapperGivesWayToRanks(t *testing.T) {
	j := newJob(t)
	j.wrapper = true
	script := j.track(0, "host")
	alone := connect(t, Options{Node: "n1", Place: "host", Job: j.job, Attach: j.private})
	requireAnswers(t, alone, "0")
	found := connect(t, Options{Node: "n1", Place: "host", Job: j.job, Attach: j.private, Local: newFakeLocal("1-2")})
	requireAnswers(t, found, "1,2")

	top := connect(t, Options{Node: "login", Place: "login", Job: j.job})
	require.NoError(t, top.relay.Listen(t.Context(), "127.0.0.1"))
	requireAnswers(t, top, "0")
	top.launched(t, 1, 2, Launching{}) // rank 0 of an untracked program, on another node
	requireAnswers(t, top, "0,1")
	require.NoError(t, script.Process.Kill())
	_ = script.Wait() // killed
	requireAnswers(t, top, "0,1")
}

func TestElectionsUnderRandomKills(t *testing.T) {
	j := newJob(t)
	random := rand.New(rand.NewPCG(1, uint64(number(t, "RMCTL_SEED", 1))))
	var live []trackedProcess
	f := connect(t, Options{Node: "n1", Place: "host", Job: j.job, Attach: j.private})
	next := 0
	for round := range number(t, "RMCTL_CHAOS", 20) / 4 {
		for range 1 + random.IntN(3) {
			live = append(live, j.track(next, "host"))
			next++
		}
		for len(live) > 1 && random.IntN(3) > 0 {
			at := random.IntN(len(live))
			require.NoError(t, live[at].Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[random.IntN(2)]))
			_ = live[at].Wait() // mostly killed
			live = append(live[:at], live[at+1:]...)
		}
		var ranks []string
		for _, process := range live {
			ranks = append(ranks, strconv.Itoa(process.rank))
		}
		requireAnswers(t, f, strings.Join(ranks, ","))
		require.NotEmpty(t, ranks, "round %d", round)
	}
	for _, process := range live {
		require.NoError(t, process.Process.Signal(syscall.SIGTERM))
		require.NoError(t, process.Wait())
	}
}

func TestRelaysOfTrackedProcessesConnectToTheTop(t *testing.T) {
	j := newJob(t)
	f := connect(t, Options{Node: "login", Place: "login", Job: j.job, FanOut: 2})
	require.NoError(t, f.relay.Listen(t.Context(), "127.0.0.1"))
	require.Contains(t, readAddress(j.job), "127.0.0.1:")
	var ranks []string
	for rank := range 9 { // each on a host of its own
		private := filepath.Join(j.private, strconv.Itoa(rank))
		require.NoError(t, os.Mkdir(private, 0o700))
		here := *j
		here.private = private
		here.track(rank, fmt.Sprintf("h%d", rank))
		j.groups = append(j.groups, here.groups[len(here.groups)-1])
		ranks = append(ranks, strconv.Itoa(rank))
	}
	requireAnswers(t, f, strings.Join(ranks, ","))
	require.Len(t, f.relay.visible(nil), 2, "the top has more children than its fan-out")
	info, err := os.Stat(filepath.Join(j.job, addressFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	// What the first host led to connects again elsewhere.
	members, err := f.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 10)
	require.NoError(t, syscall.Kill(j.groups[0], syscall.SIGKILL))
	requireAnswers(t, f, strings.Join(ranks[1:], ","))
	f.relay.Close()
	require.Empty(t, readAddress(j.job))
}

func TestARelayThatIsReachedInTwoWaysAnswersOnce(t *testing.T) {
	j := newJob(t)
	j.track(0, "host")
	f := connect(t, Options{Node: "login", Place: "login", Job: j.job})
	require.NoError(t, f.relay.Listen(t.Context(), "127.0.0.1"))
	requireAnswers(t, f, "0")
	node := part{Play: "relay", Node: "n1", Place: "host", Job: j.job, Private: j.private}.launch(t)
	problems, err := f.Launch(t.Context(), []Launch{node}, Launching{})
	require.NoError(t, err)
	require.Empty(t, problems)
	members, err := f.Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 3, "the top, and the host in two ways")
	for count := range 3 {
		parts, err := f.Ask(t.Context(), ask("count"))
		require.NoError(t, err)
		require.Equal(t, []Part{{Ranks: setOf(t, "0"), Body: json.RawMessage(strconv.Itoa(count + 1))}}, parts)
	}
}

func TestOnlyOneRelayOfASessionServesAHost(t *testing.T) {
	j := newJob(t)
	release, isFirst, err := LockSession(j.private, "s1")
	require.NoError(t, err)
	require.True(t, isFirst)
	_, isFirst, err = LockSession(j.private, "s1")
	require.NoError(t, err)
	require.False(t, isFirst)
	other, isFirst, err := LockSession(j.private, "../s2")
	require.NoError(t, err)
	require.True(t, isFirst)
	release()
	other()

	// A lock on a file that another process has replaced locks nothing.
	path := filepath.Join(j.private, "x.lock")
	file, err := tryLock(path)
	require.NoError(t, err)
	require.True(t, isFileAt(file, path))
	require.NoError(t, os.Rename(path, path+".old"))
	replaced, err := tryLock(path)
	require.NoError(t, err)
	require.NotNil(t, replaced)
	require.False(t, isFileAt(file, path))
	unlock(replaced)
	require.NoError(t, file.Close())
	require.NoError(t, os.Remove(path+".old"))
	left, err := os.ReadDir(j.private)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWhatKilledProcessesLeftBehindIsRemoved(t *testing.T) {
	j := newJob(t)
	old := time.Now().Add(-2 * staleAfter)
	for _, name := range []string{"old.lock", "old.sock", "held.lock", "held.sock", "new.lock"} {
		path := filepath.Join(j.private, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		if name != "new.lock" {
			require.NoError(t, os.Chtimes(path, old, old))
		}
	}
	held, err := tryLock(filepath.Join(j.private, "held.lock"))
	require.NoError(t, err)
	removeStale(j.private)
	left, err := filepath.Glob(filepath.Join(j.private, "*"))
	require.NoError(t, err)
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	require.Equal(t, []string{"held.lock", "held.sock", "new.lock"}, left)
	unlock(held)
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	folder := t.TempDir()
	open, file, link := filepath.Join(folder, "open"), filepath.Join(folder, "file"), filepath.Join(folder, "link")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o750))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(folder, link))
	require.ErrorContains(t, ensurePrivate(open), "is accessible to other users")
	require.ErrorContains(t, ensurePrivate(file), "is not a directory")
	require.ErrorContains(t, ensurePrivate(link), "is not a directory")
	if os.Geteuid() == 0 {
		foreign := filepath.Join(folder, "foreign")
		require.NoError(t, os.Mkdir(foreign, 0o700))
		require.NoError(t, os.Chown(foreign, 12345, 12345))
		require.ErrorContains(t, ensurePrivate(foreign), "belongs to another user")
	}
	require.NoError(t, ensurePrivate(filepath.Join(folder, "new")))
}

func TestSecretsThatOthersCanReadAreRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "secret")
	_, err := ReadSecret(folder)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("ab", 32)+"\n"), 0o600))
	secret, err := ReadSecret(folder)
	require.NoError(t, err)
	require.Len(t, secret, 32)
	require.NoError(t, os.Chmod(path, 0o640))
	_, err = ReadSecret(folder)
	require.ErrorContains(t, err, "is not a file of this user alone")
	require.NoError(t, os.WriteFile(path, []byte("abcd"), 0o600))
	require.NoError(t, os.Chmod(path, 0o600))
	_, err = ReadSecret(folder)
	require.ErrorContains(t, err, "holds no secret")
}

// number returns the value of an environment variable, or a default.
func number(t testing.TB, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	value, err := strconv.Atoi(text)
	require.NoError(t, err)
	return value
}
