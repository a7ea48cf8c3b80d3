package debug

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/sorting"
)

const (
	// MostLine bounds a line between a rank and a session, in bytes.
	MostLine = 1 << 20
	// MostRanks bounds the ranks of a session.
	MostRanks = 1 << 16
)

// A Session debugs ranks together. Its methods may be called concurrently. The zero value is a session
// without ranks.
type Session struct {
	mutex       sync.Mutex
	members     map[int]*Member
	asks        map[int]*Pending
	lastNumber  int
	lastMoment  int
	start       *Request
	breakpoints []Breakpoint
	news        news
}

// A Member is a rank's place in a session. The caller passes it what the rank sends.
type Member struct {
	session *Session
	send    func(line []byte) error
	rank    int // -1 before the hello
	hello   Hello
	state   Rank
	moment  int // when state changed last
	hasLeft bool
}

// Join adds a rank whose number its first line says. Send passes a line on to it; it must not wait, and must not
// call the session.
func (s *Session) Join(send func(line []byte) error) *Member {
	return &Member{session: s, send: send, rank: -1}
}

// Receive takes a line that the rank sent, without its line break. After an error the rank is no longer part of the
// session, and the caller closes the connection.
func (m *Member) Receive(line []byte) error {
	number, body, err := cutLine(line)
	if err == nil {
		err = m.take(number, body)
	}
	if err != nil {
		m.Leave(err.Error())
	}
	return err
}

// cutLine splits a line into its number and its JSON object.
func cutLine(line []byte) (number int, body []byte, err error) {
	digits, body, isCut := bytes.Cut(line, []byte{' '})
	count, err := strconv.ParseUint(string(digits), 10, 31)
	if !isCut || err != nil || len(body) == 0 || body[0] != '{' || len(line) > MostLine {
		return 0, nil, errors.New("invalid line from the debugger of a rank")
	}
	return int(count), body, nil
}

func (m *Member) take(number int, body []byte) error {
	s := m.session
	if number > 0 {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if asked := s.asks[number]; asked != nil && m.rank >= 0 {
			asked.add(m.rank, body)
		}
		return nil
	}
	var notice Notice
	if err := json.Unmarshal(body, &notice); err != nil {
		return fmt.Errorf("invalid notice from the debugger of a rank: %w", err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if m.rank < 0 {
		return s.add(m, notice)
	}
	if m.hasLeft || notice.Report == ReportHello {
		return errors.New("the debugger of a rank reports twice")
	}
	if state := m.state.after(notice); state != m.state || notice.Report == ReportStopped {
		s.change(m, state)
	}
	return s.news.add(m.rank, notice)
}

// add takes the hello of a rank, and sends the rank what other ranks got earlier.
func (s *Session) add(m *Member, notice Notice) error {
	hello := notice.Hello
	switch {
	case notice.Report != ReportHello || hello == nil:
		return errors.New("the debugger of a rank does not begin with a hello")
	case hello.Version != ProtocolVersion:
		return fmt.Errorf("rank %d has another version of rmctl-node", hello.Rank)
	case hello.Rank < 0 || hello.Rank >= MostRanks:
		return fmt.Errorf("rank %d is out of range", hello.Rank)
	}
	if other := s.members[hello.Rank]; other != nil && other.state.State != Lost {
		return fmt.Errorf("rank %d is there twice, on %.100q and %.100q", hello.Rank, other.hello.Host, hello.Host)
	}
	if s.members == nil {
		s.members = map[int]*Member{}
	}
	m.rank, m.hello = hello.Rank, *hello
	s.change(m, Rank{State: Ready})
	s.members[m.rank] = m
	if err := s.news.add(m.rank, notice); err != nil {
		return err
	}
	if len(s.breakpoints) > 0 {
		s.sendUnasked(m, Request{Verb: SetBreakpoints, Breakpoints: s.breakpoints})
	}
	if s.start != nil {
		s.sendUnasked(m, *s.start)
	}
	return nil
}

// sendUnasked sends a request without waiting for the answer.
func (s *Session) sendUnasked(m *Member, request Request) {
	s.lastNumber++
	line, err := encode(s.lastNumber, request)
	if err == nil {
		err = m.send(line)
	}
	if err != nil {
		s.leave(m, err.Error())
	}
}

// change records the state of a rank.
func (s *Session) change(m *Member, state Rank) {
	s.lastMoment++
	m.state, m.moment = state, s.lastMoment
}

// encode returns the line of a request.
func encode(number int, request Request) ([]byte, error) {
	body, err := json.Marshal(request)
	if err == nil && len(body) > MostLine-20 {
		err = errors.New("the request is too long")
	}
	if err != nil {
		return nil, err
	}
	return append(append(strconv.AppendInt(nil, int64(number), 10), ' '), append(body, '\n')...), nil
}

// Leave reports the end of the connection to a rank.
func (m *Member) Leave(reason string) {
	m.session.mutex.Lock()
	defer m.session.mutex.Unlock()
	m.session.leave(m, reason)
}

func (s *Session) leave(m *Member, reason string) {
	if m.hasLeft {
		return
	}
	m.hasLeft = true
	if m.rank < 0 {
		return
	}
	if m.state.State != Exited && m.state.State != Released {
		s.change(m, Rank{State: Lost, Text: reason})
	}
	for _, asked := range s.asks {
		asked.lose(m.rank, m.whyLeft())
	}
	s.news.wake()
}

// whyLeft returns why a rank that has left does not answer.
func (m *Member) whyLeft() string {
	if m.state.State == Lost {
		return m.state.Text
	}
	return m.state.String()
}

// Hello returns the first message of a rank.
func (s *Session) Hello(rank int) (Hello, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if m := s.members[rank]; m != nil {
		return m.hello, true
	}
	return Hello{}, false
}

// Builds returns the ranks of each build of the program, as far as builds are known.
func (s *Session) Builds() []Ranks {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	numbers := map[string][]int{}
	for number, m := range s.members {
		if m.hello.Build != "" {
			numbers[m.hello.Build] = append(numbers[m.hello.Build], number)
		}
	}
	builds := make([]Ranks, 0, len(numbers))
	for _, ranks := range numbers {
		builds = append(builds, setOf(ranks))
	}
	sorting.Stable(builds, func(a, b Ranks) int { return cmp.Compare(a[0].First, b[0].First) })
	return builds
}

// Ranks returns the ranks in any of some states; all if none is given.
func (s *Session) Ranks(states ...State) Ranks {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.ranks(states...)
}

func (s *Session) ranks(states ...State) Ranks {
	var found []int
	for number, m := range s.members {
		if len(states) == 0 || slices.Contains(states, m.state.State) {
			found = append(found, number)
		}
	}
	return setOf(found)
}

// Moments returns for each rank when its state changed last, as numbers that count up in the session, 0 if the
// rank is unknown. An answer is valid as long as the moment of its rank is the same before the question and
// after the answer.
func (s *Session) Moments(ranks Ranks) []int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	moments := make([]int, 0, ranks.Count())
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			moment := 0
			if m := s.members[rank]; m != nil {
				moment = m.moment
			}
			moments = append(moments, moment)
		}
	}
	return moments
}

