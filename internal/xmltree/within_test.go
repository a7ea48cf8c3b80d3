package xmltree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// § marks positions in each document: a character after it in the text has the position of that character
// in the source.
func TestPositionsInTextsAreSourcePositions(t *testing.T) {
	for name, document := range map[string]string{
		"plain":                "<a>one §two</a>",
		"after references":     "<a>&lt;&#xe9;&#x1f600;§x</a>",
		"a reference":          "<a>x§&amp;</a>",
		"after line breaks":    "<a>one\n\ttwo §three</a>",
		"after Windows breaks": "<a>one\r\ntwo §three</a>",
		"after a comment":      "<a>one<!-- & -->§two</a>",
		"in a section":         "<a><![CDATA[a & b &lt; §c]]></a>",
		"after a section":      "<a>x<![CDATA[a & b]]>y&lt;§c</a>",
		"second section":       "<a><![CDATA[a]]><![CDATA[&amp; §b]]></a>",
		"beyond ASCII":         "<a>déjà §vu</a>",
		"in a value":           "<a b='one §two'/>",
		"value, references":    "<a b='&quot;&#233;§x'/>",
		"value, line breaks":   "<a b='one\r\n\ttwo §x'/>",
		"value, a reference":   "<a b='§&lt;'/>",
	} {
		t.Run(name, func(t *testing.T) {
			before, _, _ := strings.Cut(document, "§")
			marked := Document{Text: document}
			wanted := marked.position(len(before) + len("§"))
			root := read(t, document)
			found := root.TextWithin(strings.Index(root.Text, "§") + len("§"))
			if len(root.Attributes) > 0 {
				found = root.ValueWithin("b", strings.Index(root.Value("b"), "§")+len("§"))
			}
			require.Equal(t, wanted, found)
		})
	}
}

func TestPositionsDoNotDependOnTheOrder(t *testing.T) {
	const source = "<a b='x\r\n&lt;y&#xe9;\n\nz'>one\r\n&amp;<!-- \n --><![CDATA[\n<&é]]>\ntwo<b/>three</a>"
	value := func(root *Element, index int) Position { return root.ValueWithin("b", index) }
	for _, place := range []func(root *Element, index int) Position{(*Element).TextWithin, value} {
		root := read(t, source)
		var order []int
		for index := range len(root.Text) + 2 {
			order = append(order, index, index, len(root.Text)-index, 0)
		}
		for _, index := range order {
			require.Equal(t, place(read(t, source), index), place(root, index), "byte %d", index)
		}
	}
}

func TestAPositionAfterATextIsItsEnd(t *testing.T) {
	root := read(t, "<a b='x'>one<b/>two</a>")
	require.Equal(t, Position{Line: 1, Column: 13}, root.TextWithin(100))
	require.Equal(t, Position{Line: 1, Column: 7}, root.ValueWithin("b", 0))
}
