package rendezvous

// seats are the processes of a part. 10,000 of them check in within seconds, so no step looks at all.
type seats struct {
	members   map[int]*member // by rank
	ranks     map[string]int  // by instance
	connected int             // members with a connection
	taken     int             // all ranks below have members
}

// A member is a process that has checked in.
type member struct {
	instance, host string
	link           *link // nil: the connection is lost
}

func newSeats() seats { return seats{members: map[int]*member{}, ranks: map[string]int{}} }

// add makes an instance the member with a rank, unless it is already.
func (s *seats) add(rank int, instance string) *member {
	if each := s.members[rank]; each != nil && each.instance == instance {
		return each
	}
	s.remove(rank)
	each := &member{instance: instance}
	s.members[rank], s.ranks[instance] = each, rank
	return each
}

// remove removes the member with a rank, if there is one.
func (s *seats) remove(rank int) {
	each := s.members[rank]
	if each == nil {
		return
	}
	s.connect(each, nil)
	delete(s.members, rank)
	if s.ranks[each.instance] == rank {
		delete(s.ranks, each.instance)
	}
	s.taken = min(s.taken, rank)
}

// connect sets the connection of a member; nil for none.
func (s *seats) connect(each *member, l *link) {
	if each.link != nil {
		s.connected--
	}
	if l != nil {
		s.connected++
	}
	each.link = l
}

// rankOf returns the rank of an instance.
func (s *seats) rankOf(instance string) (int, bool) {
	rank, isKnown := s.ranks[instance]
	return rank, isKnown
}

// freeRank returns the lowest of some ranks that no process has, otherwise the lowest of a process whose
// connection is lost.
func (s *seats) freeRank(count int) (int, bool) {
	for s.taken < count && s.members[s.taken] != nil {
		s.taken++
	}
	if s.taken < count {
		return s.taken, true
	}
	if s.connected == len(s.members) {
		return 0, false
	}
	for rank := range count {
		if s.members[rank].link == nil {
			return rank, true
		}
	}
	return 0, false
}
