package document

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ParseTOML parses a document in TOML.
func ParseTOML(document []byte) (*Table, error) {
	// The decoder checks the document, including duplicate keys, but does not report places of
	// values.
	var ignored map[string]any
	if err := toml.Unmarshal(document, &ignored); err != nil {
		return nil, SyntaxError(err)
	}
	r := &tomlReader{root: newTable()}
	r.parser.Reset(document)
	current := r.root
	for r.parser.NextExpression() {
		switch node := r.parser.Expression(); node.Kind {
		case unstable.Table, unstable.ArrayTable:
			current = r.open(node)
		case unstable.KeyValue:
			r.set(current, node, 0)
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, SyntaxError(err)
	}
	if len(r.root.problems) > 0 {
		return nil, r.root.problems[0]
	}
	return r.root, nil
}

// SyntaxError returns an error of decoding TOML as an *[Error], with its place.
func SyntaxError(err error) error {
	decode, hasPlace := errors.AsType[*toml.DecodeError](err)
	if !hasPlace {
		return &Error{Reason: err.Error()}
	}
	line, column := decode.Position()
	return &Error{Place{line, column}, strings.TrimPrefix(decode.Error(), "toml: ")}
}

// A tomlReader turns the expressions of a document into tables.
type tomlReader struct {
	parser unstable.Parser
	root   *Table
}

func (r *tomlReader) placeOf(node *unstable.Node) Place {
	start := r.parser.Shape(node.Raw).Start
	return Place{start.Line, start.Column}
}

// open returns the table for a header.
func (r *tomlReader) open(node *unstable.Node) *Table {
	current, keys := r.root, keysOf(node)
	for i, key := range keys {
		at := r.placeOf(key)
		if isLast := i == len(keys)-1; isLast && node.Kind == unstable.ArrayTable {
			return r.add(current, string(key.Data), at)
		}
		current = r.descend(current, string(key.Data), at, i)
	}
	return current
}

func keysOf(node *unstable.Node) []*unstable.Node {
	var keys []*unstable.Node
	for key := node.Key(); key.Next(); {
		keys = append(keys, key.Node())
	}
	return keys
}

// add adds a table to a list of tables.
func (r *tomlReader) add(t *Table, key string, at Place) *Table {
	found, has := t.entries[key]
	if !has {
		found = entry{at, &value{kind: kindTables, place: at}}
		t.put(key, found)
	}
	added := newTable()
	found.value.items = append(found.value.items, &value{kind: kindTable, table: added, place: at})
	return added
}

// descend returns a table in another one, or the last of a list of tables. It adds the
// table if it is missing.
func (r *tomlReader) descend(t *Table, key string, at Place, depth int) *Table {
	found, has := t.entries[key]
	switch {
	case !has:
		found = entry{at, &value{kind: kindTable, table: newTable(), place: at}}
		t.put(key, found)
	case found.value.kind == kindTables:
		return found.value.items[len(found.value.items)-1].table
	}
	if found.value.kind != kindTable || depth >= maxDepth {
		r.root.refuse(at, "nested more than %d levels deep", maxDepth)
		return newTable()
	}
	return found.value.table
}

// set adds a key with its value to a table. The place of a dotted key is that of its first
// part.
func (r *tomlReader) set(t *Table, node *unstable.Node, depth int) {
	keys := keysOf(node)
	first, last := r.placeOf(keys[0]), len(keys)-1
	for i, key := range keys[:last] {
		t = r.descend(t, string(key.Data), first, depth+i)
	}
	t.put(string(keys[last].Data), entry{first, r.value(node.Value(), first, depth+last)})
}

// value converts a value. Arrays, which have no place in the parser, get that of their key.
func (r *tomlReader) value(node *unstable.Node, at Place, depth int) *value {
	if node.Raw.Length > 0 {
		at = r.placeOf(node)
	}
	v := &value{text: string(node.Data), place: at}
	if depth > maxDepth {
		r.root.refuse(at, "nested more than %d levels deep", maxDepth)
		return v
	}
	switch node.Kind {
	case unstable.String:
		v.kind = kindText
	case unstable.Bool:
		v.kind = kindBoolean
	case unstable.Integer:
		v.kind = kindInteger
		if number, err := strconv.ParseInt(strings.ReplaceAll(v.text, "_", ""), 0, 64); err == nil {
			v.text = strconv.FormatInt(number, 10)
		}
	case unstable.Float:
		v.kind = kindFraction
	case unstable.Array:
		v.kind, v.text = kindList, ""
		for items := node.Children(); items.Next(); {
			v.items = append(v.items, r.value(items.Node(), at, depth+1))
		}
	case unstable.InlineTable:
		v.kind, v.text, v.table = kindTable, "", newTable()
		for members := node.Children(); members.Next(); {
			r.set(v.table, members.Node(), depth+1)
		}
	default:
		v.kind = kindMoment
	}
	return v
}

// EncodeTOML returns settings as a document, in their order: tables have to come last. It
// leaves empty settings out. A text that is not UTF-8, which TOML cannot contain, is an
// error.
func EncodeTOML(settings []Setting) ([]byte, error) { return EncodeTOMLTable(nil, settings) }

// EncodeTOMLTable is [EncodeTOML] for the table at a path of a document, with its header.
func EncodeTOMLTable(path []string, settings []Setting) ([]byte, error) {
	var document bytes.Buffer
	if len(path) > 0 {
		header, err := headerOf(path)
		if err != nil {
			return nil, err
		}
		document.WriteString(header)
	}
	for _, setting := range settings {
		if setting.isEmpty() {
			continue
		}
		if err := checkUTF8(setting.Key, setting.Value); err != nil {
			return nil, err
		}
		if setting.isTable() && document.Len() > 0 {
			document.WriteByte('\n')
		}
		lines, err := encodeSetting(path, setting)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", setting.Key, err)
		}
		document.Write(lines)
	}
	return document.Bytes(), nil
}

func encodeSetting(path []string, setting Setting) ([]byte, error) {
	if len(path) == 0 || !setting.isTable() {
		return toml.Marshal(map[string]any{setting.Key: setting.Value})
	}
	header, err := headerOf(append(slices.Clone(path), setting.Key))
	if err != nil {
		return nil, err
	}
	lines, err := toml.Marshal(setting.Value)
	return append([]byte(header), lines...), err
}

// headerOf returns the header of a table.
func headerOf(path []string) (string, error) {
	keys := make([]string, len(path))
	for i, key := range path {
		if err := checkUTF8("key", key); err != nil {
			return "", err
		}
		quoted, err := toml.Marshal(map[string]bool{key: true})
		if err != nil {
			return "", err
		}
		keys[i] = strings.TrimSuffix(string(quoted), " = true\n")
	}
	return "[" + strings.Join(keys, ".") + "]\n", nil
}

// checkUTF8 refuses a value with a text that is not UTF-8; where names the value.
func checkUTF8(where string, value any) error {
	switch value := value.(type) {
	case string:
		if !utf8.ValidString(value) {
			return fmt.Errorf("%s: %.200q is not UTF-8", where, value)
		}
	case []string:
		for _, item := range value {
			if err := checkUTF8(where, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if err := checkUTF8(where, key); err != nil {
				return err
			}
			if err := checkUTF8(fmt.Sprintf("%s %q", where, key), value[key]); err != nil {
				return err
			}
		}
	}
	return nil
}
