package coalloc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/rsl"
)

// rmPrefix begins names of the definition's own attributes.
const rmPrefix = "rm."

// Portable names.
const (
	portableTasks    = "tasks"
	portableNodes    = "nodes"
	portableMemory   = "memory"
	portableWallTime = "wallTime"
)

// relation reads one attribute. If an attribute is repeated, the first relation counts, as in GRAM.
func (c *componentReader) relation(relation *rsl.Relation, seen map[string]bool) {
	name := rsl.CanonicalName(relation.Name)
	value := &relationValue{relation: relation}
	if strings.HasPrefix(name, rmPrefix) {
		for _, text := range value.list(0) {
			c.assign(relation.Name[len(rmPrefix):], text)
		}
		c.problems = append(c.problems, value.problems...)
		return
	}
	if seen[name] {
		return
	}
	seen[name] = true
	if read, isOfCoallocator := coallocatorAttributes[name]; isOfCoallocator {
		read(c, value)
		c.reader.problems = append(c.reader.problems, value.problems...)
		return
	}
	if read, isKnown := jobAttributes[name]; isKnown {
		read(c, value)
	} else if code, isUnsupported := unsupportedAttributes[name]; isUnsupported {
		value.refuse(code, "rmctl cannot express it")
	} else {
		value.refuse(errorUnknownAttribute, "unknown attribute; %sNAME sets an attribute of the definition", rmPrefix)
	}
	c.problems = append(c.problems, value.problems...)
}

func (c *componentReader) assign(name, value string) {
	c.part.Submission.Values = append(c.part.Submission.Values, job.Assignment{Name: name, Value: value})
}

// coallocatorAttributes define the role of a component in the request. Mistakes in them are mistakes of the
// request.
var coallocatorAttributes = map[string]func(*componentReader, *relationValue){
	attributeSubstitution: func(*componentReader, *relationValue) {},
	attributeContact:      func(*componentReader, *relationValue) {},
	attributeContactName:  func(*componentReader, *relationValue) {},
	"label": func(c *componentReader, v *relationValue) {
		if c.part.Label = v.literal(0); len(v.problems) == 0 {
			if reason := checkLabel(c.part.Label); reason != "" {
				v.refuse(0, "%s", reason)
			}
		}
	},
	"subjobstarttype": func(c *componentReader, v *relationValue) {
		startTypes := map[string]struct {
			Kind
			Gate
		}{
			"strict-barrier": {Required, Held}, "loose-barrier": {Interactive, Held}, "no-barrier": {Optional, NoGate},
			"required": {Required, Held}, "interactive": {Interactive, Held}, "optional": {Optional, Held},
		}
		start, isKnown := startTypes[v.word(0, 0, "strict-barrier", "loose-barrier", "no-barrier", "required", "interactive", "optional")]
		if isKnown {
			c.part.Kind = start.Kind
			if c.part.Gate == "" {
				c.part.Gate = start.Gate
			}
		}
	},
	"barrier": func(c *componentReader, v *relationValue) {
		c.part.Gate = Gate(v.word(0, 0, string(Held), string(Program), string(NoGate)))
	},
	"subjobcommstype": func(c *componentReader, v *relationValue) {
		joins := v.word(0, 0, "blocking-join", "independent") == "blocking-join"
		c.joins = &joins
	},
	"startlimit":   func(c *componentReader, v *relationValue) { c.part.Start = v.limit() },
	"checkinlimit": func(c *componentReader, v *relationValue) { c.part.CheckIn = v.limit() },
}

