package schemas

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is sought is marked by § in each document: the position of the character
// that follows it in the text is that of the character that follows it in the source.
func TestPlacesInsideOfTextsAreThoseOfTheSource(t *testing.T) {
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
			wantLine, wantColumn := placeOf(document, len(before)+len("§"))
			root, _, err := Read([]byte(document))
			require.NoError(t, err)
			var line, column int
			if len(root.Attributes) > 0 {
				a := root.Attributes[0]
				line, column = root.ValuePlaces(a)(strings.Index(a.Value, "§") + len("§"))
			} else {
				line, column = root.TextPlaces()(strings.Index(root.Text, "§") + len("§"))
			}
			require.Equal(t, []int{wantLine, wantColumn}, []int{line, column})
		})
	}
}

func TestPlacesAreTheSameInAnyOrder(t *testing.T) {
	root, _, err := Read([]byte("<a b='x\r\n&lt;y&#xe9;\n\nz'>one\r\n&amp;<!-- \n --><![CDATA[\n<&é]]>\ntwo<b/>three</a>"))
	require.NoError(t, err)
	value := root.Attributes[0]
	for _, text := range []struct {
		places func() func(int) (int, int)
		length int
	}{
		{root.TextPlaces, len(root.Text)},
		{func() func(int) (int, int) { return root.ValuePlaces(value) }, len(value.Value)},
	} {
		places := text.places()
		var order []int
		for index := range text.length + 2 {
			order = append(order, index, index, text.length-index, 0)
		}
		for _, index := range order {
			line, column := places(index)
			wantLine, wantColumn := text.places()(index)
			require.Equal(t, []int{wantLine, wantColumn}, []int{line, column}, "byte %d", index)
		}
	}
}

func TestAPlaceBeyondATextIsItsEnd(t *testing.T) {
	root, _, err := Read([]byte("<a b='x'>one<b/>two</a>"))
	require.NoError(t, err)
	line, column := root.TextPlaces()(100)
	require.Equal(t, []int{1, 13}, []int{line, column})
	_, column = root.ValuePlaces(root.Attributes[0])(0)
	require.Equal(t, 7, column)
}
