// Command chaos is a batch scheduler that nobody can rely on, for tests: it runs
// no jobs, and answers as schedulers do on their worst days. What it does is
// drawn from a seed. Time passes for its jobs with each listing, and for those of
// one who never lists with what is asked of single ones.
//
//	chaos submit          makes a job; its tag is in CHAOS_TAG
//	chaos status ID       what the controller knows of a job
//	chaos account ID      what the accounting knows of it
//	chaos list            all jobs that the controller knows
//	chaos find TAG        the job of a submission
//	chaos cancel ID
//	chaos truth           all jobs as they really end, without any faults
//
// CHAOS_DIR is the folder of its records, CHAOS_SEED the seed; with CHAOS_CALM
// nothing goes wrong and jobs wait for ever, with CHAOS_RELIABLE nothing goes wrong, with CHAOS_WIDE a
// listing says more of each job.
package main

import (
	"errors"
	"fmt"
	"os"
)

// Exit codes, as chaos.xml knows them.
const (
	exitNotFound  = 44
	exitEnded     = 45
	exitTransient = 75
)

// An exit ends the program with a code and a word on standard error.
type exit struct {
	code int
	text string
}

func (e *exit) Error() string { return e.text }

func main() {
	err := run(os.Args[1:])
	var known *exit
	switch {
	case errors.As(err, &known):
		fmt.Fprintln(os.Stderr, known.text)
		os.Exit(known.code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("what is to be done?")
	}
	about := ""
	if len(arguments) > 1 {
		about = arguments[1]
	}
	records, err := openLedger(os.Getenv("CHAOS_DIR"))
	if err != nil {
		return err
	}
	defer records.close()
	if arguments[0] == "truth" {
		return truth(records)
	}
	mood, err := newMood(records, arguments[0])
	if err != nil {
		return err
	}
	switch arguments[0] {
	case "submit":
		return submit(records, mood, os.Getenv("CHAOS_TAG"))
	case "status":
		return status(records, mood, about)
	case "account":
		return account(records, mood, about)
	case "list":
		return list(records, mood)
	case "find":
		return find(records, mood, about)
	case "cancel":
		return cancel(records, mood, about)
	}
	return fmt.Errorf("cannot %q", arguments[0])
}
