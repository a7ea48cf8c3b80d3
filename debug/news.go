package debug

import "errors"

// An Update is a notice of a rank.
type Update struct {
	Rank int
	Notice
}

const (
	// mostOutput bounds the output that waits for the caller, in bytes.
	mostOutput = 16 << 20
	// mostUpdates bounds all other notices that wait. An honest rank sends a few for each request.
	mostUpdates = 1 << 18
)

// news holds the notices that the caller has not taken.
type news struct {
	updates []Update
	output  int           // bytes of output in updates
	omitted map[int]int   // bytes of output that were left out, by rank
	ready   chan struct{} // closed once there is something
	isReady bool
}

func (n *news) init() {
	if n.ready == nil {
		n.ready, n.isReady = make(chan struct{}), false
	}
}

// wake signals a change.
func (n *news) wake() {
	n.init()
	if !n.isReady {
		n.isReady = true
		close(n.ready)
	}
}

// add adds a notice. It only counts the bytes of output beyond the limit.
func (n *news) add(rank int, notice Notice) error {
	if notice.Report == ReportOutput {
		if n.output+len(notice.Text) > mostOutput || len(n.updates) >= mostUpdates/2 {
			if n.omitted == nil {
				n.omitted = map[int]int{}
			}
			n.omitted[rank] += len(notice.Text)
			n.wake()
			return nil
		}
		n.output += len(notice.Text)
	}
	if len(n.updates) >= mostUpdates {
		return errors.New("too many notices from the debuggers of ranks")
	}
	n.updates = append(n.updates, Update{rank, notice})
	n.wake()
	return nil
}

// take returns all notices.
func (n *news) take() []Update {
	updates := n.updates
	for rank, count := range n.omitted {
		updates = append(updates, Update{rank, Notice{Report: ReportOmitted, Omitted: count}})
	}
	*n = news{}
	n.init()
	return updates
}
