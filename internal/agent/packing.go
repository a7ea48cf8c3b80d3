package agent

import (
	"slices"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// Limits of an update, since clients read whole frames.
const (
	largestUpdate = 256 << 10 // bytes, about
	mostGroups    = 5_000
	mostParents   = 64 // parents collected at a time
)

// A packer packs elements of one kind into few updates: neighbors with equal attributes
// share a group.
type packer struct {
	session *session
	change  proxy.Change
	kind    model.Kind
	parents map[string]*pack
	order   []string // of the parents
}

// A pack is an update being collected.
type pack struct {
	groups []proxy.Group
	ids    [][]uint64
	size   int
}

func (s *session) packer(change proxy.Change, kind model.Kind) *packer {
	return &packer{session: s, change: change, kind: kind, parents: map[string]*pack{}}
}

// add adds an element below a parent. Both are protocol ids.
func (p *packer) add(parent string, id uint64, attributes proxy.Attributes) error {
	at, known := p.parents[parent]
	if !known {
		if len(p.order) >= mostParents {
			if err := p.flush(); err != nil {
				return err
			}
		}
		at = &pack{}
		p.parents[parent], p.order = at, append(p.order, parent)
	}
	size := at.add(id, attributes)
	if at.size += size; at.size < largestUpdate && len(at.groups) < mostGroups {
		return nil
	}
	return p.send(parent)
}

// add adds an element and returns its approximate size. Equal neighbors share a group.
func (p *pack) add(id uint64, attributes proxy.Attributes) int {
	const number = 20 // bytes of an id with its length
	if last := len(p.groups) - 1; last >= 0 && slices.Equal(p.groups[last].Attributes, attributes) {
		p.ids[last] = append(p.ids[last], id)
		return number
	}
	p.groups, p.ids = append(p.groups, proxy.Group{Attributes: attributes}), append(p.ids, []uint64{id})
	size := 2 * number
	for _, attribute := range attributes {
		size += len(attribute.ID) + len(attribute.Value) + 10
	}
	return size
}

// send sends the elements collected for a parent.
func (p *packer) send(parent string) error {
	collected := p.parents[parent]
	delete(p.parents, parent)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == parent })
	for i := range collected.groups {
		collected.groups[i].IDs = proxy.IDsOf(collected.ids[i]...)
	}
	return p.session.event(proxy.Update{Change: p.change, Kind: p.kind, Parent: parent, Groups: collected.groups})
}

// flush sends all collected elements.
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
	if execution.IsClosed(s.closing) {
		return errClosing
	}
	update.Transaction = transaction
	return s.deliver(update.Frame(), s.closing)
}
