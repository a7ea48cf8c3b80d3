package rank

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// A Selection says how a node finds the processes of a job: by variables or by recorded process ids.
type Selection struct {
	Variables map[string]string `json:"variables,omitempty"`
	Own       []string          `json:"own,omitempty"`  // variables with the same value as in this process
	PIDs      map[int]int       `json:"pids,omitempty"` // by rank; used without variables
	None      bool              `json:"none,omitempty"` // no process: files are read only
	From      string            `json:"from,omitempty"` // variable with the rank, as of [Of]
}

// mostWord bounds the word of a selection: systems bound an argument to 128 KiB.
const mostWord = 100 << 10

// Word returns the selection as one word that every shell leaves unchanged; "" for an empty
// selection.
func (s Selection) Word() string {
	if s.isEmpty() && !s.None {
		return ""
	}
	text, _ := json.Marshal(s) // never fails for texts and numbers
	return base64.RawURLEncoding.EncodeToString(text)
}

// ParseSelection parses the result of Word.
func ParseSelection(word string) (Selection, error) {
	var s Selection
	if word == "" {
		return s, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(word[:min(len(word), mostWord)])
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return Selection{}, fmt.Errorf("invalid selection of processes: %w", err)
	}
	return s, nil
}

// Find returns the selected processes of this user in the order of ranks. The folder is that of Match. It
// skips process ids that now belong to another process.
func (s Selection) Find(folder string) ([]Member, error) {
	switch {
	case s.isEmpty() || s.None:
		return nil, nil
	case len(s.Variables)+len(s.Own) == 0:
		return s.recorded(cmp.Or(folder, "/proc"))
	}
	variables := map[string]string{}
	maps.Copy(variables, s.Variables)
	for _, name := range s.Own {
		if variables[name] = os.Getenv(name); variables[name] == "" {
			return nil, fmt.Errorf("variable %s, which identifies the processes of the job, is not set on this node", name)
		}
	}
	return Find(Match{Folder: folder, Variables: variables, From: s.From})
}

func (s Selection) isEmpty() bool { return len(s.Variables)+len(s.Own)+len(s.PIDs) == 0 }

// recorded returns the programs of recorded processes.
func (s Selection) recorded(folder string) ([]Member, error) {
	identities := map[int]Identity{}
	all, err := readAll(folder, func(process *candidate, environment []byte) bool {
		if identity, hasRank, err := Of(lookup(environment), s.From); err == nil && hasRank {
			identities[process.PID] = identity
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	link(all)
	var members []Member
	for number, pid := range s.PIDs {
		process, identity := all[pid], identities[pid]
		if process == nil || identity.Variable != "" && identity.Rank != number {
			continue
		}
		member := process.program()
		member.Identity = Identity{Namespace: identity.Namespace, Rank: number, Variable: identity.Variable}
		members = append(members, member)
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	return members, nil
}
