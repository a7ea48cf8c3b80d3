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

// A Pending is a sent question. Its caller calls Wait once.
type Pending struct {
	session *Session
	number  int
	waiting map[int]bool     // ranks
	answers map[string][]int // ranks by what they answered
	lost    map[string][]int // ranks by why they do not answer
	done    chan struct{}
}

// Ask asks ranks, one question each at most, and returns their answers, the part with the lowest rank first. Each rank
// in a question is in one part: those that do not answer before the context ends have the problem [Silent]. The session
// does not keep order between calls at the same time.
func (s *Session) Ask(ctx context.Context, questions ...Question) []Part {
	return s.Send(questions...).Wait(ctx)
}

// Send sends questions as Ask does, and returns at once. Each rank gets the questions of several calls in their order.
func (s *Session) Send(questions ...Question) *Pending {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.sendAll(questions)
}

func (s *Session) sendAll(questions []Question) *Pending {
	s.lastNumber++
	asked := &Pending{session: s, number: s.lastNumber, waiting: map[int]bool{}, answers: map[string][]int{}, lost: map[string][]int{}, done: make(chan struct{})}
	if s.asks == nil {
		s.asks = map[int]*Pending{}
	}
	s.asks[asked.number] = asked
	for _, question := range questions {
		s.sendEach(asked, asked.number, question)
	}
	asked.endIfComplete()
	return asked
}

// Wait waits for the answers, and returns them as Ask does.
func (a *Pending) Wait(ctx context.Context) []Part {
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	a.session.mutex.Lock()
	delete(a.session.asks, a.number) // nothing is added from here on
	a.session.mutex.Unlock()
	reason := "no answer in time"
	if errors.Is(ctx.Err(), context.Canceled) {
		reason = "no answer before the request was canceled"
	}
	for rank := range a.waiting {
		a.lost[reason] = append(a.lost[reason], rank)
	}
	return a.parts()
}

// sendEach sends a question to each of its ranks.
func (s *Session) sendEach(asked *Pending, number int, question Question) {
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
				reason := m.whyLeft()
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

func (a *Pending) add(rank int, body []byte) {
	if a.waiting[rank] {
		delete(a.waiting, rank)
		a.answers[string(body)] = append(a.answers[string(body)], rank)
		a.endIfComplete()
	}
}

func (a *Pending) lose(rank int, reason string) {
	if a.waiting[rank] {
		delete(a.waiting, rank)
		a.lost[reason] = append(a.lost[reason], rank)
		a.endIfComplete()
	}
}

func (a *Pending) endIfComplete() {
	if len(a.waiting) == 0 {
		select {
		case <-a.done:
		default:
			close(a.done)
		}
	}
}

// parts decodes each different answer once.
func (a *Pending) parts() []Part {
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
