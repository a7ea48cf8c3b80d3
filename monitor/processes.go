package monitor

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// Attributes of processes, which are predefined.
const (
	attributeProcessPID    = "processPID"
	attributeProcessSignal = "processSignalName"
	attributeProcessStdout = "processStdout"
	attributeProcessStderr = "processStderr"
)

// shownProcesses are the processes of a job that the model has.
type shownProcesses struct {
	element string // id of the job's
	print   uint64
}

// printProcesses notes what distinguishes the processes of each job from earlier ones.
func (r *record) printProcesses(m *Monitor) {
	r.prints = make(map[string]uint64, len(r.processes))
	for tag, processes := range r.processes {
		hash := m.newHash()
		for i := range processes {
			p := &processes[i]
			for _, text := range []string{strconv.Itoa(p.Rank), p.Node, strconv.Itoa(p.PID), string(p.State), number(p.ExitCode), number(p.Signal), p.Output, p.ErrorOutput} {
				hash.add(text)
			}
		}
		r.prints[tag] = hash.Sum64()
	}
}

// showProcesses shows the processes of a job on record below the element with an id.
func (j *jobs) showProcesses(u *model.Update, job *recorded, element string) {
	processes := j.record.processes[job.Tag]
	if len(processes) == 0 {
		j.forgetProcesses(job.Tag)
		return
	}
	now := shownProcesses{element, j.record.prints[job.Tag]}
	if j.record.shown[job.Tag] == now {
		return
	}
	j.record.shown[job.Tag] = now
	j.use.changed = true
	for i := range processes {
		j.putProcess(u, element, &processes[i])
	}
}

// forgetProcesses notes that nothing is known of processes of a job, or of the job.
func (j *jobs) forgetProcesses(tag string) {
	if _, areShown := j.record.shown[tag]; areShown {
		delete(j.record.shown, tag)
		j.use.changed = true
	}
}

func (j *jobs) putProcess(u *model.Update, element string, p *job.Process) {
	m := j.monitor
	row := rowOf{monitor: m, row: model.Row{Manager: m.options.Manager, Kind: model.Process, Parent: element, ID: element + "." + strconv.Itoa(p.Rank), Whole: true}}
	if !slices.Contains(model.States(model.Process), model.State(p.State)) {
		row.text(vocabulary.AttributeProcessState, vocabulary.StateUnknown)
	} else {
		row.text(vocabulary.AttributeProcessState, string(p.State))
	}
	row.text(vocabulary.AttributeProcessIndex, strconv.Itoa(p.Rank))
	row.text(vocabulary.AttributeProcessNodeID, p.Node)
	if p.PID > 0 {
		row.text(attributeProcessPID, strconv.Itoa(p.PID))
	}
	row.text(vocabulary.AttributeProcessExitCode, number(p.ExitCode))
	if p.Signal != nil {
		row.text(attributeProcessSignal, signalName(*p.Signal))
	}
	row.text(attributeProcessStdout, plaintext.End(p.Output, maxText))
	row.text(attributeProcessStderr, plaintext.End(p.ErrorOutput, maxText))
	u.Put(row.row)
}

// signalName returns the name of a signal, and its number where it has none here.
func signalName(signal int) string {
	if name := unix.SignalName(unix.Signal(signal)); name != "" {
		return name
	}
	return strconv.Itoa(signal)
}
