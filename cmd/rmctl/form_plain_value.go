package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
)

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
		if answer == "-" && e.own == "" && e.Default != "" {
			q.form.Clear(e.Field) // an empty text would leave its default
			return nil
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
	shown := orDefault(e)
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
