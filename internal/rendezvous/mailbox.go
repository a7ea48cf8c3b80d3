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
	link       *link
	id         int64
	scope, tag string
	hasFrom    bool
	from       int
}

// A mailbox holds the messages that a process has not received, and its waiting requests.
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

func (r *receiver) wants(m message) bool {
	return m.tag == r.tag && (r.scope == "" || m.scope == r.scope) && (!r.hasFrom || m.from == r.from)
}

// take returns the oldest message that matches a request.
func (b *mailbox) take(want receiver) (message, bool) {
	i := slices.IndexFunc(b.messages, want.wants)
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

// receiver returns the first request that waits for a message, and skips connections that do not read.
func (b *mailbox) receiver(m message) (receiver, bool) {
	for i, each := range b.receivers {
		if each.wants(m) && !each.link.isBehind() {
			b.receivers = slices.Delete(b.receivers, i, i+1)
			return each, true
		}
	}
	return receiver{}, false
}

// keep keeps a message until it is received.
func (b *mailbox) keep(m message) {
	b.messages = append(b.messages, m)
	b.bytes += len(m.data)
}

// forget removes a request that waits, and reports whether there was one.
func (b *mailbox) forget(l *link, id int64) bool {
	before := len(b.receivers)
	b.receivers = slices.DeleteFunc(b.receivers, func(r receiver) bool { return r.link == l && r.id == id })
	return len(b.receivers) < before
}

// forgetAll removes all requests of a connection.
func (b *mailbox) forgetAll(l *link) {
	b.receivers = slices.DeleteFunc(b.receivers, func(r receiver) bool { return r.link == l })
}
