package rendezvous

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Roster names the processes of a part that a release lets run.
type Roster struct {
	Serial, Incarnation int
	Instances           []string // by rank
}

// freezeTime bounds Freeze.
const freezeTime = 5 * time.Second

// A MissingError names the processes that do not wait.
type MissingError struct{ Missing []string }

// Error names the parts and the ranks.
func (e *MissingError) Error() string {
	return "processes are missing: " + strings.Join(e.Missing, "; ")
}

// Freeze checks that all processes of some parts are there and answer. From then on these sets do
// not change until Release or Thaw. The error is a *[MissingError] if processes are missing.
func (s *Server) Freeze(ctx context.Context, serials []int) ([]Roster, error) {
	ctx, cancel := context.WithTimeout(ctx, freezeTime)
	defer cancel()
	answers, links, err := s.freeze(serials)
	if err != nil {
		return nil, err
	}
	for i, answered := range answers {
		select {
		case <-answered:
		case <-ctx.Done():
			s.drop(links[i])
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.complete(serials); err != nil {
		s.thaw(serials)
		return nil, err
	}
	rosters := make([]Roster, 0, len(serials))
	for _, serial := range serials {
		p := s.parts[serial]
		roster := Roster{Serial: serial, Incarnation: p.incarnation, Instances: make([]string, p.Count)}
		for rank, each := range p.members {
			roster.Instances[rank] = each.instance
		}
		rosters = append(rosters, roster)
	}
	return rosters, nil
}

// freeze stops check-ins to parts that are complete, and pings their processes.
func (s *Server) freeze(serials []int) (answers []<-chan struct{}, links []*link, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil, nil, errClosed
	}
	if err := s.complete(serials); err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for _, serial := range serials {
		p := s.parts[serial]
		if p.frozen == nil {
			p.frozen = make(chan struct{})
		}
		for _, each := range p.members {
			answers, links = append(answers, s.ping(each.link, now)), append(links, each.link)
		}
	}
	return answers, links, nil
}

// drop closes the connection of a process that does not answer.
func (s *Server) drop(l *link) {
	l.close()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lose(l.part, l)
}

// complete returns an error with the processes that parts miss.
func (s *Server) complete(serials []int) error {
	var missing []string
	for _, serial := range serials {
		switch p := s.parts[serial]; {
		case p == nil:
			missing = append(missing, fmt.Sprintf("part %d", serial))
		case p.isRemoved, p.released:
			missing = append(missing, fmt.Sprintf("part %s no longer waits", p.Label))
		case !p.isComplete():
			missing = append(missing, fmt.Sprintf("part %s: %d of %d", p.Label, len(p.missing()), p.Count))
		}
	}
	if missing != nil {
		return &MissingError{missing}
	}
	return nil
}

// Thaw lets check-ins of parts count again after an abandoned release.
func (s *Server) Thaw() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, p := range s.parts {
		p.thaw()
	}
}

func (s *Server) thaw(serials []int) {
	for _, serial := range serials {
		if p := s.parts[serial]; p != nil {
			p.thaw()
		}
	}
}

// Release lets processes run. It does not wait until they have read that; a process that connects later with one
// of the instances is released, too.
func (s *Server) Release(rosters []Roster) {
	encoded, err := (&frame{Kind: kindRelease}).encode()
	if err != nil {
		return // a frame without texts always fits
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	joining := s.group == nil
	for _, roster := range rosters {
		p := s.parts[roster.Serial]
		if p == nil || p.isRemoved || p.released {
			continue
		}
		p.released, p.incarnation = true, max(p.incarnation, roster.Incarnation)
		s.keepOnly(p, roster.Instances)
		for _, each := range p.members {
			if each.link != nil {
				s.sendEncoded(each.link, encoded)
			}
		}
		p.thaw()
		if joining {
			s.join(p)
		}
	}
}

// keepOnly makes the instances of a roster the members of a part. Others are refused: the journal does not have
// them.
func (s *Server) keepOnly(p *part, instances []string) {
	for rank, each := range p.members {
		if rank < len(instances) && each.instance == instances[rank] {
			continue
		}
		if l := each.link; l != nil {
			s.send(l, &frame{Kind: kindRefused, Reason: "the ensemble was released without this process"})
			l.finish()
		}
		p.remove(rank)
	}
	for rank, instance := range instances {
		p.add(rank, instance)
	}
}

// join adds a released part to the group. Parts that are released later stay out of it.
func (s *Server) join(p *part) {
	if !p.Joins {
		return
	}
	if s.group == nil {
		s.group = newGroup(s)
	}
	if !slices.Contains(s.group.parts, p) {
		s.group.parts = sorted(append(s.group.parts, p))
	}
}
