package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// suppliedAttributes are set by the engine, whether or not a definition has them.
var suppliedAttributes = []string{
	attribute.JobPlaceholder,
	"control.user.name", "control.address", "control.working.dir", "working.directory", "ptpDirectory",
	"os.name", "os.arch", "os.version",
	"launchMode", "executablePath", "executableName", "executableDirectory", "progArgs", "directory",
	"debuggerExecutablePath", "debuggerArgs", "debuggerId", "debuggerLauncher",
	"ems", "script", "script_path", "managed_file_for_script",
	"job.tag", "job.terminal", "job.canceled", submissionAge, submissionDays, submissionSince, submissionSinceSeconds, listingScope, listingIDs, "query.mark", "query.ids",
	nodeName, nodeCommand, nodeIndex, jobPart, taskPart,
}

// Attributes that the engine sets for some commands only.
const (
	submissionAge          = "job.age"           // of the submission that x:find-job looks up, or the earliest one of x:list-ended
	submissionDays         = "job.days"          // the same in days
	submissionSince        = "job.since"         // the earliest time at which it was made
	submissionSinceSeconds = "job.since.seconds" // the same in seconds since 1970
	listingScope           = "job.scope"         // whose jobs x:list-jobs is to list
	listingIDs             = "job.ids"           // of the jobs that x:list-jobs or x:list-ended is to list; empty for all
	nodeName               = "node.name"         // where x:on-nodes is to start a process
	nodeCommand            = "node.command"      // the words of the command that it starts
	nodeIndex              = "node.index"        // the position of the node in the job's list of nodes
	jobPart                = "job.id.job"        // the part of the id that x:ids calls job
	taskPart               = "job.id.task"       // the same of the task; empty for a whole job
)

// readAttributes are read by the engine if a definition has them.
var readAttributes = []string{
	"control.queue.name", "stdout_remote_path", "stderr_remote_path", "mpiNumberOfProcesses", "queues", "estimate.start",
}

// factPrefix begins the names of attributes with facts about a job.
const factPrefix = "job."

// knownNames are the names by which texts of a definition can refer to attributes.
type knownNames struct {
	defined    map[string]*xmltree.Element // attributes of the definition; of several the last
	files      map[string]bool             // managed files, whose paths are attributes
	viewers    map[string]bool             // viewers, whose templates are attributes
	discovered map[string]bool             // attributes that parsers construct under a fixed name
	// openEnded means that parsers also construct attributes whose names are in
	// their input, so that any name may be known when it is used.
	openEnded  bool
	candidates []string // for suggestions; a name may be there twice
}

func namesOf(root *xmltree.Element) *knownNames {
	names := &knownNames{
		defined: map[string]*xmltree.Element{}, files: map[string]bool{}, viewers: map[string]bool{}, discovered: map[string]bool{},
	}
	names.collect(root)
	names.candidates = slices.AppendSeq(slices.Clone(suppliedAttributes), maps.Keys(names.defined))
	for _, more := range []map[string]bool{names.files, names.viewers, names.discovered} {
		names.candidates = slices.AppendSeq(names.candidates, maps.Keys(more))
	}
	return names
}

func (n *knownNames) collect(e *xmltree.Element) {
	switch e.Name {
	case "attribute", "property":
		if e.Parent != nil && e.Parent.Name == "control-data" {
			n.defined[e.Value("name")] = e
		}
	case "file":
		n.files[e.Value("name")] = true
	case "viewer", "export-for-override":
		n.viewers[e.Value("name")] = true
	case "target":
		if !e.Optional("ref").Set {
			n.construct(e)
		}
	case string(config.ListJobs), string(config.ListEnded), string(config.ListNodes), string(config.ListQueues):
		return // they construct elements of a listing, which no text refers to
	}
	for _, child := range e.Children {
		n.collect(child)
	}
}

// construct finds the names that a target without ref gives to attributes.
func (n *knownNames) construct(e *xmltree.Element) {
	for _, child := range e.Children {
		inner := child
		field, known := attribute.ParseField(inner.Value("field"))
		if !known || field != attribute.FieldName || (child.Name != string(config.Set) && child.Name != string(config.Append)) {
			n.construct(inner)
			continue
		}
		var value config.Optional
		if entry, hasEntry := inner.First("entry"); hasEntry {
			value = entry.Optional("value")
		}
		if child.Name == string(config.Set) && value.Set && !strings.Contains(value.Text, reference.Start) && !strings.HasPrefix(value.Text, "#") {
			n.discovered[value.Text] = true
		} else {
			n.openEnded = true
		}
	}
}

// has reports whether an attribute of that name can exist when it is used.
func (n *knownNames) has(name string) bool {
	_, defined := n.defined[name]
	return defined || n.openEnded || n.files[name] || n.viewers[name] || n.discovered[name] ||
		slices.Contains(suppliedAttributes, name) ||
		strings.Contains(name, attribute.JobPlaceholder) || isExternal(name)
}

// isExternal reports whether a name belongs to the program that shows a form.
func isExternal(name string) bool {
	return strings.HasPrefix(name, "org.eclipse.debug") || strings.HasPrefix(name, "org.eclipse.ptp")
}
