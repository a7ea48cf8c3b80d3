package rank

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
)

// A Match selects the processes of a job on a machine.
type Match struct {
	Folder    string            // procfs; empty for /proc
	Variables map[string]string // that all processes of the job have; at least one
	From      string            // variable with the rank, as of [Of]
}

// A Member is a process of a job on this machine: the program of one rank.
type Member struct {
	Identity
	PID        int
	Start      uint64 // in ticks since boot
	Executable string
	Parent     int
	Problem    string // why its rank is unknown; then it has no identity
}

// Limits for reading processes.
const (
	mostProcesses   = 1 << 17
	mostEnvironment = 8 << 20
	mostStat        = 4 << 10
	mostDepth       = 64 // of nested shells
)

// nodeProgram begins the name of the executable of rmctl-node.
const nodeProgram = "rmctl-node"

// ObserverVariable is set for commands that start relays on the nodes of a job. A scheduler runs such commands as processes of
// the job, and what they start may outlive them.
const ObserverVariable = "RMCTL_OBSERVER"

// shells are programs that run the program of a rank.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "csh", "tcsh", "busybox", "timeout", "env", "nice", "time"}

// A candidate is a process that may belong to a job.
type candidate struct {
	Member
	hasRank  bool
	children []*candidate
}

// Find returns the processes of this user that belong to a job, in the order of ranks: for
// each rank the program that runs below the shells of that rank. Two members with one
// identity are two programs with the same rank. Without any rank, the outermost process
// is rank 0. Find leaves out programs of rmctl on the node and their children.
func Find(match Match) ([]Member, error) {
	if len(match.Variables) == 0 {
		return nil, errors.New("no variable identifies the processes of the job")
	}
	folder := cmp.Or(match.Folder, "/proc")
	found, err := candidates(folder, match)
	if err != nil {
		return nil, err
	}
	link(found)
	roots := rootsOf(found)
	slices.SortFunc(roots, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	members := make([]Member, 0, len(roots))
	for _, root := range withoutOrphans(roots) {
		members = append(members, root.program())
	}
	return members, nil
}

// Programs returns, by process, the program that runs below the shells of the process, or the
// process itself. It leaves out processes that have ended.
func Programs(folder string, pids []int) (map[int]Member, error) {
	all, err := readAll(cmp.Or(folder, "/proc"), func(*candidate, []byte) bool { return true })
	if err != nil {
		return nil, err
	}
	link(all)
	programs := map[int]Member{}
	for _, pid := range pids {
		if process := all[pid]; process != nil {
			programs[pid] = process.program()
		}
	}
	return programs, nil
}

// candidates returns the processes that have the variables of a job.
func candidates(folder string, match Match) (map[int]*candidate, error) {
	return readAll(folder, func(process *candidate, environment []byte) bool {
		variable := lookup(environment)
		for name, value := range match.Variables {
			if !isSame(variable(name), value) {
				return false
			}
		}
		identity, hasRank, err := Of(variable, match.From)
		process.Identity, process.hasRank = identity, hasRank
		if err != nil {
			process.Problem = err.Error()
		}
		return true
	})
}

// isSame compares values of a variable. Flux begins an id with ƒ where the locale has that letter.
func isSame(is, wanted string) bool {
	return is == wanted || strings.Replace(is, "ƒ", "f", 1) == strings.Replace(wanted, "ƒ", "f", 1)
}

// readAll returns the processes of this user that belongs accepts, by their numbers, without
// the observers of rmctl.
func readAll(folder string, belongs func(process *candidate, environment []byte) bool) (map[int]*candidate, error) {
	directory, err := os.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	defer directory.Close() // nothing was written
	names, err := directory.Readdirnames(mostProcesses)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	found, observers := map[int]*candidate{}, map[int]bool{}
	for _, name := range names {
		pid, isProcess := parse(name)
		if !isProcess {
			continue
		}
		process, environment := readProcess(filepath.Join(folder, name), pid)
		switch {
		case process == nil:
		case isObserver(filepath.Join(folder, name), process.Executable):
			observers[pid] = true
		case lookup(environment)(ObserverVariable) != "":
		case belongs(process, environment):
			found[pid] = process
		}
	}
	members := map[int]*candidate{}
	for pid, process := range found {
		if !isBelow(found, pid, observers) {
			members[pid] = process
		}
	}
	return members, nil
}

// readProcess returns a process and its environment; nil for one of another user, one that
// cannot be read, and one that has ended meanwhile.
func readProcess(folder string, pid int) (process *candidate, environment []byte) {
	info, err := os.Stat(folder)
	if err != nil || !isOwn(info) {
		return nil, nil
	}
	parent, start, isRunning := readStat(folder)
	if !isRunning {
		return nil, nil
	}
	environment, err = readBounded(filepath.Join(folder, "environ"), mostEnvironment)
	if err != nil {
		return nil, nil
	}
	// After the environment: a process that becomes rmctl-node meanwhile must not count as its former program.
	executable, err := os.Readlink(filepath.Join(folder, "exe"))
	if err != nil {
		return nil, nil
	}
	if _, again, isRunning := readStat(folder); !isRunning || again != start {
		return nil, nil // another process has the id now
	}
	return &candidate{Member: Member{PID: pid, Start: start, Executable: strings.TrimSuffix(executable, " (deleted)"), Parent: parent}}, environment
}

// readStat returns the parent of a process and when it started; false for one that has ended.
func readStat(folder string) (parent int, start uint64, isRunning bool) {
	text, err := readBounded(filepath.Join(folder, "stat"), mostStat)
	if err != nil {
		return 0, 0, false
	}
	end := bytes.LastIndexByte(text, ')') // the name before it may hold anything
	fields := strings.Fields(string(text[end+1:]))
	const stateField, parentField, startField = 0, 1, 19
	if end < 0 || len(fields) <= startField || fields[stateField] == "Z" || fields[stateField] == "X" {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(fields[parentField])
	if err != nil {
		return 0, 0, false
	}
	start, err = strconv.ParseUint(fields[startField], 10, 64)
	return parent, start, err == nil
}

func readBounded(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	return io.ReadAll(io.LimitReader(file, limit))
}

// lookup returns values from an environment in the kernel's format. The first value of a name wins, as in
// the C library.
func lookup(environment []byte) func(name string) string {
	return func(name string) string {
		prefix := []byte(name + "=")
		for entry := range bytes.SplitSeq(environment, []byte{0}) {
			if value, found := bytes.CutPrefix(entry, prefix); found {
				return string(value)
			}
		}
		return ""
	}
}

// isObserver reports whether a process is an rmctl-node that does not wrap a program. The debuggers that
// it starts do not belong to the job, although they have its environment.
func isObserver(folder, executable string) bool {
	if !strings.HasPrefix(filepath.Base(executable), nodeProgram) {
		return false
	}
	words, err := readBounded(filepath.Join(folder, "cmdline"), mostStat)
	if err != nil {
		return true
	}
	arguments := bytes.Split(words, []byte{0})
	return len(arguments) < 2 || string(arguments[1]) != "track"
}

// isBelow reports whether a process is a descendant of one of others.
func isBelow(found map[int]*candidate, pid int, others map[int]bool) bool {
	for range mostDepth {
		process := found[pid]
		if process == nil {
			return false
		}
		if others[process.Parent] {
			return true
		}
		pid = process.Parent
	}
	return false
}

// link sets the children of processes, in order of their start.
func link(found map[int]*candidate) {
	for _, process := range found {
		if parent := found[process.Parent]; parent != nil && parent != process {
			parent.children = append(parent.children, process)
		}
	}
	for _, process := range found {
		sorting.Stable(process.children, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
		})
	}
}

// rootsOf returns the outermost process of each rank, and the processes with an invalid
// rank in their variable.
func rootsOf(found map[int]*candidate) []*candidate {
	var roots, outermost []*candidate
	for _, process := range found {
		parent := found[process.Parent]
		if parent == nil && !process.hasRank {
			outermost = append(outermost, process)
		}
		isOutermost := parent == nil || parent.hasRank != process.hasRank || parent.Identity != process.Identity || parent.Problem != process.Problem
		if (process.hasRank || process.Problem != "") && isOutermost {
			roots = append(roots, process)
		}
	}
	if len(roots) == 0 && len(outermost) > 0 {
		return []*candidate{slices.MinFunc(outermost, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
		})}
	}
	return roots
}

