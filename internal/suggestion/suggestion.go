// Package suggestion maps commands of other tools to those of rmctl.
package suggestion

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
)

// meanings are the commands of rmctl, each with what people write for it in other tools. Two
// words are a command of a tool that has several.
var meanings = map[string]string{
	"submit":   "sbatch qsub bsub msub oarsub pjsub llsubmit condor_submit ccc_msub apply create batch enqueue scontrol:submit hq:submit flux:submit flux:batch condor:submit",
	"resubmit": "requeue rerun retry restart qrerun brequeue scontrol:requeue",
	"run":      "srun salloc qlogin qrsh qsh alloc exec mpirun mpiexec aprun interactive flux:run flux:alloc kubectl:run kubectl:exec",
	"attach":   "sattach reattach flux:attach kubectl:attach",
	"jobs": "squeue qstat bjobs sacct showq list ls get history qhist bhist qacct bacct llq pjstat oarstat cqstat condor_q condor_history " +
		"job flux:jobs hq:job kubectl:get condor:q",
	"status":    "stat state info show checkjob jobinfo scontrol:show",
	"explain":   "why tracejob kubectl:describe",
	"wait":      "swait bwait flux:wait kubectl:wait",
	"output":    "log cat tail bpeek speek qcat stdout kubectl:logs hq:log",
	"watch":     "htop smap sview monitor events kubectl:events",
	"cancel":    "scancel qdel bkill delete del rm remove kill skill terminate abort canceljob mjobctl llcancel pjdel oardel cqdel condor_rm kubectl:delete flux:cancel hq:cancel condor:rm",
	"hold":      "qhold bhold pjhold oarhold condor_hold llhold scontrol:hold",
	"release":   "qrls pjrls condor_release unhold scontrol:release",
	"suspend":   "bstop pause scontrol:suspend condor_suspend",
	"resume":    "bresume continue unpause oarresume scontrol:resume condor_continue",
	"nodes":     "sinfo pbsnodes bhosts lshosts qhost oarnodes condor_status llstatus pjshowrsc hosts node kubectl:nodes scontrol:node",
	"queues":    "bqueues queue partitions partition llclass",
	"targets":   "clusters contexts profiles",
	"processes": "sstat ranks",
	"serve":     "ui web gui server dashboard",
	"doctor":    "check diagnose",
	"validate":  "lint verify",
	"start":     "login connect",
	"stop":      "logout disconnect",
	"version":   "ver about",
}

// Command returns the rmctl command that the user of other words probably meant, empty if that
// is not clear. A misspelling begins with the right letter and has one wrong letter, or two in
// a long word: anything else may mean another command.
func Command(words, known []string) string {
	if len(words) == 0 {
		return ""
	}
	word := strings.ToLower(words[0])
	candidates := []string{word}
	if len(words) > 1 {
		candidates = []string{word + ":" + strings.ToLower(words[1]), word}
	}
	for _, candidate := range candidates {
		if meant := meaning(candidate); slices.Contains(known, meant) {
			return meant
		}
	}
	return wording.Nearest(word, slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !isMisspelling(word, name) }))
}

func meaning(word string) string {
	for command, words := range meanings {
		if slices.Contains(strings.Fields(words), word) {
			return command
		}
	}
	return ""
}

// longWord is the length from which two letters may be wrong.
const longWord = 7

func isMisspelling(word, name string) bool {
	if word == "" || word[0] != name[0] {
		return false
	}
	distance, similar := wording.Distance(word, name)
	return similar && (distance <= 1 || distance == 2 && len(name) >= longWord)
}
