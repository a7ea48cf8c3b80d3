package agent

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// Bounds of an update: clients read a frame as a whole.
const (
	largestUpdate = 256 << 10 // bytes, about
	mostGroups    = 5_000
	mostParents   = 64 // whose elements are collected at a time
)

// A packer packs elements of one kind into few updates: those with equal attributes share a
// group.
type packer struct {
	session *session
	change  proxy.Change
	kind    model.Kind
	parents map[string]*pack
	order   []string // of the parents
}

// A pack is an update that is being collected.
type pack struct {
	groups []proxy.Group
	ids    [][]uint64
	equal  map[string]int // index of a group by its attributes
	size   int
}

func (s *session) packer(change proxy.Change, kind model.Kind) *packer {
	return &packer{session: s, change: change, kind: kind, parents: map[string]*pack{}}
}

// add adds an element below a parent; both ids are those of the protocol.
func (p *packer) add(parent string, id uint64, attributes proxy.Attributes) error {
	at, known := p.parents[parent]
	if !known {
		if len(p.order) >= mostParents {
			if err := p.flush(); err != nil {
				return err
			}
		}
		at = &pack{equal: map[string]int{}}
		p.parents[parent], p.order = at, append(p.order, parent)
	}
	size := at.add(id, attributes)
	if at.size += size; at.size < largestUpdate && len(at.groups) < mostGroups {
		return nil
	}
	return p.send(parent)
}

// add adds an element and returns about how many bytes that takes.
func (p *pack) add(id uint64, attributes proxy.Attributes) int {
	var text strings.Builder
	for _, attribute := range attributes {
		text.WriteString(attribute.ID)
		text.WriteByte('=')
		text.WriteString(attribute.Value)
		text.WriteByte(0)
	}
	key := text.String()
	const number = 20 // bytes of an id with its length
	if i, isEqual := p.equal[key]; isEqual {
		p.ids[i] = append(p.ids[i], id)
		return number
	}
	p.equal[key] = len(p.groups)
	p.groups, p.ids = append(p.groups, proxy.Group{Attributes: attributes}), append(p.ids, []uint64{id})
	return len(key) + 10*len(attributes) + 2*number
}

// send sends what is collected for a parent.
func (p *packer) send(parent string) error {
	collected := p.parents[parent]
	delete(p.parents, parent)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == parent })
	for i := range collected.groups {
		collected.groups[i].IDs = proxy.IDsOf(collected.ids[i]...)
	}
	return p.session.event(proxy.Update{Change: p.change, Kind: p.kind, Parent: parent, Groups: collected.groups})
}

// flush sends all that is collected.
func (p *packer) flush() error {
	for len(p.order) > 0 {
		if err := p.send(p.order[0]); err != nil {
			return err
		}
	}
	return nil
}

// event sends a change of the model, if the client wants it.
func (s *session) event(update proxy.Update) error {
	transaction, isOpen := s.protocol.Events()
	if !isOpen {
		return nil
	}
	update.Transaction = transaction
	return s.send(update)
}
