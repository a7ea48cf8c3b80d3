package cases

import (
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/state"
)

// Usuals collects what is usual of the outputs of status commands, by which a
// controller tells later that a scheduler has changed what it prints. Its methods
// may be called from several goroutines at once; the zero value is ready to use.
type Usuals struct {
	lock     sync.Mutex
	commands map[*config.Definition]map[string]control.UsualOutput
}

// Watch makes a runner tell what definitions make of cases. Flows do not count,
// nor do cases that are marked as unusual, nor commands that failed. Call it before
// the runner tries cases.
func (u *Usuals) Watch(runner *Runner) {
	before := runner.answered
	runner.answered = func(c *Case, definition *config.Definition, answer *Answer) {
		if before != nil {
			before(c, definition, answer)
		}
		u.add(c, definition, answer)
	}
}

func (u *Usuals) add(c *Case, definition *config.Definition, answer *Answer) {
	selected, err := selectCommand(definition, c.Command)
	if err != nil || c.Unusual || purposeOf(selected.Element) != givesState || answer.Status.State != OK {
		return
	}
	word, told := attribute.Text(answer.Attributes["job.native"].Value()), false
	if job := answer.Job; job != nil {
		told = job.Detail != "" && job.Detail != state.Undetermined
		if word == "" {
			word = job.Word
		}
	}
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.commands == nil {
		u.commands = map[*config.Definition]map[string]control.UsualOutput{}
	}
	if u.commands[definition] == nil {
		u.commands[definition] = map[string]control.UsualOutput{}
	}
	key := string(selected.Element) + ":" + selected.Name
	usual := u.commands[definition][key]
	usual.Add(answer.Segments, answer.Unmatched, told, word)
	u.commands[definition][key] = usual
}

// All returns what was collected: of each definition the commands, by their
// selectors. Nothing may be added meanwhile or later.
func (u *Usuals) All() map[*config.Definition]map[string]control.UsualOutput {
	u.lock.Lock()
	defer u.lock.Unlock()
	return u.commands
}
