package form

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
	"github.com/rmctl/rmctl/internal/sorting"
)

// A refusal is a text that was refused: it is shown, and not stored.
type refusal struct {
	control            launchtab.Control
	name, text, reason string
}

// A Problem is a field that holds a text that was refused.
type Problem struct {
	Name   string `json:"name"` // of the attribute, or the label of a field without one
	Reason string `json:"reason"`
}

// Problems returns what is refused at present in controls that count on a page,
// by name. While there is any the form must not be submitted from there.
func (f *Form) Problems(page *Page) []Problem {
	var problems []Problem
	for _, other := range f.counting(page) {
		f.visit(other, func(control launchtab.Control, state condition) {
			for _, refused := range f.refused {
				if refused.control == control && state.effective() {
					problems = append(problems, Problem{refused.name, refused.reason})
				}
			}
		})
	}
	sorting.Stable(problems, func(a, b Problem) int { return strings.Compare(a.Name+"\x00"+a.Reason, b.Name+"\x00"+b.Reason) })
	return slices.Compact(problems)
}

// Set gives a field a text as typed or chosen: "true" or "false" for a switch,
// an item for a choice. What the field or the attribute's validator refuses is
// not stored; the field shows it with its problem until something else is set.
// Validators look files up with stat; with a nil stat they do not. An empty
// number takes the value away; an empty field whose default is made of other values
// has that again. The error is an *attribute.InvalidError, or what
// went wrong in the lookup.
func (f *Form) Set(field Field, text string, stat attribute.Stat) error {
	err := f.set(field, text, stat)
	if err == nil {
		f.Forget(field)
		return nil
	}
	reason := err.Error()
	var invalid *attribute.InvalidError
	if errors.As(err, &invalid) {
		reason = invalid.Reason
	}
	f.refused[field.ID] = refusal{field.control, cmp.Or(field.Name, field.Label), text, reason}
	return err
}

func (f *Form) set(field Field, text string, stat attribute.Stat) error {
	a := f.environment.Lookup(field.Name)
	if field.Name == "" || a == nil {
		return f.setUnbound(field, text)
	}
	if text == "" && field.isDerived(a) {
		a.SetValue(a.Field(attribute.FieldDefault))
		return nil
	}
	value, err := field.value(a, text)
	if err != nil {
		return err
	}
	checked := value
	if value == nil {
		checked = "" // which is what validators see of an emptied field
	}
	if err := a.Check(checked, stat); err != nil {
		return err
	}
	a.SetValue(value)
	return nil
}

// setUnbound keeps the text of a control that sets no attribute: rules and
// computed texts may still depend on it.
func (f *Form) setUnbound(field Field, text string) error {
	value, err := field.value(attribute.New(field.Label), text)
	if err != nil {
		return err
	}
	if button, ok := field.control.(*launchtab.Widget); ok && field.Kind == Switch {
		f.selected[button] = value == true
	} else {
		f.texts[field.control] = attribute.Text(value)
	}
	return nil
}

// value returns what a text is stored as; the empty text is no value.
func (f Field) value(a *attribute.Attribute, text string) (attribute.Value, error) {
	refuse := func(reason string) error {
		return &attribute.InvalidError{Attribute: a.Name(), Value: text, Reason: reason}
	}
	if _, isGroup := f.control.(*launchtab.ButtonGroup); isGroup {
		if text != "" && !slices.Contains(f.Items, text) {
			return nil, refuse("choose one of " + strings.Join(f.Items[1:], ", "))
		}
		return Accept(a, text, TextEditor)
	}
	if len(f.Items) > 0 && !f.Open && text != "" && !slices.Contains(f.Items, text) {
		return nil, refuse("choose one of " + strings.Join(slices.DeleteFunc(slices.Clone(f.Items), isEmpty), ", "))
	}
	switch f.Editor {
	case ListEditor:
		return list(text), nil
	case SwitchEditor:
		return switched(a, text == "true"), nil
	}
	value, err := Accept(a, text, f.Editor)
	if number, ok := value.(int); err == nil && ok && number < f.Least {
		return nil, refuse(fmt.Sprintf("the minimum is %d", f.Least)) // of a spinner, which counts from 0
	}
	return value, err
}

// switched returns what a switch stores.
func switched(a *attribute.Attribute, on bool) attribute.Value {
	whenOn, whenOff, translated := translation(a)
	switch {
	case !translated:
		return on
	case on:
		return whenOn
	}
	return whenOff
}

func isEmpty(text string) bool { return text == "" }

// list returns the elements of a list as users write one.
func list(text string) attribute.Value {
	var elements []string
	for element := range strings.SplitSeq(text, ",") {
		if element = strings.TrimSpace(element); element != "" {
			elements = append(elements, element)
		}
	}
	if elements == nil {
		return nil
	}
	return elements
}

// Check checks or unchecks a row of a viewer. A refused text of a row that is
// unchecked is forgotten.
func (f *Form) Check(row Field, checked bool) {
	if row.Kind != Row {
		return
	}
	f.checked[row.ID] = checked
	if !checked {
		f.Forget(row)
	}
}

// Forget drops a text that was refused: the field shows what is stored again.
func (f *Form) Forget(field Field) { delete(f.refused, field.ID) }

// Restore gives a field what it had before anything was filled in: its default,
// or what the target or a command has set.
func (f *Form) Restore(field Field) {
	f.Forget(field)
	a, before := f.environment.Lookup(field.Name), f.initial.Lookup(field.Name)
	switch {
	case field.Name == "":
		delete(f.texts, field.control)
		if button, ok := field.control.(*launchtab.Widget); ok {
			delete(f.selected, button)
		}
	case a != nil && before != nil:
		a.SetValue(before.Clone().Value())
	}
	delete(f.checked, field.ID)
}

// File returns the file that the attribute's validator would look up for a
// text; empty if it looks none up.
func (f *Form) File(field Field, text string) string {
	a := f.environment.Lookup(field.Name)
	if field.Name == "" || a == nil || a.Validator == nil || a.Validator.File == nil {
		return ""
	}
	return strings.TrimSpace(text)
}
