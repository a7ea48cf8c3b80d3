package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// mostQuestions bounds the questions that wait for answers on one link.
const mostQuestions = 16

type question struct {
	Number int
	Host   []byte
	Text   []byte
	Secret bool
}

type answer struct {
	Number int
	Answer []byte   `json:",omitempty"`
	Failed *failure `json:",omitempty"`
}

// questions are those that this end asks.
type questions struct {
	mutex   sync.Mutex
	last    int
	waiting map[int]chan result
	lost    error
}

type result struct {
	answer string
	err    error
}

// Ask asks the user behind the other end: a Link is a remote.Prompter. The
// error is ErrNobodyToAsk also when the other end is gone.
func (l *Link) Ask(ctx context.Context, asked remote.Question) (string, error) {
	number, answered, err := l.asking.begin()
	if err != nil {
		return "", err
	}
	defer l.asking.end(number)
	err = l.SendValue(kindQuestion, question{Number: number, Host: bounded(asked.Host), Text: bounded(asked.Text), Secret: asked.Secret})
	if err != nil {
		return "", fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err)
	}
	select {
	case given := <-answered:
		return given.answer, given.err
	case <-ctx.Done():
		// Whether it can still be told does not matter to who asked.
		_ = l.SendValue(kindForget, number)
		return "", ctx.Err()
	}
}

func (q *questions) begin() (int, <-chan result, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.lost != nil {
		return 0, nil, fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, q.lost)
	}
	if q.waiting == nil {
		q.waiting = map[int]chan result{}
	}
	if len(q.waiting) >= mostQuestions {
		return 0, nil, fmt.Errorf("%w: %d questions wait for their answers already", remote.ErrNobodyToAsk, mostQuestions)
	}
	q.last++
	q.waiting[q.last] = make(chan result, 1)
	return q.last, q.waiting[q.last], nil
}

func (q *questions) end(number int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	delete(q.waiting, number)
}

// answer hands an answer to who asked. One that comes too late is dropped.
func (q *questions) answer(l *Link, payload []byte) error {
	var given answer
	if err := Decode(payload, &given); err != nil {
		return err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if asked := q.waiting[given.Number]; asked != nil {
		delete(q.waiting, given.Number)
		if given.Failed != nil {
			asked <- result{err: l.unpack(*given.Failed)}
		} else {
			asked <- result{answer: string(given.Answer)}
		}
	}
	return nil
}

func (q *questions) lose(err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.lost = err
	for _, asked := range q.waiting {
		asked <- result{err: fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err)}
	}
	clear(q.waiting)
}

// answering are the questions of the other end.
type answering struct {
	ctx      context.Context
	prompter remote.Prompter
	asked    *sync.WaitGroup

	mutex   sync.Mutex
	waiting map[int]context.CancelFunc
}

func (a *answering) begin(ctx context.Context, prompter remote.Prompter, asked *sync.WaitGroup) {
	a.ctx, a.prompter, a.asked = ctx, prompter, asked
	a.waiting = map[int]context.CancelFunc{}
}

// question asks the user, beside all else that the link does.
func (a *answering) question(l *Link, payload []byte) error {
	var asked question
	if err := Decode(payload, &asked); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.mutex.Lock()
	_, doubled := a.waiting[asked.Number]
	if doubled || len(a.waiting) >= mostQuestions {
		a.mutex.Unlock()
		cancel()
		return fmt.Errorf("%w: too many questions", ErrProtocol)
	}
	a.waiting[asked.Number] = cancel
	a.mutex.Unlock()

	a.asked.Go(func() {
		reply := answer{Number: asked.Number}
		text, err := "", remote.ErrNobodyToAsk
		if a.prompter != nil {
			text, err = a.prompter.Ask(ctx, remote.Question{Host: string(asked.Host), Text: string(asked.Text), Secret: asked.Secret})
		}
		if err == nil && len(text) > maxText {
			err = errors.New("the answer is too long")
		}
		if err != nil {
			packed := l.pack(err)
			reply.Failed = &packed
		} else {
			reply.Answer = []byte(text)
		}
		a.mutex.Lock()
		delete(a.waiting, asked.Number)
		a.mutex.Unlock()
		cancel()
		if err := l.SendValue(kindAnswer, reply); err != nil {
			l.Close() // the other end must not wait for ever
		}
	})
	return nil
}

// forget lets go of a question that needs no answer any more.
func (a *answering) forget(payload []byte) error {
	var number int
	if err := Decode(payload, &number); err != nil {
		return err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if cancel := a.waiting[number]; cancel != nil {
		cancel()
	}
	return nil
}
