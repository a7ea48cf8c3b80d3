package importer

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A mapping is a mapping of a YAML file that notes which of its members were read.
type mapping struct {
	*importing
	path string // of names, for reports
	node *yaml.Node
	read map[string]bool
}

var yamlLine = lazyregexp.New(`^yaml: (?:line ([0-9]+): )?(.*)`)

// readYAML reads a file of one document that is a mapping.
func (i *importing) readYAML() *mapping {
	empty := &mapping{importing: i, node: &yaml.Node{Kind: yaml.MappingNode}, read: map[string]bool{}}
	decoder := yaml.NewDecoder(strings.NewReader(string(i.source)))
	var document, further yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			i.fail(1, 1, "the file is empty")
			return empty
		}
		line, reason := 0, err.Error()
		if found := yamlLine.FindStringSubmatch(reason); found != nil {
			line, _ = strconv.Atoi(found[1]) // 0 without a line
			reason = found[2]
		}
		i.fail(line, 0, "%s", reason)
		return empty
	}
	if err := decoder.Decode(&further); !errors.Is(err, io.EOF) {
		i.fail(max(further.Line, 1), 0, "unsupported second document")
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		i.fail(max(document.Line, 1), max(document.Column, 1), "not a mapping")
		return empty
	}
	return &mapping{importing: i, node: document.Content[0], read: map[string]bool{}}
}

// member returns the value of a key, or nil. It follows an alias, but not an alias of an
// alias.
func (m *mapping) member(name string) *yaml.Node {
	m.read[name] = true
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

// text returns a scalar, empty and without a node if it is absent or has no value.
func (m *mapping) text(name string) (string, *yaml.Node) {
	value := m.member(name)
	switch {
	case value == nil || value.Tag == "!!null":
		return "", nil
	case value.Kind != yaml.ScalarNode:
		m.fail(value.Line, value.Column, "%s must be a string", m.called(name))
		return "", nil
	case len(value.Value) > 4096 || strings.ContainsAny(value.Value, "\x00\n\r"):
		m.fail(value.Line, value.Column, "%s must be a string on one line", m.called(name))
	}
	return value.Value, value
}

// mapping returns a mapping, an empty one if it is absent.
func (m *mapping) mapping(name string) *mapping {
	value := m.member(name)
	switch {
	case value == nil || value.Tag == "!!null":
		value = &yaml.Node{Kind: yaml.MappingNode, Line: m.node.Line, Column: m.node.Column}
	case value.Kind != yaml.MappingNode:
		m.fail(value.Line, value.Column, "%s must be a mapping", m.called(name))
	}
	return &mapping{importing: m.importing, path: m.called(name), node: value, read: map[string]bool{}}
}

// keys returns the keys in order.
func (m *mapping) keys() []*yaml.Node {
	var keys []*yaml.Node
	for at := 0; at+1 < len(m.node.Content); at += 2 {
		keys = append(keys, m.node.Content[at])
	}
	return keys
}

// maxRemarks bounds the remarks about members that mean nothing here.
const maxRemarks = 200

// remarkUnread adds a remark for each member that was not read, with why if that is known.
func (m *mapping) remarkUnread(why map[string]string) {
	keys := slices.DeleteFunc(m.keys(), func(key *yaml.Node) bool { return m.read[key.Value] || key.Value == "<<" })
	for _, key := range keys[:min(len(keys), maxRemarks)] {
		m.remark(Lost, key.Line, key.Column, m.called(key.Value), "%s", cmp.Or(why[key.Value], "no counterpart"))
	}
}
