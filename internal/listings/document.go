package listings

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/rmctl/rmctl/internal/tui"
)

// writeYAML prints a document as an item of a list, with the names and order of its JSON.
func writeYAML(w io.Writer, document any) error {
	encoded, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("printing YAML: %w", err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(encoded, &node); err != nil { // JSON is YAML in another style
		return fmt.Errorf("printing YAML: %w", err)
	}
	usualStyle(&node)
	text, err := yaml.Marshal([]*yaml.Node{node.Content[0]})
	if err == nil {
		_, err = w.Write(printableYAML(text))
	}
	if err != nil {
		return fmt.Errorf("printing YAML: %w", err)
	}
	return nil
}

// usualStyle puts each member on a line. Texts stay in quotes: readers of older versions of YAML
// take some of them, such as yes, for other types.
func usualStyle(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		return
	}
	node.Style = 0
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			child.Style = 0
		}
		usualStyle(child)
	}
}

// printableYAML escapes characters that YAML allows in quotes but a terminal interprets.
func printableYAML(text []byte) []byte {
	shown := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			shown = utf8.AppendRune(shown, r)
		case r > 0xffff:
			shown = fmt.Appendf(shown, `\U%08x`, r)
		default:
			shown = fmt.Appendf(shown, `\u%04x`, r)
		}
	}
	return shown
}

// fieldsOf returns the names of the members of a type in JSON.
func fieldsOf(document reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(document) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// A template is texts with a field after each but the last.
type template struct {
	texts  []string
	fields []string
}

// template reads a template. Its fields are named in any case.
func (k Kind[T]) template(text string) (*template, error) {
	if text == "" {
		return nil, nil
	}
	t := &template{}
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)
	for {
		before, rest, hasField := strings.Cut(text, "{{")
		t.texts = append(t.texts, before)
		if !hasField {
			return t, nil
		}
		inside, after, isClosed := strings.Cut(rest, "}}")
		name, isField := strings.CutPrefix(strings.TrimSpace(inside), ".")
		if !isClosed || !isField {
			return nil, wrong("--format: {{%s: use fields such as {{.State}}", inside)
		}
		field, isKnown := k.field(name)
		if !isKnown {
			return nil, wrong("--format: no field %q; the fields are %s", name, strings.Join(k.fields(), ", "))
		}
		t.fields = append(t.fields, field)
		text = after
	}
}

func (k Kind[T]) fields() []string {
	fields := k.Fields[:len(k.Fields):len(k.Fields)]
	for name := range k.Extra {
		fields = append(fields, name)
	}
	return fields
}

func (k Kind[T]) field(name string) (string, bool) {
	for _, field := range k.fields() {
		if strings.EqualFold(field, name) {
			return field, true
		}
	}
	return "", false
}

// filled returns the template with the fields of an item. Unknown fields are empty.
func (p *Printer[T]) filled(thing T) (string, error) {
	encoded, err := json.Marshal(p.kind.Document(thing, p.output.Seen))
	if err != nil {
		return "", fmt.Errorf("printing fields: %w", err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(encoded, &members); err != nil {
		return "", fmt.Errorf("printing fields: %w", err)
	}
	var line strings.Builder
	for i, text := range p.made.texts {
		line.WriteString(text)
		if i == len(p.made.fields) {
			break
		}
		field := p.made.fields[i]
		value := string(members[field])
		if extra := p.kind.Extra[field]; extra != nil {
			value = extra(thing)
		} else if quoted := ""; json.Unmarshal(members[field], &quoted) == nil {
			value = quoted
		}
		line.WriteString(tui.OneLine(value))
	}
	return line.String(), nil
}
