package suggestion

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
)

// flags are those of rmctl, each with what people write for it in other tools: names, and
// letters that rmctl has not. "set:" is before an attribute.
var flags = map[string]string{
	"tasks":            "ntasks np nprocs slots pe",
	"nodes":            "nnodes nodect",
	"time":             "walltime wall-time wall-clock-limit time-limit timelimit W",
	"mem":              "memory rusage",
	"queue":            "partition q p",
	"account":          "project bank P",
	"gpus":             "gres gpus-per-job G",
	"array":            "J-array range",
	"after":            "dependency depend hold-jid w",
	"directory":        "chdir workdir cwd wd D",
	"env":              "export environment V",
	"script":           "wrap file f",
	"set:jobName":      "job-name jobname J",
	"set:stdout":       "output stdout o",
	"set:stderr":       "error stderr",
	"set:stdin":        "input stdin i",
	"set:mail":         "mail-type mail-user notify m M",
	"set:cpusPerTask":  "cpus-per-task cpus cores c",
	"set:tasksPerNode": "ntasks-per-node tasks-per-node ppn npernode",
	"set:reservation":  "reservation",
	"set:exclusive":    "exclusive x",
	"everyone":         "all-users allusers a u",
	"watch":            "iterate follow",
	"state":            "states status filter",
	"limit":            "max count tail",
	"wait":             "block sync K I",
}

// Flag returns the flag of a command, with its dashes, that the user of a foreign flag
// probably meant; empty if that is not clear. known are the names of the command's flags.
func Flag(written string, known []string) string {
	for flag, words := range flags {
		if !slices.Contains(strings.Fields(words), written) {
			continue
		}
		if attribute, isSet := strings.CutPrefix(flag, "set:"); isSet && slices.Contains(known, "set") {
			return "-s " + attribute + "=VALUE"
		}
		if slices.Contains(known, flag) {
			return "--" + flag
		}
	}
	if len(written) == 1 {
		return ""
	}
	if nearest := wording.Nearest(written, known); nearest != "" {
		return "--" + nearest
	}
	return ""
}
