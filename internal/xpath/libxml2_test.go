package xpath

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what libxml2 makes of the expressions")

// goldenFile has expressions, each followed by a tab and its values for the records.
const goldenFile = "testdata/libxml2.txt"

// comparedRecords are the records for the comparison.
func comparedRecords() []*Node {
	nested := record("a", "", "b", "7", "row", "", "a", "3", "row", "", "row", "", "c", "x y")
	for i, row := range nested.Children {
		if row.Name != "row" {
			continue
		}
		row.Attributes = []Attribute{{"name", "n" + strconv.Itoa(i)}, {"kind", "k"}}
		row.Add("a", strconv.Itoa(i), 0)
		row.Add("b", "3", 0)
		row.Add("row", "", 0).Add("a", "deep "+strconv.Itoa(i), 0)
		if i > 2 {
			row.Add("a", "3", 0)
			row.Add("c", "", 0)
		}
	}
	return []*Node{
		record(),
		record("a", "5"),
		record("a", ""),
		record("a", "3", "b", "x", "a", "5", "c", "3", "b", "5"),
		record("a", "abc:def", "b", " two  words ", "c", "-1.5", "d", "1e3"),
		record("a", "x", "b", "x", "c", "é€x", "a", "0", "d", ".5"),
		nested,
	}
}

// mostTexts bounds the compared texts of nodes.
const mostTexts = 6

// ourValue returns the value of an expression for a record: for nodes their number and the texts of the
// first ones.
func ourValue(t *testing.T, expression string, of *Node) string {
	t.Helper()
	e := compiled(t, expression)
	if e.compiled.kind() != nodesKind {
		value, err := e.Text(of, ofDefinition)
		require.NoError(t, err, expression)
		return shortened(e, value)
	}
	all := texts(e.place(of, ofDefinition), e.compiled)
	for i := range all {
		all[i] = cut(all[i])
	}
	return valueOfNodes(len(all), all[:min(len(all), mostTexts)])
}

func valueOfNodes(count int, texts []string) string {
	return fmt.Sprintf("%d nodes: %s", count, strings.Join(texts, "|"))
}

// shortened returns a value as xmllint writes it: numbers with fewer digits, texts cut.
func shortened(of *Expression, value string) string {
	if number, err := strconv.ParseFloat(value, 64); err == nil && of.compiled.kind() == numberKind {
		return strconv.FormatFloat(number, 'g', 12, 64)
	}
	return cut(value)
}

func cut(text string) string {
	if len(text) < 40 {
		return text
	}
	return text[:40] + "..."
}

// escapedByte is how xmllint writes a byte that is not ASCII.
var escapedByte = regexp.MustCompile("#[0-9A-F]{2}")

// libxml2Values returns the values of expressions in libxml2.
func libxml2Values(t *testing.T, expressions []string, of *Node) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record.xml")
	require.NoError(t, os.WriteFile(path, []byte(asXML(of)), 0o600))
	var script strings.Builder
	script.WriteString("cd /record\n")
	for _, text := range expressions {
		if compiled(t, text).compiled.kind() != nodesKind {
			fmt.Fprintf(&script, "xpath string(%s)\n", text)
			continue
		}
		fmt.Fprintf(&script, "xpath string(count(%s))\n", text)
		for i := range mostTexts {
			fmt.Fprintf(&script, "xpath string((%s)[position()=%d])\n", text, i+1) // libxml2 takes [1] for a shortcut, with defects
		}
	}
	xmllint := exec.Command("xmllint", "--nonet", "--shell", path)
	xmllint.Stdin = strings.NewReader(script.String())
	output, err := xmllint.CombinedOutput()
	require.NoError(t, err)
	answers := strings.Split(string(output), "record > ")[1:]
	next := func(text string) string {
		answer, isValue := strings.CutPrefix(answers[0], "Object is a string : ")
		require.True(t, isValue, "%s: %s", text, answers[0])
		answers = answers[1:]
		return escapedByte.ReplaceAllStringFunc(strings.TrimSuffix(answer, "\n"), func(escaped string) string {
			value, err := strconv.ParseUint(escaped[1:], 16, 8)
			require.NoError(t, err)
			return string([]byte{byte(value)})
		})
	}
	values := make([]string, 0, len(expressions))
	for _, text := range expressions {
		e := compiled(t, text)
		if e.compiled.kind() != nodesKind {
			value := next(text)
			if e.compiled.kind() == numberKind {
				value = shortened(e, value)
			}
			values = append(values, value)
			continue
		}
		count, err := strconv.Atoi(next(text))
		require.NoError(t, err)
		var texts []string
		for range mostTexts {
			texts = append(texts, next(text))
		}
		values = append(values, valueOfNodes(count, texts[:min(count, mostTexts)]))
	}
	return values
}

