package command

import "hash/maphash"

// An idSet tells whether an id came before. It keeps the hashes of ids: of 64 bits, so
// that not even a million of them fall together, and with a seed that nobody can know
// who chooses ids. A map of them takes several times as long for each of many.
type idSet struct {
	seed  maphash.Seed
	slots []uint64 // a power of two of them; a hash is in the first free one from its place on
	taken int
}

const (
	fewestSlots = 64
	freeSlot    = 0 // the hash that is this counts as another one
)

func newIDSet() idSet { return idSet{seed: maphash.MakeSeed(), slots: make([]uint64, fewestSlots)} }

// add adds an id, and reports whether it is new.
func (s *idSet) add(id string) bool {
	if s.taken > len(s.slots)/4*3 {
		before := s.slots
		s.slots, s.taken = make([]uint64, 2*len(before)), 0
		for _, hash := range before {
			if hash != freeSlot {
				s.put(hash)
			}
		}
	}
	return s.put(max(maphash.String(s.seed, id), freeSlot+1))
}

// put reports whether a hash is new.
func (s *idSet) put(hash uint64) bool {
	last := uint64(len(s.slots) - 1)
	for at := hash & last; ; at = (at + 1) & last {
		switch s.slots[at] {
		case hash:
			return false
		case freeSlot:
			s.slots[at] = hash
			s.taken++
			return true
		}
	}
}
