package agent

import (
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// longestPrinted bounds the output sent for each stream of a job, in bytes.
const longestPrinted = 64 << 10

// Printed is the end of each output stream of a job.
type Printed struct{ Stdout, Stderr string }

// A printer reads the output of one job at a time, so that submissions need not wait for it.
type printer struct {
	jobs   map[string]bool // with output that was sent or will be
	unread []string        // ids of jobs
	reads  bool
}

// fetchPrinted schedules reading the output of ended jobs of this session. rmctl clients read the files
// themselves when needed.
func (s *session) fetchPrinted(now, before *model.Manager) {
	if s.peer.has(featureDetails) || len(s.names.byTag) == 0 {
		return
	}
	for change := range now.Changes(model.Job, before) {
		if change.After == nil || !model.Ended(model.Job, change.After.State()) {
			continue
		}
		job := change.After.ID()
		_, isOwn := s.names.byTag[tagOf(change.After)]
		if _, isKnown := s.ids.known(model.Job, job); !isOwn || !isKnown || s.printer.jobs[job] {
			continue
		}
		s.printer.jobs[job] = true
		s.printer.unread = append(s.printer.unread, job)
	}
	s.readPrinted()
}

// readPrinted starts reading the output of the next job unless a read is in progress.
func (s *session) readPrinted() {
	if s.printer.reads || len(s.printer.unread) == 0 {
		return
	}
	job := s.printer.unread[0]
	s.printer.reads, s.printer.unread = true, s.printer.unread[1:]
	s.work.Go(func() {
		printed, err := s.options.Scheduler.Printed(s.life, job, longestPrinted)
		s.pass(func() error {
			s.printer.reads = false
			defer s.readPrinted()
			if err != nil {
				s.options.Log.Debug("reading the output of a job", "job", job, "error", err)
				return nil
			}
			return s.sendPrinted(job, printed)
		})
	})
}

// sendPrinted sends the output of a job. In the protocol, output belongs to a process: the first one, or
// a placeholder for the job.
func (s *session) sendPrinted(job string, printed Printed) error {
	element, isThere := s.sent.Get(model.Job, job)
	_, isOpen := s.protocol.Events()
	if !isThere || !isOpen || !s.printer.jobs[job] {
		delete(s.printer.jobs, job)
		return nil
	}
	var index uint64
	process := func(change proxy.Change, attributes proxy.Attributes) error {
		return s.event(proxy.Update{Change: change, Kind: model.Process, Parent: s.ids.text(model.Job, job), Groups: []proxy.Group{{IDs: proxy.IDsOf(index), Attributes: attributes}}})
	}
	streams := proxy.Attributes{{ID: attributeStdout, Value: printed.Stdout}, {ID: attributeStderr, Value: printed.Stderr}}
	isAnnounced := false
	for each := range s.sent.Children(model.Process, job) {
		index, isAnnounced = s.ids.known(model.Process, each.ID())
		break
	}
	for _, stream := range streams {
		if stream.Value = strings.ToValidUTF8(stream.Value, "\ufffd"); stream.Value == "" {
			continue
		}
		if !isAnnounced {
			isAnnounced = true
			if err := process(proxy.New, s.standIn(element, index)); err != nil {
				return err
			}
		}
		if err := process(proxy.Changed, proxy.Attributes{stream}); err != nil {
			return err
		}
	}
	return nil
}

// standIn returns the attributes of a placeholder process.
func (s *session) standIn(job *model.Element, index uint64) proxy.Attributes {
	state := model.State(vocabulary.StateExited)
	if job.State() == vocabulary.StateError {
		state = vocabulary.StateError
	}
	number := strconv.FormatUint(index, 10)
	attributes := proxy.Attributes{{ID: vocabulary.AttributeName, Value: job.ID() + "." + number}}
	attributes = append(attributes, s.peer.stateWord(model.Process, state)...)
	attributes = append(attributes, proxy.Attribute{ID: vocabulary.AttributeProcessIndex, Value: number})
	for definition, value := range job.Attributes() {
		if definition.ID == vocabulary.AttributeJobExitCode {
			attributes = append(attributes, proxy.Attribute{ID: vocabulary.AttributeProcessExitCode, Value: value.Text()})
		}
	}
	return attributes
}