// asXML writes a record as XML. Each element has the attributes of the definition.
func asXML(node *Node) string {
	var written strings.Builder
	written.WriteString("<" + node.Name)
	for _, own := range node.Attributes {
		fmt.Fprintf(&written, " %s=%q", own.Name, own.Value)
	}
	for _, name := range []string{"job.owner", "job-name", "empty"} {
		value, _ := ofDefinition(name)
		fmt.Fprintf(&written, " %s=%q", name, value)
	}
	written.WriteString(">" + node.Text)
	for _, child := range node.Children {
		written.WriteString(asXML(child))
	}
	return written.String() + "</" + node.Name + ">"
}

func needXmllint(t *testing.T) {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("compares with xmllint only where RMCTL_CLUSTERS=1")
	}
	_, err := exec.LookPath("xmllint")
	require.NoError(t, err, "install libxml2-utils")
}

// The values in libxml2 are stored in a file, so that this test needs no xmllint.
func TestExpressionsEqualLibxml2(t *testing.T) {
	golden, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	expression, at := "", 0
	for line := range strings.Lines(string(golden)) {
		value, isValue := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\t")
		if !isValue {
			expression, at = value, 0
			continue
		}
		require.Equal(t, value, ourValue(t, expression, comparedRecords()[at]), "%s of record %d", expression, at)
		at++
	}
	require.Equal(t, len(comparedRecords()), at)
}

func TestGoldenFileEqualsLibxml2(t *testing.T) {
	needXmllint(t)
	golden, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	var expressions []string
	for line := range strings.Lines(string(golden)) {
		if !strings.HasPrefix(line, "\t") {
			expressions = append(expressions, strings.TrimSuffix(line, "\n"))
		}
	}
	var values [][]string
	for _, each := range comparedRecords() {
		values = append(values, libxml2Values(t, expressions, each))
	}
	var written strings.Builder
	for i, text := range expressions {
		written.WriteString(text + "\n")
		for _, ofRecord := range values {
			written.WriteString("\t" + ofRecord[i] + "\n")
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenFile, []byte(written.String()), 0o600))
		return
	}
	require.Equal(t, written.String(), string(golden))
}

func TestRandomExpressionsEqualLibxml2(t *testing.T) {
	needXmllint(t)
	random := randomExpressions{rand.New(rand.NewPCG(3, 9))}
	var expressions []string
	for range 4000 {
		expressions = append(expressions, random.value(3))
	}
	for at, each := range comparedRecords() {
		for i, want := range libxml2Values(t, expressions, each) {
			require.Equal(t, want, ourValue(t, expressions[i], each), "%s of record %d", expressions[i], at)
		}
	}
}

// randomExpressions writes expressions. The record is an element for libxml2 and the root
// for rmctl, so none goes above it or asks for its name.
type randomExpressions struct{ *rand.Rand }

func (r randomExpressions) one(of ...string) string { return of[r.IntN(len(of))] }

func (r randomExpressions) value(depth int) string {
	switch r.IntN(4) {
	case 0:
		return r.text(depth)
	case 1:
		return r.number(depth)
	case 2:
		return r.truth(depth)
	}
	return r.nodes(depth)
}

