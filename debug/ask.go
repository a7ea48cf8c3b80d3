package debug

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/rmctl/rmctl/internal/sorting"
)

// A Question asks some ranks.
type Question struct {
	Ranks   Ranks
	Request Request
}

// A Part is the equal answer of some ranks.
type Part struct {
	Ranks Ranks `json:"ranks"`
	Answer
}

// An ask is a call of Ask that waits for answers.
type ask struct {
	waiting map[int]bool     // ranks
	answers map[string][]int // ranks by what they answered
	lost    map[string][]int // ranks by why they do not answer
	done    chan struct{}
}

// Ask asks ranks, one question each at most, and returns their answers, the part with the lowest rank first. Each rank
// in a question is in one part: those that do not answer before the context ends have the problem [Silent]. The session
// does not keep order between calls at the same time.
func (s *Session) Ask(ctx context.Context, questions ...Question) []Part {
	asked := &ask{waiting: map[int]bool{}, answers: map[string][]int{}, lost: map[string][]int{}, done: make(chan struct{})}
	s.mutex.Lock()
	s.lastNumber++
	number := s.lastNumber
	if s.asks == nil {
		s.asks = map[int]*ask{}
	}
	s.asks[number] = asked
	for _, question := range questions {
		s.sendEach(asked, number, question)
	}
	asked.endIfComplete()
	s.mutex.Unlock()

	select {
	case <-asked.done:
	case <-ctx.Done():
	}
	s.mutex.Lock()
	delete(s.asks, number) // nothing is added from here on
	s.mutex.Unlock()
	reason := "no answer in time"
	if errors.Is(ctx.Err(), context.Canceled) {
		reason = "no answer before the request was canceled"
	}
	for rank := range asked.waiting {
		asked.lost[reason] = append(asked.lost[reason], rank)
	}
	return asked.parts()
}

// sendEach sends a question to each of its ranks.
func (s *Session) sendEach(asked *ask, number int, question Question) {
	line, err := encode(number, question.Request)
	for _, span := range question.Ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			m := s.members[rank]
			switch {
			case err != nil:
				asked.lost[err.Error()] = append(asked.lost[err.Error()], rank)
			case m == nil:
				asked.lost["unknown rank"] = append(asked.lost["unknown rank"], rank)
			case m.hasLeft:
				reason := cmp.Or(m.state.Text, string(m.state.State))
				asked.lost[reason] = append(asked.lost[reason], rank)
			default:
				asked.waiting[rank] = true
				if err := m.send(line); err != nil {
					s.leave(m, err.Error())
				}
			}
		}
	}
}

func (a *ask) add(rank int, body []byte) {
	if a.waiting[rank] {
		delete(a.waiting, rank)
		a.answers[string(body)] = append(a.answers[string(body)], rank)
		a.endIfComplete()
	}
}

func (a *ask) lose(rank int, reason string) {
	if a.waiting[rank] {
		delete(a.waiting, rank)
		a.lost[reason] = append(a.lost[reason], rank)
		a.endIfComplete()
	}
}

func (a *ask) endIfComplete() {
	if len(a.waiting) == 0 {
		select {
		case <-a.done:
		default:
			close(a.done)
		}
	}
}

// parts decodes each different answer once.
func (a *ask) parts() []Part {
	parts := make([]Part, 0, len(a.answers)+len(a.lost))
	for body, ranks := range a.answers {
		part := Part{Ranks: setOf(ranks)}
		if err := json.Unmarshal([]byte(body), &part.Answer); err != nil {
			part.Answer = Answer{Problem: Failed, Text: "invalid answer of the debugger"}
		}
		parts = append(parts, part)
	}
	for reason, ranks := range a.lost {
		parts = append(parts, Part{setOf(ranks), Answer{Problem: Silent, Text: reason}})
	}
	sorting.Stable(parts, func(x, y Part) int { return cmp.Compare(x.Ranks[0].First, y.Ranks[0].First) })
	return parts
}
