package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
)

// maxAnswer bounds a line of answer, in bytes.
const maxAnswer = 64 << 10

var errAnswersEnded = errors.New("the answers ended before the form did; nothing was submitted")

// A questioner fills in a form by asking line by line: for terminals that can do
// no more, for screen readers, and for scripts.
type questioner struct {
	*filling
	answers *bufio.Scanner
	out     io.Writer
	echo    bool                    // whether to show the answers, which no terminal does
	chosen  map[*config.Viewer]bool // tables whose rows were chosen as a whole
	err     error                   // of writing
}

// ask fills in the form by questions.
func (f *filling) ask(answers io.Reader, questions io.Writer) error {
	q := &questioner{filling: f, answers: bufio.NewScanner(answers), out: questions, echo: !isTerminal(answers), chosen: map[*config.Viewer]bool{}}
	q.answers.Buffer(nil, maxAnswer)
	err := q.all()
	if q.err != nil {
		return q.err
	}
	return err
}

func (q *questioner) all() error {
	q.say("%s\nEnter keeps what stands in brackets, - takes it away.\n", oneLine(q.controller.Definition().Name))
	if err := q.choosePage(); err != nil {
		return err
	}
	if err := q.fill(q.page); err != nil {
		return err
	}
	if err := q.fill(nil); err != nil {
		return err
	}
	return q.conclusions()
}

func (q *questioner) say(format string, arguments ...any) {
	if _, err := fmt.Fprintf(q.out, format, arguments...); err != nil && q.err == nil {
		q.err = fmt.Errorf("asking: %w", err)
	}
}

// answer asks a question and returns what was answered.
func (q *questioner) answer(question string) (string, error) {
	q.say("%s ", question)
	if q.err != nil {
		return "", q.err
	}
	if err := q.ctx.Err(); err != nil {
		return "", err
	}
	if !q.answers.Scan() {
		q.say("\n")
		if err := q.answers.Err(); err != nil {
			return "", fmt.Errorf("reading an answer: %w", err)
		}
		return "", errAnswersEnded
	}
	answer := strings.TrimSpace(q.answers.Text())
	if q.echo {
		q.say("%s\n", oneLine(answer))
	}
	return answer, nil
}

func (q *questioner) choosePage() error {
	pages := q.pages()
	if len(pages) == 1 {
		return nil
	}
	for i, page := range pages {
		q.say("  %d  %s\n", i+1, oneLine(page.Title))
	}
	for {
		answer, err := q.answer(fmt.Sprintf("Tab [%s]:", oneLine(q.page.Title)))
		if err != nil || answer == "" {
			return err
		}
		if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(pages) {
			q.page = pages[number-1]
			return nil
		}
		page, err := q.form.Page(answer, false)
		if err == nil {
			q.page = page
			return nil
		}
		q.say("! %s\n", oneLine(err.Error()))
	}
}

// fill asks for the fields of a page. Each answer may bring others into being, so
// the fields are looked up again after every one.
func (q *questioner) fill(page *form.Page) error {
	var asked []entry
	for {
		next, ok := q.next(page, asked)
		if !ok {
			return nil
		}
		asked = append(asked, next)
		if err := q.entry(next, page); err != nil {
			return err
		}
	}
}

// next returns the first field of the page that was not shown yet.
func (q *questioner) next(page *form.Page, asked []entry) (entry, bool) {
	for _, e := range q.entries(page) {
		if isShown(e, asked) || q.isNeedless(e) {
			continue
		}
		if e.IsInput() || e.Kind == form.Heading || e.Kind == form.Note || e.Kind == form.Computed && e.Text != "" {
			return e, true
		}
	}
	return entry{}, false
}

// isNeedless reports whether there is no point in asking for a field of the last
// page: what becomes of the form is asked at the end, and a program takes the
// place of a script.
func (q *questioner) isNeedless(e entry) bool {
	switch e.own {
	case ownArguments:
		return q.program == ""
	case ownScript:
		return q.program != "" && !q.page.Import
	case ownSaveAs:
		return true
	}
	return e.own != "" && e.Kind == form.Button
}

func isShown(e entry, asked []entry) bool {
	for _, before := range asked {
		if e.same(before) {
			return true
		}
	}
	return false
}

func (q *questioner) entry(e entry, page *form.Page) error {
	switch e.Kind {
	case form.Heading:
		q.say("\n== %s ==\n", oneLine(e.Label))
	case form.Note:
		q.say("%s\n", oneLine(e.Label))
	case form.Computed:
		q.say("%s\n", strings.TrimSpace(oneLine(e.Label)+" "+oneLine(e.Text)))
	case form.Button:
		return q.button(e)
	case form.Row:
		return q.row(e, page)
	default:
		return q.value(e)
	}
	return nil
}

func parenthesised(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + oneLine(hint) + ")"
}

// yes asks a question that is answered by yes or no.
func (q *questioner) yes(question string, usual bool) (bool, error) {
	shown := map[bool]string{true: "yes", false: "no"}[usual]
	for {
		answer, err := q.answer(fmt.Sprintf("%s [%s]", question, shown))
		if err != nil || answer == "" {
			return usual, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		q.say("! answer yes or no\n")
	}
}

func (q *questioner) button(e entry) error {
	run, err := q.yes(oneLine(e.Label)+"?", false)
	if err != nil || !run {
		return err
	}
	press, err := q.press(e)
	if err == nil {
		var renew func()
		if renew, err = press(); err == nil {
			renew()
			q.say("done\n")
			return nil
		}
	}
	q.say("! %s\n", oneLine(err.Error()))
	return q.ctx.Err()
}

// conclusions asks what becomes of the form until that can be done.
func (q *questioner) conclusions() error {
	choices := "(s)ubmit, (p)rint the command line, save (a)s, (l)eave"
	if q.target == "" {
		choices = "(p)rint the command line, save (a)s, (l)eave"
	}
	for {
		answer, err := q.answer(choices + " [leave]:")
		if err != nil {
			return err
		}
		var how conclusion
		switch strings.ToLower(answer) {
		case "", "l", "leave":
			return nil
		case "s", "submit":
			if how = concludeSubmit; q.target == "" {
				how = concludeNothing
			}
		case "p", "print":
			how = concludePrint
		case "a", "save":
			how = concludeSave
			if q.saveAs, err = q.answer("Name:"); err != nil {
				return err
			}
		}
		if how == concludeNothing {
			q.say("! answer one of these\n")
			continue
		}
		if err := q.concludeOrReplace(how); err != nil {
			q.say("! %s\n", oneLine(err.Error()))
			continue
		}
		return nil
	}
}

// concludeOrReplace asks before a launch configuration is replaced.
func (q *questioner) concludeOrReplace(how conclusion) error {
	err := q.conclude(how, false)
	if !isExisting(err) {
		return err
	}
	replace, askErr := q.yes(oneLine(err.Error())+"; replace it?", false)
	if askErr != nil || !replace {
		return errors.Join(err, askErr)
	}
	return q.conclude(how, true)
}
