package agent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/proxy"
)

// A translation turns the attributes sent by a client into a submission.
type translation struct {
	definition *config.Definition
	submission job.Submission
	path, name string            // of the program
	debugger   map[string]string // for a debugged job
	queue      string            // chosen by the client
}

// Names of the attributes of programs.
const (
	attributeProgram     = "execName"
	attributeProgramPath = "execPath"
	attributeDirectory   = "workingDir"
	attributeArguments   = "progArgs"
	attributeDebug       = "debug"

	attributeDebugArguments = "debugArgs"
)

// debuggers maps names of debuggers in the protocol to those in definitions.
var debuggers = map[string]string{attributeDebugArguments: "debuggerArgs", "debugerId": "debuggerId"}

// ignored are attributes that do not matter to a scheduler.
var ignored = []string{
	attributeSubmission, "debugStopInMain", "ioForwarding", vocabulary.AttributeJobLaunched, vocabulary.AttributeName,
	vocabulary.AttributeJobState, "jobIoLabel", "jobVerbose", "userId",
}

// submissionOf returns the submission that attributes describe: those of the definition, the
// portable names, and what the forms of the Eclipse PTP send.
func submissionOf(attributes proxy.Attributes, definition *config.Definition) (job.Submission, error) {
	t := translation{definition: definition, debugger: map[string]string{}}
	for _, attribute := range attributes {
		if err := t.add(attribute.ID, attribute.Value); err != nil {
			return job.Submission{}, err
		}
	}
	if t.name == "" && t.path == "" {
		return job.Submission{}, errors.New("no program to run: execName is empty")
	}
	if t.submission.Executable = t.name; t.path != "" && !path.IsAbs(t.name) {
		t.submission.Executable = path.Join(t.path, t.name)
	}
	if t.queue != "" && !t.submission.Assigns("queue") && t.supports("queue") {
		t.assign("queue", t.queue)
	}
	if t.submission.Debug {
		t.addDebugger()
	}
	return t.submission, nil
}

// add adds an attribute.
func (t *translation) add(id, value string) error {
	switch id {
	case attributeProgram:
		t.name = value
	case attributeProgramPath:
		t.path = value
	case attributeDirectory:
		t.submission.Directory = value
	case attributeArguments:
		t.submission.Arguments = append(t.submission.Arguments, value)
	case attributeEnv:
		return t.addVariable(value)
	case attributeDebug:
		t.submission.Debug = strings.EqualFold(value, "true")
	case vocabulary.AttributeJobQueue:
		t.queue = value
	case attributeJobID:
		if value != "" {
			return fmt.Errorf("jobId=%s: a job cannot run in the allocation of another job", value)
		}
	default:
		return t.addOption(id, value)
	}
	return nil
}

func (t *translation) addVariable(text string) error {
	name, value, isVariable := strings.Cut(text, "=")
	if !isVariable || name == "" {
		return fmt.Errorf("env=%s: write NAME=VALUE", text)
	}
	t.submission.Environment.Variables = append(t.submission.Environment.Variables, job.Variable{Name: name, Value: value})
	return nil
}

// addOption adds an attribute for the execution of a job.
func (t *translation) addOption(id, value string) error {
	defined := t.definition.Attribute(id)
	switch {
	case defined != nil || portablename.Lookup(id) != nil:
		t.assign(id, value)
	case slices.Contains(ignored, id) || value == "":
	case strings.HasPrefix(id, "debug"):
		t.debugger[id] = strings.TrimPrefix(t.debugger[id]+" "+value, " ") // join a list with blanks
	default:
		return t.addOld(id, value)
	}
	return nil
}

func (t *translation) assign(name, value string) {
	t.submission.Values = append(t.submission.Values, job.Assignment{Name: name, Value: value})
}

func (t *translation) supports(portable string) bool {
	return len(t.definition.PortableLinks(portable)) > 0 || t.definition.Attribute(portable) != nil
}

// addDebugger sets the attributes of the definition that name the debugger.
func (t *translation) addDebugger() {
	if program := path.Join(t.debugger["debugExecPath"], t.debugger["debugExecName"]); program != "" {
		t.assign("debuggerExecutablePath", program)
	}
	for id, name := range debuggers {
		if value := t.debugger[id]; value != "" {
			t.assign(name, value)
		}
	}
}

