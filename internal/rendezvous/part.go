package rendezvous

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A part is a part with its processes. The mutex of the server guards it.
type part struct {
	Part
	seats
	incarnation int
	boxes       map[int]*mailbox
	connections int

	isRemoved bool
	reason    string
	hasEnded  bool
	released  bool
	frozen    chan struct{} // closed by the release or its failure; nil if check-ins count
}

func newPart(admitted Part) *part {
	p := &part{
		Part: admitted, incarnation: admitted.Incarnation, released: admitted.Released,
		seats: newSeats(), boxes: map[int]*mailbox{},
	}
	for rank, instance := range admitted.Instances {
		p.add(rank, instance)
	}
	return p
}

// present returns how many processes wait. Those that were released may have closed their connections.
func (p *part) present() int {
	if p.released {
		return len(p.members)
	}
	return p.connected
}

// isOpen reports whether the processes of the part may run.
func (p *part) isOpen() bool { return p.released || p.Gate == GateOpen }

func (p *part) isComplete() bool { return p.present() == p.Count }

// thaw lets check-ins count again.
func (p *part) thaw() {
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// lose notes that the connection of a process has ended.
func (s *Server) lose(p *part, l *link) {
	process := p.members[l.rank]
	if process == nil || process.link != l {
		return
	}
	p.connect(process, nil)
	if !p.released && !p.isRemoved && p.Gate != GateOpen {
		s.observe(p.event(Lost, l))
	}
}

// A verdict is what becomes of a check-in.
type verdict struct {
	answer *frame
	event  ProcessEvent
	goesOn bool // the connection stays
}

// checkIn answers a process that checks in.
func (s *Server) checkIn(ctx context.Context, l *link, p *proven) error {
	for {
		v, wait, err := s.judge(l, p)
		if err != nil {
			return err
		}
		if wait == nil {
			if !v.goesOn {
				return fmt.Errorf("%s: %s", v.answer.Kind, v.answer.Reason)
			}
			return nil
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

// judge decides on a check-in and sends the answer, or returns what to wait for first.
func (s *Server) judge(l *link, p *proven) (v verdict, wait func(context.Context) error, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return v, nil, errClosed
	}
	of := s.parts[p.serial]
	if of == nil {
		return s.postpone(l, p), nil, nil
	}
	if l.part == nil {
		if of.connections >= linksOfProcess*of.Count && !of.isRemoved {
			return v, nil, errTooMany
		}
		of.connections++
		l.part, l.instance, l.host = of, bounded(p.want.Instance, 64), oneLine(p.want.Host, 255)
	}
	v, wait = s.decide(of, l, p.want)
	if wait != nil {
		return v, wait, nil
	}
	v.answer.Proof = p.proof
	s.send(l, v.answer)
	if v.answer.Kind == kindAccepted && of.isOpen() {
		s.send(l, &frame{Kind: kindRelease})
	}
	if v.event.Kind != 0 {
		v.event.Complete = v.event.Kind == CheckedIn && of.isComplete()
		s.observe(v.event)
	}
	return v, nil, nil
}

// postpone makes a process reconnect: a co-allocator that has just started does not know all parts yet.
func (s *Server) postpone(l *link, p *proven) verdict {
	answer := &frame{Kind: kindLater, Reason: "the co-allocator does not know the part yet", Proof: p.proof}
	s.send(l, answer)
	return verdict{answer: answer}
}

// decide decides on a check-in. The mutex is held.
func (s *Server) decide(p *part, l *link, want *frame) (v verdict, wait func(context.Context) error) {
	if want.HasRank {
		l.rank = want.Rank
	}
	ends := func(kind EventKind, answer, reason string) (verdict, func(context.Context) error) {
		event := p.event(kind, l)
		event.Reason = reason
		return verdict{answer: &frame{Kind: answer, Reason: reason}, event: event}, nil
	}
	switch {
	case p.isRemoved:
		return ends(Late, kindAbort, p.reason)
	case l.instance == "":
		return ends(Refused, kindRefused, "the process has no instance")
	case want.HasRank && (want.Rank < 0 || want.Rank >= p.Count):
		return ends(Refused, kindRefused, fmt.Sprintf("rank %d of a part with %d processes", want.Rank, p.Count))
	case want.Size > 0 && want.Size != p.Count:
		return ends(Refused, kindRefused, fmt.Sprintf("the program has %d processes, the part has %d", want.Size, p.Count))
	case p.frozen != nil:
		return v, awaits(p.frozen)
	case p.released && p.Gate != GateOpen:
		rank, isKnown := p.rankOf(l.instance)
		if !isKnown {
			refused, _ := ends(Refused, kindRefused, "the ensemble was released without this process")
			refused.event.Incarnation++
			return refused, nil
		}
		l.rank = rank
		return s.seat(p, l, false, 0), nil
	case want.No:
		return ends(VotedNo, kindAbort, oneLine(want.Reason, mostReason))
	}
	return s.place(p, l, want)
}

func awaits(changed <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-changed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// place gives a process its rank.
func (s *Server) place(p *part, l *link, want *frame) (v verdict, wait func(context.Context) error) {
	if rank, isBack := p.rankOf(l.instance); isBack {
		l.rank = rank
		return s.seat(p, l, !want.HasRank, CheckedIn), nil
	}
	if !want.HasRank {
		rank, isFree := p.freeRank(p.Count)
		if !isFree {
			event := p.event(Refused, l)
			event.Reason = fmt.Sprintf("one process too many: the part has %d", p.Count)
			return verdict{answer: &frame{Kind: kindRefused, Reason: event.Reason}, event: event}, nil
		}
		l.rank = rank
	}
	earlier := p.members[l.rank]
	switch {
	case earlier == nil:
	case earlier.link == nil:
		s.renew(p)
	case earlier.link.lastHeard().After(l.lastHeard()): // it has answered since this process came
		event := p.event(Refused, l)
		event.Reason = fmt.Sprintf("another process has rank %d", l.rank)
		return verdict{answer: &frame{Kind: kindRefused, Reason: event.Reason}, event: event}, nil
	default:
		return v, s.probe(earlier.link)
	}
	return s.seat(p, l, !want.HasRank, CheckedIn), nil
}

// probe returns a function that waits until a process answers, and closes its connection if it does not.
func (s *Server) probe(l *link) func(context.Context) error {
	answered := s.ping(l, time.Now())
	return func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		select {
		case <-answered:
		case <-limited.Done():
			l.close()
			s.mutex.Lock()
			s.lose(l.part, l)
			s.mutex.Unlock()
		}
		return ctx.Err()
	}
}

// renew begins a new incarnation: the scheduler has started the job again. Processes of the
// earlier one that are still there have to check in again.
func (s *Server) renew(p *part) {
	p.incarnation++
	for _, each := range p.members {
		if each.link != nil {
			each.link.close()
		}
	}
	for _, b := range p.boxes {
		s.kept -= b.bytes
	}
	p.seats, p.boxes = newSeats(), map[int]*mailbox{}
	s.observe(ProcessEvent{Kind: NewIncarnation, Serial: p.Serial, Incarnation: p.incarnation})
}

// seat makes a process the member with its rank.
func (s *Server) seat(p *part, l *link, isArranged bool, kind EventKind) verdict {
	p.incarnation = max(p.incarnation, 1)
	process := p.add(l.rank, l.instance)
	if process.link != nil && process.link != l {
		process.link.close()
	}
	p.connect(process, l)
	process.host = l.host
	v := verdict{answer: &frame{Kind: kindAccepted, HasRank: true, Rank: l.rank, Arranged: isArranged}, goesOn: true}
	if kind != 0 {
		v.event = p.event(kind, l)
	}
	return v
}

// oneLine makes a text of another end one line of valid characters.
func oneLine(text string, longest int) string {
	text = strings.ToValidUTF8(bounded(text, longest), "\uFFFD")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r < ' ' || r == 0x7f || r == utf8.RuneError }), " ")
}

// missing returns the ranks of processes that do not wait.
func (p *part) missing() []int {
	var ranks []int
	for rank := range p.Count {
		if each := p.members[rank]; each == nil || each.link == nil {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}
