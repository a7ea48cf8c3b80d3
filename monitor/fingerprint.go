package monitor

import (
	"encoding/binary"
	"hash/maphash"
)

// fingerprint returns what distinguishes facts from others, as far as chance lets it.
func (m *Monitor) fingerprint(names []string, facts Facts) uint64 {
	hash := m.newHash()
	for _, name := range names {
		hash.add(facts.Fact(name))
	}
	return hash.Sum64()
}

// A textHash is a hash of texts.
type textHash struct{ maphash.Hash }

func (m *Monitor) newHash() *textHash {
	hash := &textHash{}
	hash.SetSeed(m.seed)
	return hash
}

// add adds a text and its length, without which texts could be shifted against each
// other.
func (h *textHash) add(text string) {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(text)))
	_, _ = h.Write(length[:]) // cannot fail
	_, _ = h.WriteString(text)
}
