package tokenizer

import (
	"fmt"

	"github.com/rmctl/rmctl/attribute"
)

// postProcess runs the tests and publishes the constructed attributes, target by target in the order that
// moveToTop left. It stops at the first error.
func (t *Tokenizer) postProcess() {
	if t.origins != nil {
		t.consult = t.origins.consult // not before: matches set origins themselves
	}
	for _, target := range t.targets {
		finish := t.finishReferenced
		if target.constructs() {
			finish = t.finishConstructed
		}
		if err := finish(target); err != nil {
			t.fail(target.config.Position, err)
			return
		}
	}
}

// finishReferenced runs the tests of a target that acted, or the else of one that never did.
func (t *Tokenizer) finishReferenced(target *target) error {
	if !target.acted && len(target.otherwise) == 0 {
		return nil
	}
	object, err := t.referenced(target)
	if err != nil {
		return err
	}
	if !target.acted {
		return t.runElse(target, object)
	}
	return t.runTests(target, object)
}

func (t *Tokenizer) finishConstructed(target *target) error {
	if target.rows != rowsAtEnd {
		t.handOutFirst(target, target.matches[0], len(target.constructed.pairs))
		return nil
	}
	objects, err := t.merge(target)
	if err != nil {
		return err
	}
	if len(target.constructed.all) == 0 && len(target.otherwise) > 0 {
		object := &attribute.Attribute{}
		if err := t.runElse(target, object); err != nil {
			return err
		}
		t.discover(target, object)
	}
	t.env.ExpectDiscovered(len(objects))
	for _, object := range objects {
		if err := t.runTests(target, object); err != nil {
			return err
		}
		t.discover(target, object)
	}
	return nil
}

// discover adds a constructed attribute to the environment if it has a name.
func (t *Tokenizer) discover(target *target, object *attribute.Attribute) {
	if object.Field(attribute.FieldName) == nil {
		t.traceElement("drop", target, object)
		return
	}
	t.env.Discover(object)
	t.traceElement("discover", target, object)
}

// traceElement traces what happened to a constructed attribute.
func (t *Tokenizer) traceElement(kind string, target *target, object *attribute.Attribute) {
	if t.options.Trace != nil {
		t.options.Trace(TraceEvent{Kind: kind, Position: target.config.Position, Target: target.config, Attribute: object})
	}
}

// runTests runs all tests of a target on an attribute, and its else if none succeeds.
func (t *Tokenizer) runTests(target *target, object *attribute.Attribute) error {
	succeeded := false
	for _, test := range target.tests {
		outcome, err := t.runTest(test, object, 0)
		if err != nil {
			return err
		}
		succeeded = succeeded || outcome
	}
	if succeeded {
		return nil
	}
	return t.runElse(target, object)
}

// runElse runs the actions of a target's else, if it has one.
func (t *Tokenizer) runElse(target *target, object *attribute.Attribute) error {
	t.origins.beginTest()
	if len(target.otherwise) > 0 {
		t.trace(TraceEvent{Kind: "else", Position: target.config.Position, Target: target.config, Acted: target.acted})
	}
	return t.runAll(target.otherwise, object)
}

// merge returns the attributes that a target constructed, in order. It merges those with the same name
// and omits those without one.
func (t *Tokenizer) merge(target *target) ([]*attribute.Attribute, error) {
	merged := make([]*attribute.Attribute, 0, len(target.constructed.all))
	byName := make(map[string]*attribute.Attribute, len(target.constructed.all))
	for _, object := range target.constructed.all {
		if object.Field(attribute.FieldName) == nil {
			t.traceElement("drop", target, object)
			continue
		}
		name := object.Name()
		first := byName[name]
		if first == nil {
			byName[name] = object
			merged = append(merged, object)
			continue
		}
		t.mergeOrigins(first, object, target.config.AllowOverwrites)
		if err := mergeInto(first, object, target.config.AllowOverwrites); err != nil {
			return nil, fmt.Errorf("merging the constructed attributes named %q: %w", name, err)
		}
		t.trace(TraceEvent{Kind: "merge", Position: target.config.Position, Target: target.config, Name: name})
	}
	return merged, nil
}

// mergedFields are the text and number fields that are merged. Of all other fields the first attribute's
// value remains.
var mergedFields = []attribute.Field{
	attribute.FieldType, attribute.FieldStatus, attribute.FieldMin, attribute.FieldMax, attribute.FieldDescription,
	attribute.FieldTooltip, attribute.FieldChoice, attribute.FieldTranslateChoiceAs, attribute.FieldDefault,
}

// mergeInto merges a later attribute into the first of its name. Lists and maps are united. Other values
// must be equal unless overwriting is allowed; then the later one wins.
func mergeInto(first, later *attribute.Attribute, overwrite bool) error {
	for _, field := range mergedFields {
		if err := mergeField(first, later, field, overwrite); err != nil {
			return err
		}
	}
	if err := mergeValue(first, later, overwrite); err != nil {
		return err
	}
	for _, field := range []attribute.Field{attribute.FieldVisible, attribute.FieldReadOnly} {
		value := later.Field(field)
		if value == nil || first.Field(field) == true && !overwrite {
			continue
		}
		if err := first.Set(field, value); err != nil {
			return err
		}
	}
	if !overwrite {
		return nil
	}
	// Overwriting makes the defaults of these fields explicit, as in PTP.
	for _, field := range []attribute.Field{attribute.FieldType, attribute.FieldVisible, attribute.FieldReadOnly} {
		if err := first.Set(field, first.Effective(field)); err != nil {
			return err
		}
	}
	return nil
}

func mergeField(first, later *attribute.Attribute, field attribute.Field, overwrite bool) error {
	value, present := later.Field(field), first.Field(field)
	if value == nil || value == present {
		return nil
	}
	if present != nil && !overwrite {
		return fmt.Errorf("their %s differs: %q and %q", field, attribute.Text(present), attribute.Text(value))
	}
	return first.Set(field, value)
}

func mergeValue(first, later *attribute.Attribute, overwrite bool) error {
	const field = attribute.FieldValue
	switch value := later.Value().(type) {
	case []string:
		if _, isList := first.Value().([]string); isList {
			return first.Add(field, value...)
		}
	case map[string]string:
		if _, isMap := first.Value().(map[string]string); isMap || first.Value() == nil {
			return mergeEntries(first, later, value)
		}
	default:
		switch first.Value().(type) {
		case []string, map[string]string:
		default:
			return mergeField(first, later, field, overwrite)
		}
	}
	if later.Value() == nil {
		return nil
	}
	if first.Value() != nil && !overwrite {
		return fmt.Errorf("their values differ in kind: %q and %q", first.Text(field), later.Text(field))
	}
	return first.Set(field, later.Value())
}

func mergeEntries(first, later *attribute.Attribute, entries map[string]string) error {
	for key, text := range entries {
		if err := first.Put(attribute.FieldValue, key, text, !later.EntryUnset(key)); err != nil {
			return err
		}
	}
	return nil
}
