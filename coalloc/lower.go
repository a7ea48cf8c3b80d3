package coalloc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

const (
	launcherAttribute = "launcher" // of definitions whose script can start a program several times
	fluxScheduler     = "FLUX"

	// The program behind rms/local.xml starts a job while fewer jobs run than the job has slots.
	localScheduler = "RMCTL_LOCAL"
	slotsAttribute = "slots"
	mostSlots      = "9999"
)

// copying are the attributes by which a definition starts copies of the program without a launcher.
var copying = []string{"processes", "np"}

// SubmissionOn returns what is submitted for the part by a definition: the part's own submission, with its processes as
// tasks, and with the launcher that starts them, unless the part or the defaults of the target have one. The error says that
// the definition starts the program once only.
func (p *Part) SubmissionOn(d *config.Definition, defaults map[string]string) (job.Submission, error) {
	if p.Problem != "" {
		return job.Submission{}, errors.New(p.Problem)
	}
	s := p.Submission
	s.Values = slices.Clone(s.Values)
	if needsSlots(d, s, defaults) {
		s.Values = append(s.Values, job.Assignment{Name: slotsAttribute, Value: mostSlots})
	}
	if p.Count == 1 || p.JobType == Single || s.Script != "" {
		return s, nil
	}
	if !s.Assigns(portableTasks) && (!s.Assigns(portableNodes) || !s.Assigns("tasksPerNode")) {
		s.Values = append(s.Values, job.Assignment{Name: portableTasks, Value: strconv.Itoa(p.Count)})
	}
	if s.Assigns(launcherAttribute) || defaults[launcherAttribute] != "" || startsCopies(d) {
		return s, nil
	}
	if launcher := launcherOf(d, p.JobType, p.Count); launcher != "" {
		s.Values = append(s.Values, job.Assignment{Name: launcherAttribute, Value: launcher})
		return s, nil
	}
	if p.Gate == Program { // which may be a launcher itself
		return s, nil
	}
	hint := `write job_type = "single", if the program starts its processes itself`
	if d.Attribute(launcherAttribute) != nil {
		hint = "set the attribute launcher, or " + hint
	}
	return job.Submission{}, fmt.Errorf("definition %q starts the program once, but %d processes have to check in\n%s", d.Name, p.Count, hint)
}

// needsSlots reports whether a job could wait for slots of parts that wait for this job at the barrier: a
// deadlock.
func needsSlots(d *config.Definition, s job.Submission, defaults map[string]string) bool {
	return strings.EqualFold(d.Monitor.SchedulerType, localScheduler) && !s.Assigns(slotsAttribute) && defaults[slotsAttribute] == ""
}

// startsCopies reports whether the definition starts a copy of the program for each task, or only reserves room.
func startsCopies(d *config.Definition) bool {
	if d.Command(config.SubmitBatch) == nil && d.Command(config.SubmitInteractive) != nil && d.Attribute(launcherAttribute) == nil {
		return true
	}
	return slices.ContainsFunc(d.PortableLinks(portableTasks), func(link *config.PortableLink) bool { return slices.Contains(copying, link.Attribute) })
}

// launcherOf returns the launcher of a definition for programs, empty if it has none.
func launcherOf(d *config.Definition, kind JobType, count int) string {
	launcher := d.Attribute(launcherAttribute)
	if launcher == nil {
		return ""
	}
	preferred := []string{"srun", "blaunch", "poe", "mpiexec", "mpirun"}
	if kind == MPI {
		preferred = []string{"srun", "poe", "mpiexec", "mpirun", "blaunch"}
	}
	choices := strings.Split(launcher.Text(attribute.FieldChoice), ",")
	for _, each := range preferred {
		if slices.ContainsFunc(choices, func(choice string) bool { return strings.TrimSpace(choice) == each }) {
			return each
		}
	}
	if strings.EqualFold(d.Monitor.SchedulerType, fluxScheduler) {
		return fmt.Sprintf("flux run -n %d", count)
	}
	return ""
}
