package jobdirectory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/job"
)

// processesFolder has a file for each node with the state of its processes.
const processesFolder = "processes"

// The states of tracked processes.
const (
	StateRunning   job.ProcessState = "RUNNING"
	StateExited    job.ProcessState = "EXITED"
	StateSignalled job.ProcessState = "EXITED_SIGNALLED"
	StateError     job.ProcessState = "ERROR"
	StateUnknown   job.ProcessState = "UNKNOWN"
)

// A Member is a tracked process of a job.
type Member struct {
	job.Process
	Namespace string    `json:"namespace,omitempty"`
	Variable  string    `json:"variable,omitempty"` // with its rank; empty if none had one
	Start     uint64    `json:"start,omitempty"`    // ticks of the program's start
	Wrapper   int       `json:"wrapper"`            // process id of rmctl-node track
	Begun     time.Time `json:"begun"`
	Changed   time.Time `json:"changed"`
	Problem   string    `json:"problem,omitempty"` // why its rank is unknown
}

// Identity returns the identity of the member in its job.
func (m *Member) Identity() rank.Identity {
	return rank.Identity{Namespace: m.Namespace, Rank: m.Rank, Variable: m.Variable}
}

// key returns a text that is unique among the tracked processes of a node.
func (m *Member) key() string { return fmt.Sprintf("%d-%d", m.Wrapper, m.Begun.UnixNano()) }

const (
	// mostFile bounds the file of one node or process.
	mostFile = 64 << 20
	// mostMembers bounds the kept processes of one node: a script may start a million programs in
	// sequence.
	mostMembers = 4096
	mostNodes   = 1 << 16
)

// readMembers reads a file with processes; none for a file that does not exist.
func readMembers(name string) ([]Member, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	content, err := io.ReadAll(io.LimitReader(file, mostFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > mostFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, mostFile)
	}
	var members []Member
	if err := json.Unmarshal(content, &members); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return members, nil
}

func writeMembers(name string, members []Member) error {
	content, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return writeWhole(name, content)
}

// nodeFile returns the file of a node in the directory of a job.
func nodeFile(directory, node string) string {
	return filepath.Join(directory, processesFolder, plain(node)+".json")
}

// plain returns a name that is valid for files.
func plain(node string) string {
	node = strings.Map(func(r rune) rune {
		isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' && node[0] != '.'
		if isPlain {
			return r
		}
		return '_'
	}, node)
	return node[:min(len(node), 200)]
}

// Read returns the tracked processes of a job on all nodes, sorted by rank, at most one per rank. Of
// successive processes with the same rank it returns the latest; of several live ones, the first, with
// the problem. It skips unreadable files and names them in the error.
func Read(directory string) ([]Member, error) {
	files, err := os.ReadDir(filepath.Join(directory, processesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Member
	var problems []error
	for _, file := range files[:min(len(files), mostNodes)] {
		if strings.HasSuffix(file.Name(), ".json") && !strings.HasPrefix(file.Name(), ".") {
			members, err := readMembers(filepath.Join(directory, processesFolder, file.Name()))
			all, problems = append(all, members...), append(problems, err)
		}
	}
	return byRank(all), errors.Join(problems...)
}

// byRank returns one member for each rank. Processes without a rank give way to ranks.
func byRank(all []Member) []Member {
	if slices.ContainsFunc(all, func(m Member) bool { return m.Variable != "" }) {
		all = slices.DeleteFunc(all, func(m Member) bool { return m.Variable == "" })
	}
	slices.SortStableFunc(all, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), a.Begun.Compare(b.Begun), strings.Compare(a.Node, b.Node), cmp.Compare(a.PID, b.PID))
	})
	var found []Member
	for _, member := range all {
		last := len(found) - 1
		if last < 0 || found[last].Rank != member.Rank {
			found = append(found, member)
			continue
		}
		if found[last].State == StateRunning && member.State == StateRunning {
			found[last].Problem = cmp.Or(found[last].Problem, Duplicate(&found[last], &member))
			continue
		}
		if found[last].State == StateRunning { // the other one has ended
			continue
		}
		found[last] = member
	}
	return found
}

// Duplicate returns the problem of two live processes with one rank.
func Duplicate(a, b *Member) string {
	where := func(m *Member) string { return fmt.Sprintf("process %d on %s", m.PID, m.Node) }
	variable := cmp.Or(a.Variable, b.Variable)
	if variable == "" {
		return fmt.Sprintf("%s and %s run without a variable with the rank: name one with --rank-from", where(a), where(b))
	}
	return fmt.Sprintf("%s says rank %d for %s and for %s", variable, a.Rank, where(a), where(b))
}
