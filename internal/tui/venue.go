package tui

import (
	"context"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// Questions asks the questions of connections where the user looks. It is a
// [remote.Prompter].
type Questions struct {
	mutex sync.Mutex
	venue *venue // where it asks now
}

// A venue is a prompter that asks the questions for a time.
type venue struct {
	prompter remote.Prompter // nil for nowhere: questions wait
	isSteady bool            // whether what is asked is answered before another venue is used
	life     context.Context // ends when another venue is used
	leave    context.CancelFunc
	asking   sync.WaitGroup
}

func newVenue(prompter remote.Prompter, isSteady bool) *venue {
	life, leave := context.WithCancel(context.Background())
	return &venue{prompter: prompter, isSteady: isSteady, life: life, leave: leave}
}

// NewQuestions returns what asks through a prompter, unless [Questions.AskingAt] says
// otherwise. A prompter that is steady keeps what it began to ask.
func NewQuestions(prompter remote.Prompter, isSteady bool) *Questions {
	return &Questions{venue: newVenue(prompter, isSteady)}
}

// Ask shows the question and returns what the user types. A question without an answer
// moves along when the venue changes.
func (q *Questions) Ask(ctx context.Context, question remote.Question) (string, error) {
	for {
		at := q.enter()
		answer, isOver, err := at.ask(ctx, question)
		at.asking.Done()
		if isOver {
			return answer, err
		}
	}
}

// enter returns where to ask, and counts the question there.
func (q *Questions) enter() *venue {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.venue.asking.Add(1)
	return q.venue
}

// ask asks at a venue; it is not over if the venue was left before there was an answer.
func (v *venue) ask(ctx context.Context, question remote.Question) (answer string, isOver bool, err error) {
	here, cancel := context.WithCancel(ctx)
	defer cancel()
	if v.prompter == nil {
		defer context.AfterFunc(v.life, cancel)()
		<-here.Done()
		return "", ctx.Err() != nil, here.Err()
	}
	if !v.isSteady {
		defer context.AfterFunc(v.life, cancel)()
	}
	answer, err = v.prompter.Ask(here, question)
	wasLeft := here.Err() != nil && ctx.Err() == nil
	return answer, err == nil || !wasLeft, err
}

// AskingAt asks through another prompter while something is done; nil lets questions wait.
func (q *Questions) AskingAt(prompter remote.Prompter, isSteady bool, do func() error) error {
	if q == nil {
		return do()
	}
	before := q.turn(newVenue(prompter, isSteady))
	defer q.turn(newVenue(before.prompter, before.isSteady))
	return do()
}

// turn asks at another venue from now on, and returns the one before. It waits until that
// asks nothing any more.
func (q *Questions) turn(to *venue) (before *venue) {
	q.mutex.Lock()
	before, q.venue = q.venue, to
	q.mutex.Unlock()
	before.leave()
	before.asking.Wait()
	return before
}
