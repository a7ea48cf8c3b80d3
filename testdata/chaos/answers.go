package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleTicks is how old an answer of yesterday is.
const staleTicks = 3

// A mood is what goes wrong in this call.
type mood struct {
	chance uint64 // of 1000; each fault takes a part of it
	number int    // of the call
}

func newMood(records *ledger, command string) (*mood, error) {
	number, err := records.count("calls", 1)
	m := &mood{chance: drawn(command, number) % 1000, number: number}
	if os.Getenv("CHAOS_CALM") != "" || isReliable() {
		m.chance = 1000
	}
	return m, err
}

// isReliable reports whether nothing goes wrong, no id is given twice, and accounting has all jobs.
func isReliable() bool { return os.Getenv("CHAOS_RELIABLE") != "" }

// happens reports, with so many chances of 1000, that a fault is this call's. At
// most one fault of a call is.
func (m *mood) happens(chances uint64) bool {
	if m.chance < chances {
		m.chance = 1000
		return true
	}
	if m.chance < 1000 {
		m.chance -= chances
	}
	return false
}

// hang lasts longer than anybody waits.
func hang(records *ledger) error {
	records.close()
	time.Sleep(time.Minute)
	return &exit{1, "nobody has waited so long"}
}

// banner is printed by what runs before the command; it looks like answers.
const banner = "*** maintenance on friday: job 00000001 COMPLETED ***\n\nSubmitted job soon\nstate=COMPLETED unless it is not\n\x1b[31mWarning\x1b[0m\n"

var errLost = &exit{exitTransient, "connection lost"}

func submit(records *ledger, m *mood, tag string) error {
	switch {
	case m.happens(20):
		return &exit{1, "denied: no allocation"}
	case m.happens(15):
		return errLost
	case m.happens(10):
		return hang(records)
	case m.happens(10):
		return nil // and says nothing
	}
	late := 0
	isLate := m.happens(10)
	if isLate {
		late = staleTicks
	}
	id, err := records.add(tag, late, m.number%20 == 0 && !isReliable())
	text := fmt.Sprintf("Submitted job %s\n", id)
	switch {
	case err != nil:
		return err
	case isLate, m.happens(15):
		return errLost
	case m.happens(10):
		return hang(records)
	case m.happens(10):
		text = ""
	case m.happens(15):
		text = text[:len(text)-4]
	case m.happens(30):
		text = banner + text + banner
	case m.happens(20):
		records.close()
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Print(text)
	return nil
}

// answer prints the text of a query, or what has become of it.
func answer(records *ledger, m *mood, text string) error {
	switch {
	case m.happens(10):
		return hang(records)
	case m.happens(40):
		return errLost
	case m.happens(30):
		text = ""
	case m.happens(40):
		text = text[:len(text)*2/3]
	case m.happens(40):
		text = banner + text + banner
	case m.happens(20):
		text = strings.Repeat("\x00\xff~", 100) + "\n"
	}
	fmt.Print(text)
	return nil
}

// seen returns the jobs, and the tick that this answer is of.
func seen(records *ledger, m *mood, passing int) ([]job, int, error) {
	tick, err := records.count("tick", passing)
	if err != nil {
		return nil, 0, err
	}
	if m.happens(50) {
		tick -= staleTicks
	}
	jobs, err := records.jobs()
	return jobs, tick, err
}

// manyStatuses is more than anybody asks for who also lists.
const manyStatuses = 100

func status(records *ledger, m *mood, id string) error {
	asked, err := records.count(statusesAsked, 1)
	if err != nil {
		return err
	}
	passing := 0
	if asked > manyStatuses {
		passing = 1
	}
	jobs, tick, err := seen(records, m, passing)
	if err != nil {
		return err
	}
	i := newest(jobs, id)
	if i < 0 || jobs[i].at(tick) == "" {
		return &exit{exitNotFound, "no such job"}
	}
	return answer(records, m, fmt.Sprintf("identity=%s\nstate=%s\n", jobs[i].tag, jobs[i].at(tick)))
}

func account(records *ledger, m *mood, id string) error {
	jobs, tick, err := seen(records, m, 0)
	if err != nil {
		return err
	}
	i := newest(jobs, id)
	if i < 0 || !jobs[i].accounted() || jobs[i].at(tick) != "" || tick < jobs[i].born+jobs[i].late {
		return &exit{exitNotFound, "no such job"}
	}
	return answer(records, m, fmt.Sprintf("identity=%s\nstate=%s\n", jobs[i].tag, jobs[i].final()))
}

// With CHAOS_WIDE, a listing has these facts of each job besides its identity and its state.
const (
	wideFact  = "a-fact-of-thirty-six-characters-long"
	wideFacts = 13
)

func list(records *ledger, m *mood) error {
	if err := records.reset(statusesAsked); err != nil {
		return err
	}
	jobs, tick, err := seen(records, m, 1)
	if err != nil {
		return err
	}
	forgets := m.happens(50)
	var text strings.Builder
	facts := ""
	if os.Getenv("CHAOS_WIDE") != "" {
		facts = strings.Repeat(" "+wideFact, wideFacts)
	}
	for i, j := range jobs {
		now := j.at(tick)
		if now == "" || forgets && drawn("row", i+m.number)%50 == 0 {
			continue
		}
		fmt.Fprintf(&text, "job %s %s %s%s end\n", j.id, j.tag, now, facts)
	}
	text.WriteString("listed\n")
	return answer(records, m, text.String())
}

// find fails, or prints what is there: nothing helps against a scheduler that denies a job
// that exists.
func find(records *ledger, m *mood, tag string) error {
	tick, err := records.count("tick", 0)
	if err != nil {
		return err
	}
	jobs, err := records.jobs()
	if err != nil {
		return err
	}
	switch {
	case m.happens(10):
		return hang(records)
	case m.happens(60):
		return errLost
	case m.happens(40):
		fmt.Print(banner)
	}
	for _, j := range jobs {
		if j.tag == tag && tick >= j.born+j.late {
			fmt.Printf("Found job %s\n", j.id)
			return nil
		}
	}
	return &exit{exitNotFound, "no such job"}
}

func cancel(records *ledger, m *mood, id string) error {
	jobs, tick, err := seen(records, m, 0)
	if err != nil {
		return err
	}
	i := newest(jobs, id)
	switch {
	case i < 0 || jobs[i].at(tick) == "":
		return &exit{exitNotFound, "no such job"}
	case jobs[i].at(tick) == jobs[i].final():
		return &exit{exitEnded, "the job has ended"}
	case m.happens(50):
		return errLost
	}
	err = os.WriteFile(filepath.Join(records.folder, "canceled", jobs[i].tag), nil, 0o600)
	if err == nil && m.happens(50) {
		return errLost
	}
	return err
}

func truth(records *ledger) error {
	jobs, err := records.jobs()
	for _, j := range jobs {
		fmt.Printf("%s %s %s\n", j.id, j.tag, j.final())
	}
	return err
}
