package agentclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/proxy"
)

// The protocol does not mark the end of an announcement. For agents other than rmctl, readers regard it
// as complete after these times without events, or in total; later, missing elements are removed. An
// rmctl agent reports what its scheduler has listed; until then nothing is removed.
const (
	firstEvent    = 3 * time.Second
	listedQuiet   = time.Second
	longestListed = 30 * time.Second
	settledQuiet  = 10 * time.Second
	longestSettle = time.Minute
)

// An announcement is the list of all elements after START_EVENTS.
type announcement struct {
	begun     time.Time
	latest    time.Time // time of the latest event; may be zero
	isOwn     bool      // whether the agent is rmctl
	isListed  bool
	isSettled bool
}

// due returns the time of the next step, if one is due.
func (a *announcement) due() (time.Time, bool) {
	switch {
	case a.isSettled, a.isOwn && a.isListed:
		return time.Time{}, false
	case a.isOwn:
		return a.begun.Add(longestListed), true
	case a.isListed && a.latest.IsZero():
		return a.begun.Add(settledQuiet), true
	case a.isListed:
		return earlier(a.latest.Add(settledQuiet), a.begun.Add(longestSettle)), true
	case a.latest.IsZero():
		return a.begun.Add(firstEvent), true
	}
	return earlier(a.latest.Add(listedQuiet), a.begun.Add(longestListed)), true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// run keeps the model up to date until the session ends, then cleans up.
func (s *Session) run() {
	err := s.follow()
	close(s.queue.stopped)
	s.mu.Lock()
	isQuitting := s.isQuiting
	s.mu.Unlock()
	isOrderly := isQuitting && (errors.Is(err, io.EOF) || errors.Is(err, errShutDown) || errors.Is(err, io.ErrUnexpectedEOF))
	s.stream.close(isOrderly)
	s.work.Wait()
	reason := errClosed.Error()
	if !isOrderly && !errors.Is(err, errClosed) {
		if errors.Is(err, io.EOF) {
			err = errHungUp
		}
		s.err = &EndedError{err, s.report.last(quotedLines)}
		reason = s.err.Error()
	}
	s.state.end(reason)
	s.cancel(s.err)
	close(s.done)
}

// follow applies events to the model until the queue ends and returns the reason.
func (s *Session) follow() error {
	timer := time.NewTimer(longestSettle)
	defer timer.Stop()
	current := announcement{isListed: true, isSettled: true}
	for {
		select {
		case <-s.announced:
			current = s.newAnnouncement()
		case <-s.queue.filled:
			if execution.IsClosed(s.announced) { // a signal: earlier events belong to it
				current = s.newAnnouncement()
			}
			events, end := s.queue.take()
			changed, err := s.handle(events)
			if err := cmp.Or(err, end); err != nil {
				return err
			}
			if changed {
				current.latest = time.Now()
			}
			s.hurry(&current)
		case <-timer.C:
			s.advance(&current)
		case <-s.life.Done():
			return context.Cause(s.life)
		}
		if due, isDue := current.due(); isDue {
			timer.Reset(time.Until(due))
		} else {
			timer.Stop()
		}
	}
}

// newAnnouncement returns an announcement that begins now.
func (s *Session) newAnnouncement() announcement {
	return announcement{begun: time.Now(), isOwn: len(s.Features()) > 0}
}

// hurry takes the steps that an rmctl agent reports as due. It removes missing elements before waiting
// readers continue.
func (s *Session) hurry(current *announcement) {
	if !current.isOwn || current.isSettled {
		return
	}
	isComplete, areListed := s.state.progress()
	if areListed {
		s.settle(current)
	}
	if isComplete || areListed {
		s.markListed(current)
	}
}

// advance takes the next step of an announcement.
func (s *Session) advance(current *announcement) {
	if current.isListed {
		s.settle(current)
	} else {
		s.markListed(current)
	}
}

// settle removes elements that are missing from an announcement.
func (s *Session) settle(current *announcement) {
	current.isSettled = true
	s.state.settle(s.canResume.Load())
}

// markListed ends the wait for the first announcement.
func (s *Session) markListed(current *announcement) {
	current.isListed = true
	if !execution.IsClosed(s.listed) {
		close(s.listed)
	}
}

// handle applies updates: first changes to the model, then answers to waiting commands.
func (s *Session) handle(updates []proxy.Update) (changed bool, err error) {
	var changes []proxy.Update
	var answers []proxy.Update
	var commands []proxy.Command
	s.mu.Lock()
	for _, update := range updates {
		command, belongs := s.protocol.Receive(update)
		switch {
		case command != nil:
			answers, commands = append(answers, update), append(commands, *command)
		case update.Change == proxy.ShutDown:
			err = errShutDown
		case update.Change == proxy.Message || update.Change == proxy.OK:
			s.log(update)
		case belongs:
			changes = append(changes, update)
		}
	}
	s.mu.Unlock()
	if applied := s.state.apply(changes); applied != nil {
		return true, applied
	}
	for i, update := range answers {
		if refused := s.answer(commands[i], update); refused != nil {
			err = refused
		}
	}
	return len(changes) > 0, err
}

// answer passes an answer to the waiting command. An error ends the session.
func (s *Session) answer(command proxy.Command, update proxy.Update) error {
	switch {
	case command.ID == proxy.Quit:
		return errShutDown
	case command.ID == proxy.StartEvents && update.Change == proxy.OK:
		s.state.suspend()
	case command.ID == proxy.StartEvents:
		return refusal(command, update)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.waiting[command.Transaction]; waiting != nil {
		waiting <- update
		delete(s.waiting, command.Transaction)
	}
	return nil
}

// log logs a message, and the answer of C agents to invalid commands.
func (s *Session) log(update proxy.Update) {
	if update.Change == proxy.OK && len(update.Arguments) == 0 {
		return
	}
	if update.Change == proxy.OK {
		s.report.count(oddBroken, 1)
	}
	level, _ := update.Attributes.Value("messageLevel")
	text, _ := update.Attributes.Value("messageText")
	s.report.line(fmt.Sprintf("%s: %s", level, text))
}

// refusal returns the error of an update that refuses a command, nil for one that does not.
func refusal(command proxy.Command, update proxy.Update) error {
	if update.Change == proxy.OK || update.Change == proxy.ShutDown {
		return nil
	}
	text, _ := update.Attributes.Value("errorMsg")
	code, _ := update.Attributes.Value("errorCode")
	number, _ := strconv.Atoi(code) // agents without codes send 0
	return &RefusedError{command.Name(), number, plaintext.Clean(text, longestLine)}
}
