// Package portablename defines the attribute names that work with every scheduler, such as nodes:
// how values are written, and what a definition makes of them.
package portablename

import (
	"slices"
)

// A Name is a name by which users ask for something that every scheduler
// has a word of its own for. Definitions link it to their own attributes.
type Name struct {
	Name    string
	Syntax  string // how users write values, for messages and help
	Meaning string // one line
	kind    kind
}

type kind int

const (
	kindCount kind = iota
	kindMemory
	kindTime
	kindWord
	kindLine
	kindPath
	kindArray
	kindAfter
	kindMail
	kindSwitch
)

var names = []Name{
	{"nodes", "a whole number", "nodes of the job", kindCount},
	{"tasks", "a whole number", "total tasks of the job", kindCount},
	{"tasksPerNode", "a whole number", "tasks on each node", kindCount},
	{"cpusPerTask", "a whole number", "CPUs for each task", kindCount},
	{"gpus", "a whole number", "total GPUs of the job", kindCount},
	{"memory", "a number with a unit, such as 4GiB or 500MB", "memory on each node", kindMemory},
	{"wallTime", "a length of time, such as 1h30m, 2d or 1:30:00", "time limit", kindTime},
	{"queue", "a name", "queue or partition", kindWord},
	{"account", "a name", "account or project to charge", kindWord},
	{"jobName", "text on one line", "name of the job", kindLine},
	{"stdout", "a path; %j is replaced by the job id, %a by the array index", "file for standard output", kindPath},
	{"stderr", "a path, as for stdout", "file for standard error", kindPath},
	{"array", "indices such as 1-100, 1-9:2 or 1,5,8-10; append %N to run N at a time", "indices of a job array", kindArray},
	{"after", "job ids separated by commas; prefix any: if they need not succeed", "jobs that must succeed first", kindAfter},
	{"mail", "begin, end, fail or all, separated by commas, an address, or events:address", "when to send mail, and to whom", kindMail},
	{"reservation", "a name", "reservation", kindWord},
	{"exclusive", "true or false", "exclusive nodes", kindSwitch},
	{"stdin", "a path", "file for standard input", kindPath},
	{"preLaunch", "a path", "shell script that the job sources before its program", kindPath},
	{"postLaunch", "a path", "shell script that the job runs after its program", kindPath},
}

// Names returns all portable names in the order of the documentation.
func Names() []Name { return slices.Clone(names) }

// Lookup returns the portable name of that spelling, nil for none.
func Lookup(name string) *Name {
	at := slices.IndexFunc(names, func(p Name) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	return &names[at]
}

// wholePart stands for the whole value in the text of a link.
const wholePart = "{}"

// partsOf are what the text of a link may hold, by the kind of the name.
var partsOf = map[kind][]string{
	kindArray: {wholePart, "{ranges}", "{limit}"},
	kindMail:  {"{events}", "{address}"},
}

// Parts returns what the text of a link may hold.
func (n *Name) Parts() []string {
	if parts, ok := partsOf[n.kind]; ok {
		return parts
	}
	return []string{wholePart}
}

// Units returns what values can be converted to.
func (n *Name) Units() []string { return unitsOf[n.kind] }

// optionsOf are the options of a link that only some kinds of names have.
var optionsOf = map[string][]kind{
	"most":      {kindCount},
	"per":       {kindCount, kindMemory},
	"times":     {kindCount, kindMemory},
	"words":     {kindPath, kindMail},
	"when":      {kindAfter},
	"separator": {kindAfter, kindMail},
}

// Takes reports whether a link of the name may have an option, such as most.
func (n *Name) Takes(option string) bool {
	kinds, isLimited := optionsOf[option]
	return !isLimited || slices.Contains(kinds, n.kind)
}

// unitsOf are what values can be converted to, by the kind of the name; without
// one a time is in seconds and a memory in bytes.
var unitsOf = map[kind][]string{
	kindTime:   {"s", "min", "h", "h:mm", "h:mm:ss", "d-hh:mm:ss"},
	kindMemory: {"B", "KiB", "MiB", "GiB", "kB", "MB", "GB"},
	kindPath:   {absolutePath},
}

const absolutePath = "absolute"
