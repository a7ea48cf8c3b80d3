package rendezvous

import (
	"errors"
	"fmt"
)

// The codes of errors in replies.
const (
	codeNotJoined = "not-joined"
	codeRank      = "rank"
	codeUnknown   = "unknown"
	codeEnded     = "ended"
	codeFull      = "full"
	codeTooLong   = "too-long"
	codeInvalid   = "invalid"
	codeForgotten = "forgotten"
)

func refusal(request *frame, code, reason string) *frame {
	return &frame{Kind: kindReply, ID: request.ID, Code: code, Error: reason}
}

// openSession answers a process that was released and wants to exchange messages.
func (s *Server) openSession(l *link, p *proven) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return errClosed
	}
	of := s.parts[p.serial]
	if of == nil {
		s.postpone(l, p)
		return errUnknownPart
	}
	refuse := func(kind, reason string) error {
		s.send(l, &frame{Kind: kind, Reason: reason, Proof: p.proof})
		return errors.New(reason)
	}
	rank, isKnown := of.rankOf(bounded(p.want.Instance, 64))
	switch {
	case of.isRemoved:
		return refuse(kindAbort, of.reason)
	case !isKnown || !of.isOpen():
		return refuse(kindRefused, "the process was not released")
	case of.connections >= linksOfProcess*of.Count:
		return refuse(kindRefused, "the processes of the part have too many connections")
	}
	of.connections++
	l.part, l.rank, l.instance = of, rank, p.want.Instance
	s.send(l, &frame{Kind: kindAccepted, HasRank: true, Rank: rank, Proof: p.proof})
	return nil
}

// handle answers a request of a process.
func (s *Server) handle(l *link, f *frame) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !l.part.isOpen() {
		return fmt.Errorf("%w: a request before the release", errOutOfOrder)
	}
	var answer *frame
	switch f.Kind {
	case kindStructure:
		answer = replyWith(f.ID, s.group.structure(l))
	case kindSend:
		answer = s.deliver(l, f)
	case kindReceive:
		answer = s.receive(l, f)
	case kindExchange:
		if s.group == nil {
			answer = refusal(f, codeNotJoined, "the ensemble has no group")
		} else {
			answer = s.group.exchange(l, f)
		}
	case kindForget:
		answer = s.forget(l, f)
	}
	if answer != nil {
		s.send(l, answer)
	}
	return nil
}

// forget gives up a request. If the request still waits, forget answers it; otherwise its answer is on the way,
// with a message that must not be lost.
func (s *Server) forget(l *link, f *frame) *frame {
	isForgotten := l.part.box(l.rank).forget(l, f.ID)
	if s.group != nil && s.group.forget(l, f.ID) {
		isForgotten = true
	}
	if !isForgotten {
		return nil
	}
	return refusal(f, codeForgotten, "the request was given up")
}

// deliver puts a message into the mailbox of its receiver.
func (s *Server) deliver(l *link, f *frame) *frame {
	to, rank, refused := s.receiverOf(l, f)
	m := message{scope: f.Scope, tag: f.Tag, from: l.rank, data: f.payload}
	if f.Scope == scopeInter {
		m.from = s.key.address(l.part.Serial)
	}
	switch {
	case refused != nil:
		return refused
	case len(f.Tag) > mostTag:
		return refusal(f, codeTooLong, fmt.Sprintf("a tag has at most %d bytes", mostTag))
	case to.hasEnded || to.isRemoved:
		return refusal(f, codeEnded, "the part of the receiver has ended")
	}
	box := to.box(rank)
	if waiting, isReceived := box.receiver(m); isReceived {
		s.send(waiting.link, received(waiting.id, m))
	} else if !box.accepts(m) || s.kept+len(m.data) > mostKept {
		return refusal(f, codeFull, "the receiver has to receive messages before it can get more")
	} else {
		box.keep(m)
		s.kept += len(m.data)
	}
	return &frame{Kind: kindReply, ID: f.ID}
}

// receiverOf returns the part and the rank that a message is for, or why there is no such process.
func (s *Server) receiverOf(l *link, f *frame) (to *part, rank int, refused *frame) {
	switch f.Scope {
	case scopeIntra:
		switch {
		case f.To < 0 || f.To >= l.part.Count:
			return nil, 0, refusal(f, codeUnknown, fmt.Sprintf("the part has no rank %d", f.To))
		case f.To == l.rank:
			return nil, 0, refusal(f, codeInvalid, "a process cannot send to itself")
		}
		return l.part, f.To, nil
	case scopeInter:
		to = s.group.find(f.To)
		switch {
		case l.rank != 0:
			return nil, 0, refusal(f, codeRank, "only rank 0 of a part sends to other parts")
		case !s.group.has(l.part):
			return nil, 0, refusal(f, codeNotJoined, "the part is not in the group")
		case to == nil:
			return nil, 0, refusal(f, codeUnknown, fmt.Sprintf("no part has address %d", f.To))
		case to == l.part:
			return nil, 0, refusal(f, codeInvalid, "a process cannot send to itself")
		}
		return to, 0, nil
	}
	return nil, 0, refusal(f, codeInvalid, "unknown scope")
}

// receive answers with a waiting message, or lets the process wait for one.
func (s *Server) receive(l *link, f *frame) *frame {
	box := l.part.box(l.rank)
	want := receiver{link: l, id: f.ID, scope: f.Scope, tag: f.Tag, hasFrom: f.HasFrom, from: f.From}
	if len(f.Tag) > mostTag || len(f.Scope) > len(scopeInter) {
		return refusal(f, codeTooLong, fmt.Sprintf("a tag has at most %d bytes", mostTag))
	}
	if m, isThere := box.take(want); isThere {
		s.kept -= len(m.data)
		return received(f.ID, m)
	}
	if len(box.receivers) >= mostReceivers {
		return refusal(f, codeFull, fmt.Sprintf("%d requests of this process wait for messages already", mostReceivers))
	}
	box.receivers = append(box.receivers, want)
	return nil
}

func received(id int64, m message) *frame {
	return &frame{Kind: kindReply, ID: id, Scope: m.scope, HasFrom: true, From: m.from, payload: m.data}
}
