package check

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// A vocabulary is the words that a scheduler's commands have for the states of
// jobs in one of their output formats.
type vocabulary struct {
	scheduler string
	programs  []string // that print the words; empty where the type of the scheduler decides
	types     []string // beginnings of schedulerType, in capital letters
	decisive  []string // tests must know one of these words if the type of the scheduler is not enough
	words     []string // the most important first: the ends of jobs
}

// vocabularies lists the words that the schedulers document. Words that the commands
// show only for past jobs are left out, since status commands query current ones;
// so is M of OpenPBS: another server knows the state.
var vocabularies = []vocabulary{
	{"Slurm", []string{"squeue", "scontrol", "sacct"}, nil, nil, []string{
		"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "DEADLINE", "BOOT_FAIL", "REVOKED",
		"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD",
		"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING", "SUSPENDED", "STOPPED",
	}},
	{"Slurm", []string{"squeue"}, nil, nil, []string{
		"CD", "CA", "F", "TO", "OOM", "NF", "PR", "DL", "BF", "RV",
		"PD", "CF", "RQ", "RH", "RF", "SE", "RD",
		"R", "CG", "SO", "SI", "RS", "S", "ST",
	}},
	{"TORQUE", nil, []string{"TORQUE"}, nil, []string{"C", "E", "H", "Q", "R", "S", "T", "W"}},
	// All kinds of PBS use this name; only the words they share are certain.
	{"PBS", nil, []string{"PBS"}, []string{"C"}, []string{"C", "E", "H", "Q", "R", "S", "T", "W"}},
	{"OpenPBS", nil, []string{"PBS", "OPENPBS"}, []string{"B", "F", "U", "X"}, []string{"B", "E", "H", "Q", "R", "S", "T", "U", "W"}},
	{"PBS", nil, []string{"PBS", "OPENPBS"}, nil, []string{"E", "H", "Q", "R", "S", "T", "W"}},
	{"Grid Engine", nil, []string{"GRIDENGINE", "GRID_ENGINE", "GE", "OGE", "SGE", "UGE"}, nil, []string{
		"Eqw", "qw", "hqw", "hRwq", "t", "r", "Rr", "hr", "s", "S", "T", "dr", "dt",
	}},
	{"LSF", []string{"bjobs"}, nil, nil, []string{"DONE", "EXIT", "PEND", "WAIT", "PSUSP", "RUN", "USUSP", "SSUSP", "UNKWN", "ZOMBI"}},
	{"LoadLeveler", []string{"llq"}, nil, nil, []string{
		"C", "CA", "NR", "RM", "TX", "X", "CP", "RP", "VP", "XP", "V",
		"I", "NQ", "D", "P", "ST", "H", "S", "HS",
		"R", "CK", "E", "EP", "MP",
	}},
}

// vocabularyOf returns the words of the scheduler that a status command queries,
// in the form that its tests know. Both the command, or the type of the
// scheduler, and the tests have to point to it.
func vocabularyOf(d *config.Definition, command *config.Command, tested []string) (vocabulary, bool) {
	var best vocabulary
	most := 0
	words := wordsOf(command)
	for _, candidate := range vocabularies {
		if !candidate.isQueriedBy(d, words) || !candidate.isRecognized(tested) {
			continue
		}
		shared := 0
		for _, word := range tested {
			if slices.Contains(candidate.words, word) {
				shared++
			}
		}
		if shared > most && shared >= 2 && 2*shared >= len(tested) {
			best, most = candidate, shared
		}
	}
	return best, most > 0
}

// isQueriedBy reports whether a command line of these words runs a program that prints the vocabulary.
func (v vocabulary) isQueriedBy(d *config.Definition, words []string) bool {
	if len(v.programs) > 0 {
		return slices.ContainsFunc(v.programs, func(program string) bool { return slices.Contains(words, program) })
	}
	declared := strings.ToUpper(d.Monitor.SchedulerType)
	return slices.Contains(words, "qstat") && slices.ContainsFunc(v.types, func(name string) bool { return strings.HasPrefix(declared, name) })
}

func (v vocabulary) isRecognized(tested []string) bool {
	return len(v.decisive) == 0 || slices.ContainsFunc(v.decisive, func(word string) bool { return slices.Contains(tested, word) })
}

// wordsOf returns the words of a command line, including those of shell programs in it.
func wordsOf(c *config.Command) []string {
	var words []string
	for _, argument := range c.Arguments {
		words = append(words, strings.FieldsFunc(reference.Replace(argument.Text, ""), isOutsideWords)...)
	}
	return words
}

func isOutsideWords(r rune) bool {
	return r != '_' && (r < '0' || '9' < r) && (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r)
}
