// Command chaos is an unreliable batch scheduler for tests. It runs no jobs. A seed decides its
// faults, and its time passes with listings and, without them, with queries.
//
//	chaos submit          makes a job; its tag is in CHAOS_TAG
//	chaos status ID       what the controller knows of a job
//	chaos account ID      what the accounting knows of it
//	chaos list            all jobs that the controller knows
//	chaos find TAG        the job of a submission
//	chaos cancel ID
//	chaos truth           all jobs as they really end, without faults
//
// CHAOS_DIR is the directory of its records, CHAOS_SEED the seed. With CHAOS_CALM nothing fails
// and jobs wait for ever, with CHAOS_RELIABLE nothing fails, with CHAOS_WIDE a listing has more
// columns.
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