func (r randomExpressions) text(depth int) string {
	if depth--; depth < 0 {
		return r.one("''", "'3'", "'x'", "':'", "' 5'", "'k'", "string(a)", "string(@job.owner)", "name(*)", "string()")
	}
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("concat(%s,%s,%s)", r.value(depth), r.value(depth), r.value(depth))
	case 1:
		return fmt.Sprintf("%s(%s,%s)", r.one("substring-before", "substring-after"), r.value(depth), r.value(depth))
	case 2:
		return fmt.Sprintf("substring(%s,%s,%s)", r.value(depth), r.value(depth), r.value(depth))
	case 3:
		return fmt.Sprintf("substring(%s,%s)", r.value(depth), r.value(depth))
	case 4:
		return fmt.Sprintf("translate(%s,%s,%s)", r.value(depth), r.one("'abc'", "'x:'", "' '", "'xx'"), r.text(depth)) // libxml2 takes - for 0
	case 5:
		return fmt.Sprintf("%s(%s)", r.one("name", "local-name"), r.nodes(depth))
	}
	return fmt.Sprintf("%s(%s)", r.one("string", "normalize-space"), r.value(depth))
}

func (r randomExpressions) number(depth int) string {
	if depth--; depth < 0 {
		return r.one("0", "1", "2", "3", "2.5", "-1", ".5", "count(*)", "number(a)", "string-length(a)")
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("count(%s)", r.nodes(depth))
	case 1:
		return fmt.Sprintf("sum(%s)", r.nodes(depth))
	case 2:
		return fmt.Sprintf("(%s %s %s)", r.value(depth), r.one("+", "-", "*"), r.value(depth))
	case 3:
		return fmt.Sprintf("(%s %s 2)", r.value(depth), r.one("div", "mod"))
	case 4:
		return "-" + r.number(depth)
	}
	return fmt.Sprintf("%s(%s)", r.one("number", "floor", "ceiling", "round", "string-length"), r.value(depth))
}

func (r randomExpressions) truth(depth int) string {
	if depth--; depth < 0 {
		return r.one("true()", "false()", "a=3", "b='x'", "not(c)", "a='5'", ".='3'", "@name='n3'")
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", r.value(depth), r.one("and", "or"), r.value(depth))
	case 1:
		return fmt.Sprintf("%s(%s,%s)", r.one("starts-with", "contains"), r.value(depth), r.value(depth))
	case 2:
		return fmt.Sprintf("%s(%s)", r.one("not", "boolean"), r.value(depth))
	}
	return fmt.Sprintf("(%s %s %s)", r.value(depth), r.one("=", "!=", "<", "<=", ">", ">="), r.value(depth))
}

func (r randomExpressions) nodes(depth int) string {
	if depth--; depth < 0 {
		return r.one("a", "b", "c", "none", "row", "row/a", "//a", ".//b", "*", "@name", "@job.owner", "row/@kind", "row/..")
	}
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s)[%s]", r.nodes(depth), r.predicate(depth))
	case 1:
		return fmt.Sprintf("(%s | %s)", r.nodes(depth), r.nodes(depth))
	case 2:
		return fmt.Sprintf("%s/%s[%s]", r.one("row", "*", "row/row", "(a|row)"), r.step(), r.predicate(depth))
	case 3:
		return fmt.Sprintf("%s[%s][%s]", r.one("a", "row", "*", "//a", ".//row", "row/a"), r.predicate(depth), r.predicate(depth))
	}
	return fmt.Sprintf("%s[%s]", r.one("a", "row", "b", "*", "row/*"), r.predicate(depth))
}

// predicate writes a condition, in which there is a position.
func (r randomExpressions) predicate(depth int) string {
	if r.IntN(3) > 0 {
		return r.value(depth)
	}
	return r.one("1", "2", "last()", "last()-1", "position()=last()", "position()>1", "position() mod 2", "last()=1")
}

func (r randomExpressions) step() string {
	return r.one("a", "*", "@name", "row/a", "parent::node()", "following-sibling::*", "preceding-sibling::*", "preceding-sibling::a",
		"following::*", "preceding::*", "preceding::a", "ancestor::row", "ancestor-or-self::row", "descendant::a", "descendant-or-self::*", "self::row",
		"@kind/preceding::*", "@kind/parent::node()", "@name/self::node()", "@kind/ancestor::row")
}
