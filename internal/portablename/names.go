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
	{"tasks", "a whole number", "tasks of the job in all", kindCount},
	{"tasksPerNode", "a whole number", "tasks on each node", kindCount},
	{"cpusPerTask", "a whole number", "CPUs for each task", kindCount},
	{"gpus", "a whole number", "GPUs of the job in all", kindCount},
	{"memory", "a number with a unit, such as 4GiB or 500MB", "memory on each node", kindMemory},
	{"wallTime", "a length of time, such as 1h30m, 2d or 1:30:00", "longest run time", kindTime},
	{"queue", "a name", "queue or partition that the job waits in", kindWord},
	{"account", "a name", "account or project that the job is charged to", kindWord},
	{"jobName", "a text on one line", "name of the job", kindLine},
	{"stdout", "a path, in which %j is the job's id and %a its index in an array", "file for standard output", kindPath},
	{"stderr", "a path, as for stdout", "file for standard error", kindPath},
	{"array", "indices such as 1-100, 1-9:2 or 1,5,8-10; %N behind them runs N at a time", "makes the job an array", kindArray},
	{"after", "ids of jobs separated by commas, any: before them for those that need not succeed", "jobs that have to succeed first", kindAfter},
	{"mail", "begin, end, fail or all, separated by commas, an address, or events:address", "when mail is sent, and to whom", kindMail},
	{"reservation", "a name", "reservation that the job runs in", kindWord},
	{"exclusive", "true or false", "whole nodes, which no other job shares", kindSwitch},
	{"stdin", "a path", "file for standard input", kindPath},
	{"preLaunch", "a path", "shell script that the job reads before its program", kindPath},
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
