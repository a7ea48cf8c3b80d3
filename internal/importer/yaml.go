package importer

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A mapping is a mapping of a YAML file, whose members are asked for one by one;
// those that nobody asked for can be told.
type mapping struct {
	*importing
	path  string // of names, for reports
	node  *yaml.Node
	asked map[string]bool
}

var yamlLine = lazyregexp.New(`^yaml: (?:line ([0-9]+): )?(.*)`)

// readYAML reads a file of one document that is a mapping.
func (i *importing) readYAML() (*mapping, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(i.source)))
	var document, further yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, i.fail(1, 1, "the file is empty")
		}
		line, reason := 0, err.Error()
		if found := yamlLine.FindStringSubmatch(reason); found != nil {
			line, _ = strconv.Atoi(found[1]) // 0 where there is none
			reason = found[2]
		}
		return nil, i.fail(line, 0, "%s", reason)
	}
	if err := decoder.Decode(&further); !errors.Is(err, io.EOF) {
		return nil, i.fail(max(further.Line, 1), 0, "there is a second document, of which nothing is known")
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, i.fail(max(document.Line, 1), max(document.Column, 1), "it is no mapping")
	}
	return &mapping{importing: i, node: document.Content[0], asked: map[string]bool{}}, nil
}

// member returns the value of a key, nil where there is none. An alias stands for
// what it names; one of an alias is not followed.
func (m *mapping) member(name string) *yaml.Node {
	m.asked[name] = true
	for at := 0; at+1 < len(m.node.Content); at += 2 {
		if m.node.Content[at].Value != name {
			continue
		}
		value := m.node.Content[at+1]
		if value.Kind == yaml.AliasNode && value.Alias != nil {
			value = value.Alias
		}
		return value
	}
	return nil
}

func (m *mapping) called(name string) string {
	if m.path == "" {
		return name
	}
	return m.path + "." + name
}

// text returns a scalar, empty where there is none or no value.
func (m *mapping) text(name string) (string, *yaml.Node, error) {
	value := m.member(name)
	switch {
	case value == nil || value.Tag == "!!null":
		return "", nil, nil
	case value.Kind != yaml.ScalarNode:
		return "", nil, m.fail(value.Line, value.Column, "%s has to be a text", m.called(name))
	case len(value.Value) > 4096 || strings.ContainsAny(value.Value, "\x00\n\r"):
		return "", nil, m.fail(value.Line, value.Column, "%s is no text on one line", m.called(name))
	}
	return value.Value, value, nil
}

// mapping returns a mapping, an empty one where there is none.
func (m *mapping) mapping(name string) (*mapping, error) {
	value := m.member(name)
	switch {
	case value == nil || value.Tag == "!!null":
		value = &yaml.Node{Kind: yaml.MappingNode, Line: m.node.Line, Column: m.node.Column}
	case value.Kind != yaml.MappingNode:
		return nil, m.fail(value.Line, value.Column, "%s has to be a mapping", m.called(name))
	}
	return &mapping{importing: m.importing, path: m.called(name), node: value, asked: map[string]bool{}}, nil
}

// each calls visit with the keys in order.
func (m *mapping) each(visit func(key *yaml.Node) error) error {
	for at := 0; at+1 < len(m.node.Content); at += 2 {
		if err := visit(m.node.Content[at]); err != nil {
			return err
		}
	}
	return nil
}

// maxRemarks bounds how many members are told of that mean nothing here.
const maxRemarks = 200

// unasked reports the members that nobody has asked for, with why if that is known.
func (m *mapping) unasked(why map[string]string) {
	told := 0
	_ = m.each(func(key *yaml.Node) error { // visit fails never
		if m.asked[key.Value] || key.Value == "<<" {
			return nil
		}
		if told++; told > maxRemarks {
			return nil
		}
		reason, known := why[key.Value]
		if !known {
			reason = "it has no counterpart"
		}
		m.remark(Lost, key.Line, key.Column, m.called(key.Value), "%s", reason)
		return nil
	})
}