// withoutOrphans removes from sorted roots the background processes of a rank: their parent has
// ended, and the rank has another process.
func withoutOrphans(roots []*candidate) []*candidate {
	launched := map[Identity]bool{}
	for _, root := range roots {
		launched[root.Identity] = launched[root.Identity] || root.Parent > 1
	}
	return slices.DeleteFunc(roots, func(root *candidate) bool { return root.Parent <= 1 && launched[root.Identity] })
}

// program returns the program that runs below the shells of a process. Of several children it takes the
// first: the others read its output.
func (c *candidate) program() Member {
	current := c
	for range mostDepth {
		if !isShell(current.Executable) {
			break
		}
		next := slices.IndexFunc(current.children, func(child *candidate) bool {
			return child.hasRank == c.hasRank && child.Identity == c.Identity
		})
		if next < 0 {
			break
		}
		current = current.children[next]
	}
	member := current.Member
	member.Identity, member.Problem = c.Identity, c.Problem
	return member
}

func isShell(executable string) bool {
	name := filepath.Base(executable)
	return slices.Contains(shells, name) || strings.HasPrefix(name, nodeProgram)
}

// StartOf returns the start of a process, in ticks since boot, false if it has ended.
func StartOf(pid int) (uint64, bool) {
	_, start, isRunning := readStat(filepath.Join("/proc", strconv.Itoa(pid)))
	return start, isRunning
}
