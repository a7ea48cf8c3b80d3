package importer

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// A directive is the option of a scheduler for a portable name.
type directive struct {
	scheduler string // as in directiveSchedulers
	starts    string // prefixes of the value, separated by |
	name      string // the portable name
	link      string // further attributes of the link
}

// directiveSchedulers are the words that begin directives.
var directiveSchedulers = []struct{ begin, scheduler string }{
	{"#SBATCH ", "slurm"}, {"#PBS ", "pbs"}, {"#$ ", "gridengine"}, {"#PJM ", "pjm"}, {"# @ ", "loadleveler"}, {"#@ ", "loadleveler"}, {"#COBALT ", "cobalt"}, {"#BSUB ", "lsf"},
}

const clock = ` as="h:mm:ss"`

// directives are after the manuals of the schedulers.
var directives = []directive{
	{"slurm", "--nodes=|-N ", "nodes", ""},
	{"slurm", "--ntasks=|-n ", "tasks", ""},
	{"slurm", "--ntasks-per-node=", "tasksPerNode", ""},
	{"slurm", "--cpus-per-task=|-c ", "cpusPerTask", ""},
	{"slurm", "--gpus=|-G ", "gpus", ""},
	{"slurm", "--mem=", "memory", ` as="MiB" text="{}M"`},
	{"slurm", "--time=|-t ", "wallTime", clock},
	{"slurm", "--partition=|-p ", "queue", ""},
	{"slurm", "--account=|-A ", "account", ""},
	{"slurm", "--job-name=|-J ", "jobName", ""},
	{"slurm", "--output=|-o ", "stdout", ` words="%j=%j %a=%a"`},
	{"slurm", "--error=|-e ", "stderr", ` words="%j=%j %a=%a"`},
	{"slurm", "--array=|-a ", "array", ""},
	{"slurm", "--dependency=|-d ", "after", ` text="afterok:{}" separator=":"`},
	{"slurm", "--mail-type=", "mail", ` text="{events}" words="begin=BEGIN end=END fail=FAIL"`},
	{"slurm", "--mail-user=", "mail", ` text="{address}"`},

	{"pbs", "-l nodes=", "nodes", ""},
	{"pbs", "-l mem=", "memory", ` as="MiB" times="nodes" text="{}mb"`}, // of the whole job
	{"pbs", "-l walltime=", "wallTime", clock},
	{"pbs", "-q ", "queue", ""},
	{"pbs", "-A ", "account", ""},
	{"pbs", "-N ", "jobName", ""},
	{"pbs", "-o ", "stdout", ""},
	{"pbs", "-e ", "stderr", ""},
	{"pbs", "-J |-t ", "array", ""},
	{"pbs", "-W depend=", "after", ` text="afterok:{}" separator=":"`},
	{"pbs", "-m ", "mail", ` text="{events}" separator="" words="begin=b end=e fail=ae"`},
	{"pbs", "-M ", "mail", ` text="{address}"`},

	{"gridengine", "-l h_rt=", "wallTime", clock},
	{"gridengine", "-q ", "queue", ""},
	{"gridengine", "-A ", "account", ""},
	{"gridengine", "-N ", "jobName", ""},
	{"gridengine", "-o ", "stdout", ` words="%j=$JOB_ID %a=$TASK_ID"`},
	{"gridengine", "-e ", "stderr", ` words="%j=$JOB_ID %a=$TASK_ID"`},
	{"gridengine", "-t ", "array", ` text="{ranges}"`},
	{"gridengine", "-tc ", "array", ` text="{limit}"`},
	{"gridengine", "-hold_jid ", "after", ` when="any"`},
	{"gridengine", "-m ", "mail", ` text="{events}" separator="" words="begin=b end=e fail=ae"`},
	{"gridengine", "-M ", "mail", ` text="{address}"`},

	{"pjm", `--rsc-list "node=|-L "node=`, "nodes", ""},
	{"pjm", `--rsc-list "elapse=|-L "elapse=`, "wallTime", clock},
	{"pjm", `--rsc-list "rscgrp=|-L "rscgrp=`, "queue", ""},
	{"pjm", "-N |--name ", "jobName", ""},

	{"loadleveler", "wall_clock_limit = |wall_clock_limit=", "wallTime", clock},
	{"loadleveler", "class = |class=", "queue", ""},
	{"loadleveler", "account_no = |account_no=", "account", ""},
	{"loadleveler", "job_name = |job_name=", "jobName", ""},
	{"loadleveler", "output = |output=", "stdout", ` words="%j=$(jobid)"`},
	{"loadleveler", "error = |error=", "stderr", ` words="%j=$(jobid)"`},
	{"loadleveler", "bg_size = |bg_size=", "nodes", ""},
	{"loadleveler", "notify_user = |notify_user=", "mail", ` text="{address}"`},

	{"cobalt", "-t |--time ", "wallTime", ` as="min"`},
	{"cobalt", "-n |--nodecount ", "nodes", ""},
	{"cobalt", "-q ", "queue", ""},
	{"cobalt", "-A ", "account", ""},

	{"lsf", "-W ", "wallTime", ` as="h:mm"`},
	{"lsf", "-q ", "queue", ""},
	{"lsf", "-P ", "account", ""},
	{"lsf", "-n ", "tasks", ""},
	{"lsf", "-o ", "stdout", ` words="%j=%J %a=%I"`},
	{"lsf", "-e ", "stderr", ` words="%j=%J %a=%I"`},
}