// Classes returns the classes of ranks, the one with the lowest rank first.
func (s *Session) Classes() []Class {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	numbers := map[Rank][]int{}
	for number, m := range s.members {
		numbers[m.state] = append(numbers[m.state], number)
	}
	classes := make([]Class, 0, len(numbers))
	for state, ranks := range numbers {
		classes = append(classes, Class{setOf(ranks), state})
	}
	sorting.Stable(classes, func(a, b Class) int { return cmp.Compare(a.Ranks[0].First, b.Ranks[0].First) })
	return classes
}

// Start starts the programs of all ranks, those that join later included. It returns as Ask does.
func (s *Session) Start(ctx context.Context, request Request) []Part {
	request.Verb = Start
	s.mutex.Lock()
	s.start = &request
	s.mutex.Unlock()
	return s.Ask(ctx, Question{s.Ranks(Ready), request})
}

// SetBreakpoints replaces the breakpoints of all ranks, those that join later included. It returns as Ask does.
func (s *Session) SetBreakpoints(ctx context.Context, all []Breakpoint) []Part {
	return s.SendBreakpoints(all).Wait(ctx)
}

// SendBreakpoints replaces the breakpoints as SetBreakpoints does, and returns at once, as Send does.
func (s *Session) SendBreakpoints(all []Breakpoint) *Pending {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.breakpoints = slices.Clone(all)
	return s.sendAll([]Question{{s.ranks(Ready, Running, Stopped), Request{Verb: SetBreakpoints, Breakpoints: all}}})
}

// Next waits for reports of ranks, and returns all of them, in the order of each rank. If it returns none, a
// state has changed. One goroutine at a time may call Next or Take.
func (s *Session) Next(ctx context.Context) ([]Update, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.Reports():
		return s.Take(), nil
	}
}

// Reports returns a channel that is closed once ranks have reported something. Take returns that.
func (s *Session) Reports() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.news.init()
	return s.news.ready
}

// Take returns the reports of ranks as Next does, but does not wait.
func (s *Session) Take() []Update {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.news.take()
}

func setOf(numbers []int) Ranks {
	slices.Sort(numbers)
	var set Ranks
	for _, number := range numbers {
		if last := len(set) - 1; last >= 0 && number <= set[last].Last+1 {
			set[last].Last = number
			continue
		}
		set = append(set, ranges.Range{First: number, Last: number})
	}
	return set
}
