package main

import (
	"context"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// questions has what connections ask asked where the user looks. It is a [remote.Prompter].
type questions struct {
	mutex sync.Mutex
	venue *venue // where is asked now
}

// A venue is where questions are asked for a time.
type venue struct {
	prompter remote.Prompter // nil for nowhere: questions wait
	isSteady bool            // whether what is asked is answered before another venue is turned to
	left     chan struct{}   // closed when another venue is turned to
	asking   sync.WaitGroup
}

func newVenue(prompter remote.Prompter, isSteady bool) *venue {
	return &venue{prompter: prompter, isSteady: isSteady, left: make(chan struct{})}
}

// newQuestions returns what has questions asked at a venue, until they are to be asked elsewhere.
func newQuestions(usual *venue) *questions { return &questions{venue: usual} }

// Ask shows the question and returns what is typed. One that nobody has answered when
// another venue is turned to is asked anew there.
func (q *questions) Ask(ctx context.Context, question remote.Question) (string, error) {
	for {
		at := q.enter()
		answer, isOver, err := at.ask(ctx, question)
		at.asking.Done()
		if isOver {
			return answer, err
		}
	}
}

// enter returns where to ask. Its asking is to be told when that is over.
func (q *questions) enter() *venue {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.venue.asking.Add(1)
	return q.venue
}

// ask asks at a venue; it is not over if the venue was left before there was an answer.
func (v *venue) ask(ctx context.Context, question remote.Question) (answer string, isOver bool, err error) {
	if v.prompter == nil {
		select {
		case <-v.left:
			return "", false, nil
		case <-ctx.Done():
			return "", true, ctx.Err()
		}
	}
	here, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-v.left:
			if !v.isSteady {
				cancel()
			}
		case <-here.Done():
		}
	})
	answer, err = v.prompter.Ask(here, question)
	wasLeft := here.Err() != nil && ctx.Err() == nil
	cancel()
	watching.Wait()
	return answer, err == nil || !wasLeft, err
}

// askingAt has questions asked at a venue while something is done.
func (q *questions) askingAt(at *venue, do func() error) error {
	if q == nil {
		return do()
	}
	before := q.turn(at)
	defer q.turn(before.again())
	return do()
}

// turn has questions asked at another venue, and returns the one before. It waits until
// nothing is asked there any more.
func (q *questions) turn(to *venue) (before *venue) {
	q.mutex.Lock()
	before, q.venue = q.venue, to
	q.mutex.Unlock()
	close(before.left)
	before.asking.Wait()
	return before
}

// again returns the venue to be turned back to.
func (v *venue) again() *venue { return newVenue(v.prompter, v.isSteady) }

// theTerminal returns the terminal that the user sits at, while nothing else has it.
func theTerminal() *venue { return newVenue(newPrompter(), true) }
