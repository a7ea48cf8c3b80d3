package xmltree

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// encoding/xml must give the same results as Read, except for names of the fifth edition of XML and white
// space in attribute values.

func TestReadEqualsTheStandardDecoder(t *testing.T) {
	shipped, err := filepath.Glob("../../rms/*.xml")
	require.NoError(t, err)
	fromTheField, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), "../../../shared"), "definitions", "*.xml"))
	require.NoError(t, err)
	for _, path := range append(shipped, fromTheField...) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Truef(t, agreesWithDecoder(t, source), "both read %s", path)
	}
	random := rand.New(rand.NewPCG(3, 4))
	sources := seedDocuments(t)
	agreed := 0
	for range 6000 {
		if agreesWithDecoder(t, damageBytes(sources[random.IntN(len(sources))], random)) {
			agreed++
		}
	}
	require.Greater(t, agreed, 600)
}

func FuzzReadAgainstTheStandardDecoder(f *testing.F) {
	for _, source := range seedDocuments(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) { agreesWithDecoder(t, source) })
}

// agreesWithDecoder compares the results of Read and encoding/xml for a document. It reports whether both
// accept it.
func agreesWithDecoder(t *testing.T, source []byte) bool {
	t.Helper()
	document, err := Read("", source)
	if err != nil {
		return false
	}
	expected, err := decode([]byte(document.Text))
	if err != nil {
		require.False(t, isASCII(string(source)), "only Read takes %q: %v", source, err)
		return false
	}
	requireSameElement(t, expected, document.Root, source)
	return true
}

// decode builds the tree of a document, without positions.
func decode(source []byte) (*Element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(source))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	document := &Element{}
	innermost := document
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return document.Children[0], nil
		} else if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			child := &Element{Space: token.Name.Space, Name: token.Name.Local, Parent: innermost}
			for _, attribute := range token.Attr {
				if attribute.Name.Space != "xmlns" && attribute.Name != (xml.Name{Local: "xmlns"}) {
					child.Attributes = append(child.Attributes, Attribute{
						Space: attribute.Name.Space, Name: attribute.Name.Local, Value: attribute.Value})
				}
			}
			innermost.Children = append(innermost.Children, child)
			innermost = child
		case xml.EndElement:
			innermost = innermost.Parent
		case xml.CharData:
			innermost.Text += string(token)
		}
	}
}

func requireSameElement(t *testing.T, expected, found *Element, source []byte) {
	t.Helper()
	require.Equal(t, expected.Name, found.Name, "%q", source)
	require.Equal(t, namespace(expected.Space), found.Space, "%q", source)
	require.Equal(t, expected.Text, found.Text, "%q", source)
	require.Len(t, found.Attributes, len(expected.Attributes), "%q", source)
	for i, attribute := range found.Attributes {
		require.Equal(t, expected.Attributes[i].Name, attribute.Name, "%q", source)
		require.Equal(t, namespace(expected.Attributes[i].Space), attribute.Space, "%q", source)
		require.Equal(t, blanksAsSpaces(expected.Attributes[i].Value), blanksAsSpaces(attribute.Value), "%q", source)
	}
	require.Len(t, found.Children, len(expected.Children), "%q", source)
	for i, child := range found.Children {
		require.Same(t, found, child.Parent)
		requireSameElement(t, expected.Children[i], child, source)
	}
}

func blanksAsSpaces(text string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(text)
}

func namespace(written string) string { return strings.Trim(blanksAsSpaces(written), " ") }
