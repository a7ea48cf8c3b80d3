package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/form"
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

// value asks for a value until one is taken.
func (q *questioner) value(e entry) error {
	for i, item := range e.offered() {
		q.say("  %d  %s\n", i+1, oneLine(item))
	}
	for {
		answer, err := q.answer(question(e))
		if err != nil || answer == "" {
			return err
		}
		text, err := answered(e, answer)
		if err == nil {
			err = q.set(e, text, q.stat())
		}
		if err == nil {
			return nil
		}
		q.say("! %s\n", reason(err))
		q.form.Forget(e.Field)
	}
}

func reason(err error) string {
	var invalid *attribute.InvalidError
	if errors.As(err, &invalid) {
		return oneLine(invalid.Reason)
	}
	return oneLine(err.Error())
}

func question(e entry) string {
	text := oneLine(e.Label)
	if e.Hint != "" {
		text += " (" + oneLine(e.Hint) + ")"
	}
	shown := e.Text
	if e.isSwitch() {
		shown = map[bool]string{true: "yes", false: "no"}[e.switchedOn()]
	}
	return fmt.Sprintf("%s [%s]:", text, oneLine(shown))
}

// answered returns what a field is set to by an answer.
func answered(e entry, answer string) (string, error) {
	switch {
	case answer == "-":
		return "", nil
	case e.isSwitch():
		switch strings.ToLower(answer) {
		case "y", "yes", "true", "on":
			return "true", nil
		case "n", "no", "false", "off":
			return "false", nil
		}
		return "", errors.New("answer yes or no")
	}
	for _, item := range e.offered() {
		if strings.TrimSpace(item) == answer {
			return item, nil
		}
	}
	if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(e.offered()) {
		return e.offered()[number-1], nil
	}
	return answer, nil
}

// offered returns the items that are not empty.
func (e entry) offered() []string {
	return slices.DeleteFunc(slices.Clone(e.Items), func(item string) bool { return item == "" })
}

func (e entry) isSwitch() bool {
	return e.Kind == form.Switch || e.Kind == form.Row && e.Editor == attribute.SwitchEditor
}

// switchedOn reports whether a switch is on; of a row, On tells whether it is checked.
func (e entry) switchedOn() bool {
	return e.Kind == form.Switch && e.On || e.Kind == form.Row && e.Text == "true"
}

// manyRows is from how many rows on a table is asked for as a whole.
const manyRows = 12

// row asks whether an attribute of a table is to be used, and then for its value.
func (q *questioner) row(e entry, page *form.Page) error {
	use := e.On
	if rows := q.rowsBeside(e, page); len(rows) < manyRows {
		var err error
		if use, err = q.yes(fmt.Sprintf("Use %s%s?", oneLine(e.Label), parenthesised(e.Hint)), e.On); err != nil {
			return err
		}
		q.form.Check(e.Field, use)
		e.Hint = ""
	} else if !q.chosen[e.Viewer()] {
		q.chosen[e.Viewer()] = true
		if err := q.chooseRows(rows); err != nil {
			return err
		}
		for _, row := range q.rowsBeside(e, page) {
			if row.same(e) {
				e = row
			}
		}
		use = e.On
	}
	if !use || e.Fixed {
		return nil
	}
	return q.value(e)
}

// rowsBeside returns the rows of the table that one is of.
func (q *questioner) rowsBeside(e entry, page *form.Page) []entry {
	return slices.DeleteFunc(q.entries(page), func(other entry) bool { return other.Kind != form.Row || other.Viewer() != e.Viewer() })
}

// chooseRows asks which rows of a long table are to be used.
func (q *questioner) chooseRows(rows []entry) error {
	var used []string
	for _, row := range rows {
		q.say("  %s%s\n", oneLine(row.Label), parenthesised(row.Hint))
		if row.On {
			used = append(used, row.Label)
		}
	}
	for {
		answer, err := q.answer(fmt.Sprintf("Which of them, separated by blanks? [%s]:", oneLine(strings.Join(used, " "))))
		if err != nil || answer == "" {
			return err
		}
		wanted := strings.Fields(strings.TrimPrefix(answer, "-"))
		unknown := slices.IndexFunc(wanted, func(name string) bool {
			return !slices.ContainsFunc(rows, func(row entry) bool { return row.Label == name })
		})
		if unknown >= 0 {
			q.say("! there is no %q\n", wanted[unknown])
			continue
		}
		for _, row := range rows {
			q.form.Check(row.Field, slices.Contains(wanted, row.Label))
		}
		return nil
	}
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
