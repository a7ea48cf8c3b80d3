package form

import (
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// Launch gives the form a function that sets the attributes of what is to be run in an
// environment. The form uses it only to show defaults that refer to them.
func (f *Form) Launch(set func(*attribute.Environment)) { f.launch = set }

// innerReference is a reference that holds no other one.
var innerReference = lazyregexp.New(`\$\{ptp_rm:[^${}]*\}`)

// derived returns the default of an attribute if it is made of the values of
// others, which are known when the job is submitted at last.
func derived(a *attribute.Attribute) (text string, ok bool) {
	if a == nil {
		return "", false
	}
	text = a.Text(attribute.FieldDefault)
	return text, innerReference.MatchString(text)
}

// isDerived reports whether a field is empty where its attribute has a default
// that is made of the values of others. Only a field that takes any text can.
func (f Field) isDerived(a *attribute.Attribute) bool {
	if _, ok := derived(a); !ok {
		return false
	}
	switch f.Kind {
	case Text, Lines, Path:
		return f.Editor == TextEditor
	case Row:
		return f.Editor == TextEditor && len(f.Items) == 0
	case Choice:
		return f.Open && f.Group() == nil
	}
	return false
}

// showDefault empties a field that has its default still, and notes its present
// value: the references in it would not show what the job will get.
func (f *Form) showDefault(field *Field, a *attribute.Attribute) {
	if !field.isDerived(a) {
		return
	}
	text, _ := derived(a)
	if attribute.Text(a.Value()) != text {
		return
	}
	field.Text, field.Default = "", oneLine(f.comesTo(text))
	if field.Fixed {
		field.Text = field.Default
	}
}

// comesTo resolves a default; it returns nothing as long as something that it
// refers to is not known.
func (f *Form) comesTo(text string) string {
	known := f.environment.Clone()
	if f.launch != nil {
		f.launch(known)
	}
	for _, reference := range innerReference.FindAllString(text, -1) {
		if value, err := known.Resolve(reference, ""); err != nil || strings.TrimSpace(value) == "" {
			return ""
		}
	}
	resolved, err := known.Resolve(text, "")
	if err != nil || strings.Contains(resolved, "${") {
		return ""
	}
	return resolved
}

// Clear takes the value of a field away, and a default that it shows as empty.
// No validator runs.
func (f *Form) Clear(field Field) {
	f.Forget(field)
	if a := f.environment.Lookup(field.Name); field.Name != "" && a != nil {
		a.SetValue(nil)
	}
}
