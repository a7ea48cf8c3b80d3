package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/initial"
)

// expect adds to a case the attributes before the command and what the definition makes of
// it. It keeps only attributes that influence the result.
func (w *writer) expect(ctx context.Context, written *cases.Case, c Recorded) error {
	runner := cases.Runner{Parallel: 1}
	try := func(start *initial.Environment) (*cases.Answer, error) {
		tried := *written
		tried.Before = start
		return runner.Evaluate(ctx, &tried)
	}
	all, err := w.replaced(before(c, w.Loaded))
	if err != nil {
		return err
	}
	wanted, err := try(all)
	if err != nil {
		return err
	}
	if !cases.MatchArguments(written.Arguments, wanted.Arguments) {
		written.Arguments = nil
		w.remark("%s: the recorded attributes do not give its command line, so the case omits argv", written.Command)
	}
	for i := len(all.Attributes) - 1; i >= 0; i-- {
		fewer := *all
		fewer.Attributes = slices.Delete(slices.Clone(all.Attributes), i, i+1)
		if answer, err := try(&fewer); err == nil && wanted.Same(answer) {
			all = &fewer
		}
	}
	if len(all.Attributes) > 0 {
		written.Before = all
	}
	if wanted, err = try(written.Before); err != nil {
		return err
	}
	got := wanted.Reduced(nil)
	written.Expected = &got
	return nil
}

const scriptAttribute = "script"

// before returns the attributes before a command that differ from the definition, except
// the user's script.
func before(c Recorded, definition *config.Definition) *initial.Environment {
	start := &initial.Environment{}
	for _, key := range c.Before.Variables() {
		now := c.Before.Variable(key)
		if defined := definition.Attribute(key); defined != nil {
			fresh := defined.Clone()
			if fresh.Value() == nil {
				fresh.SetValue(fresh.Field(attribute.FieldDefault))
			}
			if fresh.Equal(now) {
				continue
			}
		} else if key == scriptAttribute || isOfPlace(key, attribute.Text(now.Value())) || now.Value() == nil && now.Text(attribute.FieldName) == key {
			continue
		}
		start.Attributes = append(start.Attributes, initial.Attribute{Key: key, Attribute: now})
	}
	return start
}

// isOfPlace reports whether every case has an attribute, with any value. The value matters
// only for interactive jobs without a terminal.
func isOfPlace(name, value string) bool {
	usual, is := cases.Place{}.Attributes()[name]
	return is && (value == usual || !strings.HasPrefix(name, "job.")) || strings.HasPrefix(name, "os.")
}

// replaced returns attributes with placeholders in their texts.
func (w *writer) replaced(start *initial.Environment) (*initial.Environment, error) {
	text, err := json.Marshal(start)
	if err != nil {
		return nil, fmt.Errorf("writing the attributes before a command: %w", err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("reading the attributes before a command: %w", err)
	}
	if text, err = json.Marshal(w.inTree(tree)); err != nil {
		return nil, fmt.Errorf("writing the attributes before a command: %w", err)
	}
	replaced := &initial.Environment{}
	if err := json.Unmarshal(text, replaced); err != nil {
		return nil, fmt.Errorf("reading the attributes before a command: %w", err)
	}
	return replaced, nil
}

func (w *writer) inTree(tree any) any {
	switch node := tree.(type) {
	case string:
		return w.text(node)
	case []any:
		for i := range node {
			node[i] = w.inTree(node[i])
		}
	case map[string]any:
		for key, value := range node {
			if key != "key" { // attributes are found by their keys
				node[key] = w.inTree(value)
			}
		}
	}
	return tree
}
