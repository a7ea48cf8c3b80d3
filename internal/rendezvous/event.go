package rendezvous

// An EventKind says what happened to a process.
type EventKind int

// The kinds of events.
const (
	CheckedIn       EventKind = iota + 1
	Lost                      // the connection of a process that waits
	VotedNo                   // with its reason
	Refused                   // one process too many, or not one that was released
	NewIncarnation            // the processes of the earlier one count no more
	Late                      // a process of a part that was removed
	ReleaseReceived           // a process has read the release
)

// A ProcessEvent happened to a process of a part. Texts are of that process.
type ProcessEvent struct {
	Kind                      EventKind
	Serial, Incarnation, Rank int
	Instance, Host, Reason    string
	Complete                  bool // all processes of the part wait
}

// event is an event of the process at the other end of a connection.
func (p *part) event(kind EventKind, l *link) ProcessEvent {
	return ProcessEvent{Kind: kind, Serial: p.Serial, Incarnation: p.incarnation, Rank: l.rank, Instance: l.instance, Host: l.host}
}