// directiveText takes a directive apart into what stands before one reference,
// which is all of the rest but for a closing quote.
var directiveText = lazyregexp.New(`^([^$]*)\$\{ptp_rm:([^#{}$]+)#value\}("?)$`)

// portableLinks links portable names to the attributes that a script puts behind
// the directives for them. Cobalt reads a resource manager's own comments.
func (i *importing) portableLinks(d *config.Definition) string {
	if d.Script == nil {
		return ""
	}
	var links strings.Builder
	linked := map[string]bool{}
	for _, name := range portablename.Names() {
		linked[name.Name] = len(d.PortableLinks(name.Name)) > 0
	}
	for _, line := range d.Script.Lines {
		for _, argument := range line.Arguments {
			found, name := directiveOf(argument.Text, d.Monitor.SchedulerType)
			if found == nil || linked[found.name+found.link] || linked[found.name] {
				continue
			}
			target := d.Attribute(name)
			if target == nil || target.ReadOnly() {
				continue
			}
			if kind := strings.ToLower(target.Text(attribute.FieldType)); strings.Contains(kind, "int") && found.link != "" && found.link != ` as="min"` {
				i.remark(Lost, argument.Line, argument.Column, "portable name "+found.name, "attribute %q accepts only whole numbers of an unknown unit", name)
				continue
			}
			linked[found.name+found.link] = true
			fmt.Fprintf(&links, `    <x:portable name="%s" attribute="%s"%s/>`+"\n", found.name, xmltree.Escape(name), found.link)
			if found.name == "after" && strings.Contains(found.link, "afterok") {
				fmt.Fprintf(&links, `    <x:portable name="after" when="any" attribute="%s" text="afterany:{}" separator=":"/>`+"\n", xmltree.Escape(name))
			}
			i.remark(added, argument.Line, argument.Column, "portable name "+found.name, "sets attribute %q", name)
		}
	}
	return links.String()
}

// directiveOf returns the directive that a line of a script is, and the attribute
// whose value it has; nil for other lines.
func directiveOf(text, schedulerType string) (*directive, string) {
	for _, known := range directiveSchedulers {
		rest, isOne := strings.CutPrefix(text, known.begin)
		parts := directiveText.FindStringSubmatch(rest)
		if !isOne || parts == nil {
			continue
		}
		scheduler := known.scheduler
		if isScheduler("cobalt", schedulerType) {
			scheduler = "cobalt"
		}
		for n := range directives {
			each := &directives[n]
			if each.scheduler != scheduler {
				continue
			}
			for start := range strings.SplitSeq(each.starts, "|") {
				if parts[1] == start && (parts[3] == "") == (strings.Count(start, `"`) == 0) {
					return each, parts[2]
				}
			}
		}
	}
	return nil, ""
}