// jobAttributes describe one job. Mistakes in them concern only their part.
var jobAttributes = map[string]func(*componentReader, *relationValue){
	"executable": func(c *componentReader, v *relationValue) { c.part.Submission.Executable = v.file(55) },
	"arguments":  func(c *componentReader, v *relationValue) { c.part.Submission.Arguments = v.list(50) },
	"directory":  func(c *componentReader, v *relationValue) { c.part.Submission.Directory = v.literal(52) },
	"environment": func(c *componentReader, v *relationValue) {
		for _, pair := range v.pairs(54) {
			c.part.Submission.Environment.Variables = append(c.part.Submission.Environment.Variables, job.Variable{Name: pair[0], Value: pair[1]})
		}
	},
	"stdin":     func(c *componentReader, v *relationValue) { c.assign("stdin", v.file(64)) },
	"stdout":    func(c *componentReader, v *relationValue) { c.assign("stdout", v.file(65)) },
	"stderr":    func(c *componentReader, v *relationValue) { c.assign("stderr", v.file(63)) },
	"count":     func(c *componentReader, v *relationValue) { c.part.Count = max(1, v.number(51, 14)) },
	"hostcount": func(c *componentReader, v *relationValue) { c.hosts = v.number(56, 35) },
	"jobtype": func(c *componentReader, v *relationValue) {
		c.part.JobType = JobType(v.word(57, 19, string(Multiple), string(Single), string(MPI), "condor"))
		if c.part.JobType == "condor" {
			v.refuse(26, "unsupported job type condor")
			c.part.JobType = Multiple
		}
	},
	"grammyjob":   func(c *componentReader, v *relationValue) { v.word(59, 20, "collective", "independent") },
	"queue":       func(c *componentReader, v *relationValue) { c.assign("queue", v.literal(62)) },
	"project":     func(c *componentReader, v *relationValue) { c.assign("account", v.literal(61)) },
	"maxtime":     func(c *componentReader, v *relationValue) { c.limitTime(v.number(58, 13), false) },
	"maxwalltime": func(c *componentReader, v *relationValue) { c.limitTime(v.number(101, 102), true) },
	"minmemory":   func(c *componentReader, v *relationValue) { c.leastMemory = v.number(84, 86) },
	"maxmemory":   func(c *componentReader, v *relationValue) { c.mostMemory = v.number(85, 87) },
	"dryrun":      func(c *componentReader, v *relationValue) { c.dryRun = v.flag(errorDryRun) },
	"savestate":   func(c *componentReader, v *relationValue) { v.flag(112) }, // rmctl records every job
	"name":        func(c *componentReader, v *relationValue) { c.assign("jobName", v.literal(0)) },
	attributeUserName: func(c *componentReader, v *relationValue) {
		if user := v.literal(166); user != c.symbols["LOGNAME"] {
			v.refuse(167, "rmctl does not run jobs as user %.100q on this target", user)
		}
	},
	"emailaddress":       func(c *componentReader, v *relationValue) { c.mailAddress = v.literal(0) },
	"emailonexecution":   func(c *componentReader, v *relationValue) { c.mailAt("begin", v.flag(0)) },
	"emailontermination": func(c *componentReader, v *relationValue) { c.mailAt("end", v.flag(0)) },
	"emailonabort":       func(c *componentReader, v *relationValue) { c.mailAt("fail", v.flag(0)) },
	"tab":                func(c *componentReader, v *relationValue) { c.part.Submission.Tab = v.literal(0) },
	"script":             func(c *componentReader, v *relationValue) { c.part.Submission.Script = v.literal(0) },
	"debug":              func(c *componentReader, v *relationValue) { c.part.Submission.Debug = v.flag(0) },
	"track":              func(c *componentReader, v *relationValue) { c.part.Submission.Track = v.flag(0) },
	"rankfrom":           func(c *componentReader, v *relationValue) { c.part.Submission.RankFrom = v.literal(0) },
	keyProblem:           func(c *componentReader, v *relationValue) { c.part.Problem = v.literal(0) },
}

// unsupportedAttributes are attributes of GRAM that rmctl does not support, with their codes.
var unsupportedAttributes = map[string]errorCode{
	"maxcputime": errorUnsupported, "twophase": errorUnsupported, "filestagein": errorUnsupported, "filestageinshared": errorUnsupported, "filestageout": errorUnsupported,
	"filecleanup": errorUnsupported, "scratchdir": errorUnsupported, "remoteiourl": errorUnsupported, "librarypath": errorUnsupported, "gasscache": errorUnsupported,
	"restart": errorNotAtSubmission, "stdoutposition": errorNotAtSubmission, "stderrposition": errorNotAtSubmission, "expiration": errorUnsupported,
}

// file reads the path of a file, which may be a URL with file://.
func (v *relationValue) file(code errorCode) string {
	text := v.literal(code)
	if path, isFile := strings.CutPrefix(text, "file://"); isFile && strings.HasPrefix(path, "/") {
		return path
	}
	if scheme, _, isURL := strings.Cut(text, "://"); isURL && !strings.ContainsAny(scheme, "/ ") {
		v.refuse(errorUnsupported, "rmctl does not stage files: %.100q", text)
	}
	return text
}

func (c *componentReader) limitTime(minutes int, counts bool) {
	if c.wallTime == 0 || counts {
		c.wallTime = minutes
	}
}

func (c *componentReader) mailAt(event string, isOn bool) {
	if isOn {
		c.mailEvents = append(c.mailEvents, event)
	}
}

// apply sets values that depend on several attributes.
func (c *componentReader) apply(conjunction *rsl.Boolean) {
	p := &c.part
	if p.Gate == NoGate && c.joins != nil && *c.joins {
		c.reader.refuse(conjunction.Position, "%s", noGateJoins)
	}
	p.Independent = p.Gate == NoGate || c.joins != nil && !*c.joins
	c.applyAmounts()
	c.applyMail()
	if p.Submission.Executable == "" && p.Submission.Script == "" && len(c.problems) == 0 {
		c.refuse(conjunction.Position, errorNoExecutable, "a component has no executable")
	}
}

// applyAmounts sets nodes, tasks, time and memory.
func (c *componentReader) applyAmounts() {
	p := &c.part
	if c.hosts > 0 {
		c.assign(portableNodes, strconv.Itoa(c.hosts))
	}
	if p.JobType == Single {
		if p.Count > 1 {
			c.assign(portableTasks, strconv.Itoa(p.Count))
		}
		p.Count = 1
	}
	if c.wallTime > 0 {
		c.assign(portableWallTime, fmt.Sprintf("%dm", c.wallTime))
	}
	if each := max(c.leastMemory, c.mostMemory); each > 0 {
		hosts := max(1, c.hosts)
		c.assign(portableMemory, fmt.Sprintf("%dMiB", each*((p.Count+hosts-1)/hosts))) // of a node
	}
}

func (c *componentReader) applyMail() {
	if c.mailAddress == "" && len(c.mailEvents) == 0 {
		return
	}
	mail := strings.Join(c.mailEvents, ",")
	if mail != "" && c.mailAddress != "" {
		mail += ":"
	}
	c.assign("mail", mail+c.mailAddress)
}
