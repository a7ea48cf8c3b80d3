package fill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/tui"
)

// maxAnswer bounds a line of answer, in bytes.
const maxAnswer = 64 << 10

var errAnswersEnded = errors.New("the answers ended before the form; nothing submitted")

// A questioner fills in a form line by line.
type questioner struct {
	*Form
	ctx     context.Context
	answers *bufio.Scanner
	out     io.Writer
	echo    bool                       // whether to show the answers, which no terminal does
	chosen  map[*launchtab.Viewer]bool // tables whose rows were chosen as a whole
	err     error                      // that ended the questions
}

// Ask fills in the form by questions, line by line.
func (f *Form) Ask(ctx context.Context, answers io.Reader, questions io.Writer) error {
	q := &questioner{Form: f, ctx: ctx, answers: bufio.NewScanner(answers), out: questions, echo: !tui.IsTerminal(answers), chosen: map[*launchtab.Viewer]bool{}}
	q.answers.Buffer(nil, maxAnswer)
	if err := q.run(); err != nil {
		return q.fail(err)
	}
	return q.err
}

func (q *questioner) run() error {
	q.say("%s\nEnter keeps the value in brackets, - removes it.\n", tui.OneLine(q.Controller.Definition.Name))
	if err := q.choosePage(); err != nil {
		return err
	}
	for _, page := range []*form.Page{q.page, nil} {
		if err := q.askPage(page); err != nil {
			return err
		}
	}
	return q.conclusions()
}

func (q *questioner) say(format string, arguments ...any) {
	if _, err := fmt.Fprintf(q.out, format, arguments...); err != nil {
		_ = q.fail(fmt.Errorf("asking: %w", err)) // the next question returns it
	}
}

// fail ends the questions with an error, and returns the first one that did.
func (q *questioner) fail(err error) error {
	if q.err == nil {
		q.err = err
	}
	return q.err
}

func (q *questioner) complain(reason string) { q.say("! %s\n", tui.OneLine(reason)) }

// answer asks a question and returns the answer.
func (q *questioner) answer(question string) (string, error) {
	q.say("%s ", question)
	if err := q.ctx.Err(); q.err != nil || err != nil {
		return "", q.fail(err)
	}
	if !q.answers.Scan() {
		q.say("\n")
		if err := q.answers.Err(); err != nil {
			return "", q.fail(fmt.Errorf("reading an answer: %w", err))
		}
		return "", q.fail(errAnswersEnded)
	}
	answer := strings.TrimSpace(q.answers.Text())
	if q.echo {
		q.say("%s\n", tui.OneLine(answer))
	}
	return answer, nil
}

// until asks a question until take has no error for the answer. An empty answer keeps what
// there is.
func (q *questioner) until(question string, take func(answer string) error) error {
	for {
		answer, err := q.answer(question)
		if err != nil || answer == "" {
			return err
		}
		if err = take(answer); err == nil || q.err != nil {
			return q.err
		}
		q.complain(reason(err))
	}
}

// yes asks a question that is answered by yes or no.
func (q *questioner) yes(question string, usual bool) (bool, error) {
	err := q.until(fmt.Sprintf("%s [%s]", question, yesOrNo(usual)), func(answer string) error {
		switch strings.ToLower(answer) {
		case "y", "yes":
			usual = true
		case "n", "no":
			usual = false
		default:
			return errYesOrNo
		}
		return nil
	})
	return usual, err
}

var errYesOrNo = errors.New("answer yes or no")

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (q *questioner) choosePage() error {
	pages := q.pages()
	if len(pages) == 1 {
		return nil
	}
	for i, page := range pages {
		q.say("  %d  %s\n", i+1, tui.OneLine(page.Title))
	}
	return q.until(fmt.Sprintf("Tab [%s]:", tui.OneLine(q.page.Title)), func(answer string) error {
		if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(pages) {
			q.page = pages[number-1]
			return nil
		}
		page, err := q.form.Page(answer, false)
		if err == nil {
			q.page = page
		}
		return err
	})
}

// askPage asks for the fields of a page. Each answer may show others, so it looks the fields
// up again after every one.
func (q *questioner) askPage(page *form.Page) error {
	var asked []entry
	for {
		entries := q.entries(page)
		next := slices.IndexFunc(entries, func(e entry) bool {
			return !q.isNeedless(e) && !slices.ContainsFunc(asked, func(before entry) bool { return e.Same(before.Field) })
		})
		if next < 0 {
			return nil
		}
		asked = append(asked, entries[next])
		if err := q.askEntry(entries[next], page); err != nil {
			return err
		}
	}
}

// isNeedless reports whether there is nothing to show or ask for an entry. The question what to do
// with the form comes last, and a program replaces a script.
func (q *questioner) isNeedless(e entry) bool {
	switch {
	case e.own == &q.arguments:
		return q.program == ""
	case e.own == &q.script:
		return q.program != "" && !q.page.Import
	case e.own == &q.Name, e.Kind == form.Button && e.Action() == nil:
		return true
	case e.Kind == form.Computed:
		return e.Text == ""
	}
	return !e.IsInput() && e.Kind != form.Heading && e.Kind != form.Note
}

func (q *questioner) askEntry(e entry, page *form.Page) error {
	switch e.Kind {
	case form.Heading:
		q.say("\n== %s ==\n", tui.OneLine(e.Label))
	case form.Note:
		q.say("%s\n", tui.OneLine(e.Label))
	case form.Computed:
		q.say("%s\n", strings.TrimSpace(tui.OneLine(e.Label)+" "+tui.OneLine(e.Text)))
	case form.Button:
		return q.button(e)
	case form.Row:
		return q.row(e, page)
	default:
		return q.value(e)
	}
	return nil
}

func (q *questioner) button(e entry) error {
	wanted, err := q.yes(tui.OneLine(e.Label)+"?", false)
	if err != nil || !wanted {
		return err
	}
	run, err := q.press(q.ctx, e)
	if err == nil {
		var renew func()
		if renew, err = run(); err == nil {
			renew()
			q.say("done\n")
			return nil
		}
	}
	q.complain(err.Error())
	return q.ctx.Err()
}

// conclusions asks what becomes of the form until that can be done.
func (q *questioner) conclusions() error {
	choices := "(s)ubmit, (p)rint the command line, save (a)s, (l)eave"
	if q.Target == "" {
		choices = "(p)rint the command line, save (a)s, (l)eave"
	}
	return q.until(choices+" [leave]:", func(answer string) error {
		how, known := map[string]Conclusion{
			"l": leave, "leave": leave, "s": Submit, "submit": Submit, "p": Print, "print": Print, "a": Save, "save": Save,
		}[strings.ToLower(answer)]
		switch {
		case !known, how == Submit && q.Target == "":
			return errors.New("choose one of these")
		case how == leave:
			return nil
		case how == Save:
			name, err := q.answer("Name:")
			if err != nil {
				return err
			}
			q.Name = name
		}
		return q.concludeOrReplace(how)
	})
}

// concludeOrReplace asks before a saved submission is replaced.
func (q *questioner) concludeOrReplace(how Conclusion) error {
	err := q.conclude(how, false)
	if !isExisting(err) {
		return err
	}
	replace, askErr := q.yes(tui.OneLine(err.Error())+"; replace it?", false)
	if askErr != nil || !replace {
		return errors.Join(err, askErr)
	}
	return q.conclude(how, true)
}