// withoutDebugger returns the submission without the debugger.
func withoutDebugger(s job.Submission) job.Submission {
	s.Debug = false
	s.Values = slices.DeleteFunc(slices.Clone(s.Values), func(each job.Assignment) bool {
		return each.Name == "debuggerExecutablePath" || each.Name == "debuggerArgs" || each.Name == "debuggerId"
	})
	return s
}

// An oldName is the portable name for an attribute of old forms.
type oldName struct {
	portable string
	convert  func(value string) (string, error) // nil to keep the value
}

// oldNames are the attributes of the forms for SLURM, PBS and PE. Others have no counterpart.
var oldNames = map[string]oldName{
	"jobNumProcs": {portable: "tasks"}, "jobNumNodes": {portable: "nodes"}, "jobPartition": {portable: "queue"},
	"jobTimeLimit": {"wallTime", minutes},

	"Job_Name": {portable: "jobName"}, "Account_Name": {portable: "account"}, "destination": {portable: "queue"},
	"Resource_List.walltime": {portable: "wallTime"}, "Resource_List.mem": {"memory", pbsMemory},
	"Resource_List.ncpus": {portable: "tasks"}, "Resource_List.nodect": {portable: "nodes"},

	"MP_PROCS": {portable: "tasks"}, "MP_NODES": {portable: "nodes"}, "MP_TASKS_PER_NODE": {portable: "tasksPerNode"},
	"PE_STDIN_PATH": {portable: "stdin"}, "PE_STDOUT_PATH": {portable: "stdout"}, "PE_STDERR_PATH": {portable: "stderr"},
}

// counts are the portable names for which forms always send 1.
var counts = []string{"tasks", "nodes", "tasksPerNode"}

// addOld adds an attribute that neither the definition nor rmctl knows.
func (t *translation) addOld(id, value string) error {
	known, isKnown := oldNames[id]
	switch {
	case id == "Resource_List.nodes":
		return t.addNodes(value)
	case id == "jobType" && value == "batch":
	case strings.HasPrefix(id, "PE_") && !isKnown: // options of the program poe
	case strings.HasPrefix(id, "MP_") && !isKnown: // passed to the program poe
		t.submission.Environment.Variables = append(t.submission.Environment.Variables, job.Variable{Name: id, Value: value})
	case !isKnown:
		t.assign(id, value) // submitting fails with an unknown attribute
	case slices.Contains(counts, known.portable):
		t.addCount(known.portable, value)
	case known.convert != nil:
		converted, err := known.convert(value)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", id, value, err)
		}
		t.assign(known.portable, converted)
	default:
		t.assign(known.portable, value)
	}
	return nil
}

func minutes(text string) (string, error) {
	if number, err := strconv.ParseUint(text, 10, 31); err == nil {
		return strconv.FormatUint(number, 10) + "m", nil
	}
	return "", errors.New("write a number of minutes")
}

// pbsMemory converts a size of PBS, in which kb is 1024 bytes.
func pbsMemory(text string) (string, error) {
	number := strings.TrimRight(strings.ToLower(text), "kmgtb")
	unit := strings.ToLower(text[len(number):])
	units := map[string]string{"": "", "b": "", "kb": "KiB", "mb": "MiB", "gb": "GiB", "tb": "TiB"}
	written, known := units[unit]
	if _, err := strconv.ParseUint(number, 10, 63); err != nil || !known {
		return "", errors.New("write a size such as 512mb or 4gb")
	}
	if written == "" {
		written = "B"
	}
	return number + written, nil
}

// addNodes adds nodes and tasks from the PBS form NODES or NODES:ppn=TASKS.
func (t *translation) addNodes(text string) error {
	nodes, perNode, hasTasks := strings.Cut(text, ":ppn=")
	if _, err := strconv.ParseUint(nodes, 10, 31); err != nil {
		return fmt.Errorf("Resource_List.nodes=%s: write a number of nodes, or NODES:ppn=TASKS", text)
	}
	t.addCount("nodes", nodes)
	if hasTasks {
		t.addCount("tasksPerNode", perNode)
	}
	return nil
}

// addCount adds a number unless it is 1, which forms always send and has no effect.
func (t *translation) addCount(portable, value string) {
	if value != "1" || t.supports(portable) {
		t.assign(portable, value)
	}
}
