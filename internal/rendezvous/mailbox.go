package rendezvous

import "slices"

// The scopes of messages.
const (
	scopeInter = "inter" // between the first processes of parts
	scopeIntra = "intra" // between the processes of one part
)

// A message waits for its receiver.
type message struct {
	scope, tag string
	from       int // address or rank
	data       []byte
}

// A receiver waits for a message.
type receiver struct {
	link *link
	want *frame
}

// A mailbox has the messages for a process that nobody has received, and those who wait for one.
type mailbox struct {
	messages  []message
	bytes     int
	receivers []receiver
}

// box returns the mailbox of a process.
func (p *part) box(rank int) *mailbox {
	b := p.boxes[rank]
	if b == nil {
		b = &mailbox{}
		p.boxes[rank] = b
	}
	return b
}

func (m *message) suits(want *frame) bool {
	return m.tag == want.Tag && (want.Scope == "" || m.scope == want.Scope) && (!want.HasFrom || m.from == want.From)
}

// take returns the oldest message that a request means.
func (b *mailbox) take(want *frame) (message, bool) {
	i := slices.IndexFunc(b.messages, func(m message) bool { return m.suits(want) })
	if i < 0 {
		return message{}, false
	}
	taken := b.messages[i]
	b.messages = slices.Delete(b.messages, i, i+1)
	b.bytes -= len(taken.data)
	return taken, true
}

// accepts reports whether the mailbox has room for a message.
func (b *mailbox) accepts(m message) bool {
	return len(b.messages) < mostQueued && b.bytes+len(m.data) <= mostQueuedBytes
}

// put gives a message to the first receiver that waits for it, or keeps it.
func (b *mailbox) put(m message) (to receiver, isReceived bool) {
	for i, each := range b.receivers {
		if m.suits(each.want) {
			b.receivers = slices.Delete(b.receivers, i, i+1)
			return each, true
		}
	}
	b.messages = append(b.messages, m)
	b.bytes += len(m.data)
	return receiver{}, false
}

// forget removes a request that waits.
func (b *mailbox) forget(l *link, id int64) {
	b.receivers = slices.DeleteFunc(b.receivers, func(r receiver) bool { return r.link == l && r.want.ID == id })
}

// forgetAll removes all requests of a connection.
func (b *mailbox) forgetAll(l *link) {
	b.receivers = slices.DeleteFunc(b.receivers, func(r receiver) bool { return r.link == l })
}
