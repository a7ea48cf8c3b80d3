package schemas

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// libxml2 is the second opinion on what the schemas mean: whether it and
// Validate agree on valid documents, on generated ones and on damaged ones.
//
// Where Validate differs on purpose no document is made: other namespaces and
// spellings of earlier generations, which it accepts; blanks in elements that
// must be empty; extensions that are unknown or in the wrong parent; blanks
// around numbers, which XSD allows and libxml2 2.9 refuses; and a post-launch-cmd behind
// extensions, which libxml2 2.9 takes against the schema.
func TestVerdictsAgreeWithLibxml2(t *testing.T) {
	needXmllint(t)
	random := rand.New(rand.NewPCG(1, 2))
	stored := storedDocuments(t)
	documents := append(slices.Clone(stored), generatedDocuments(t, random, 400)...)
	comparison := newComparison(t)
	for _, document := range documents {
		comparison.add(document.encoded())
	}
	comparison.run()
	require.Zero(t, comparison.invalid, "undamaged documents are valid")

	names := vocabulary(documents)
	done := map[damage]int{}
	for i := range 8000 {
		document := documents[random.IntN(len(documents))]
		if i%2 == 0 { // each definition that sites use as often as the next
			document = stored[i/2%len(stored)]
		}
		damaged := document.clone()
		for range 1 + random.IntN(2) {
			done[names.damage(damaged, random)]++
		}
		if !damaged.launchesLate() {
			comparison.add(damaged.encoded())
		}
	}
	comparison.run()
	for kind := range damages {
		require.Greater(t, done[kind], 300, "damage of kind %d", kind)
	}
	t.Logf("%d documents, of which %d are invalid", comparison.count, comparison.invalid)
	require.Greater(t, comparison.invalid, 2000)
	require.Greater(t, comparison.count-comparison.invalid, 1000)
}

// launchesLate reports whether a post-launch-cmd stands behind an extension.
func (n *node) launchesLate() bool {
	extended := false
	for _, child := range n.children {
		extended = extended || strings.HasPrefix(child.symbol, "x:")
		if extended && child.symbol == "post-launch-cmd" || child.launchesLate() {
			return true
		}
	}
	return false
}

// needXmllint skips a test where it is not asked for a second opinion.
func needXmllint(t *testing.T) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("compares with xmllint only where RMCTL_CLUSTERS=1")
	}
	_, err := exec.LookPath("xmllint")
	require.NoError(t, err, "install libxml2-utils")
}

// xmllint returns what libxml2 says of documents.
func xmllint(t testing.TB, arguments ...string) string {
	output, err := exec.Command("xmllint", append([]string{"--noout", "--nonet"}, arguments...)...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return string(output)
}

// A comparison collects documents and asks xmllint for many at once.
type comparison struct {
	t              *testing.T
	folder         string
	pending        []string
	ours           map[string]string // path → violations, empty if valid
	count, invalid int
}

func newComparison(t *testing.T) *comparison {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rm.xsd"), []byte(rmText), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ext.xsd"), []byte(extensionsText), 0o600))
	return &comparison{t: t, folder: folder, ours: map[string]string{}}
}

func (c *comparison) add(source []byte) {
	document, err := xmltree.Read("", source)
	require.NoError(c.t, err, "%s", source)
	path := filepath.Join(c.folder, fmt.Sprintf("%d.xml", c.count))
	require.NoError(c.t, os.WriteFile(path, source, 0o600))
	c.ours[path] = listing(Validate(document.Root))
	c.pending = append(c.pending, path)
	if c.count++; len(c.pending) == 500 {
		c.run()
	}
}

func (c *comparison) run() {
	output := xmllint(c.t, append([]string{"--schema", filepath.Join(c.folder, "ext.xsd")}, c.pending...)...)
	verdicts := map[string]bool{}
	reasons := map[string][]string{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if path, ok := strings.CutSuffix(line, " fails to validate"); ok {
			verdicts[path] = false
		} else if path, ok := strings.CutSuffix(line, " validates"); ok {
			verdicts[path] = true
		} else if path, _, ok := strings.Cut(line, ".xml:"); ok {
			reasons[path+".xml"] = append(reasons[path+".xml"], line)
		}
	}
	for _, path := range c.pending {
		valid, judged := verdicts[path]
		require.True(c.t, judged, "xmllint said nothing of %s: %s", path, output)
		if !valid {
			c.invalid++
		}
		if valid != (c.ours[path] == "") {
			document, err := os.ReadFile(path)
			require.NoError(c.t, err)
			require.Failf(c.t, "the verdicts differ", "Validate:\n%s\nxmllint:\n%s\n%s",
				c.ours[path], strings.Join(reasons[path], "\n"), document)
		}
		require.NoError(c.t, os.Remove(path))
	}
	c.pending = nil
}

// A node is an element that tests can change and write.
type node struct {
	symbol     string
	attributes []nodeAttribute
	text       string
	children   []*node
}

type nodeAttribute struct{ name, value string }

func (n *node) clone() *node {
	copied := *n
	copied.attributes = slices.Clone(n.attributes)
	copied.children = make([]*node, len(n.children))
	for i, child := range n.children {
		copied.children[i] = child.clone()
	}
	return &copied
}

func (n *node) encoded() []byte {
	var b bytes.Buffer
	n.write(&b, fmt.Sprintf(` xmlns="%s" xmlns:x="%s"`, xmltree.CoreNamespace, xmltree.ExtensionNamespace))
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer, declarations string) {
	b.WriteString("<" + n.symbol + declarations)
	for _, attribute := range n.attributes {
		b.WriteString("\n " + attribute.name + `="`)
		_ = xml.EscapeText(b, []byte(attribute.value)) // a bytes.Buffer does not fail
		b.WriteString(`"`)
	}
	b.WriteString(">")
	_ = xml.EscapeText(b, []byte(n.text))
	for _, child := range n.children {
		child.write(b, "")
	}
	b.WriteString("</" + n.symbol + ">")
}

func (n *node) hasExtensions() bool {
	return strings.HasPrefix(n.symbol, "x:") || slices.ContainsFunc(n.children, (*node).hasExtensions)
}

// storedDocuments returns the shipped and the field's definitions in the
// present namespace and spelling.
func storedDocuments(t *testing.T) []*node {
	var documents []*node
	for _, path := range append(shippedDefinitions(t), fieldDefinitions(t)...) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		document, err := xmltree.Read("", source)
		require.NoError(t, err)
		documents = append(documents, nodeOf(document.Root))
	}
	return documents
}

func nodeOf(e *xmltree.Element) *node {
	n := &node{symbol: symbolIn(e.Space, e.Name)}
	if strings.Trim(e.Text, blanks) != "" {
		n.text = e.Text
	}
	for _, attribute := range e.Attributes {
		legacy := e.Name == "target" && attribute.Name == "type"
		if !legacy && (attribute.Space == "" || attribute.Space == xmltree.ExtensionNamespace) {
			n.attributes = append(n.attributes, nodeAttribute{symbolIn(attribute.Space, attribute.Name), attribute.Value})
		}
	}
	for _, child := range e.Children {
		if _, relevant := symbolOf(child); relevant {
			n.children = append(n.children, nodeOf(child))
		}
	}
	return n
}
