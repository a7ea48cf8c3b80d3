package xmltree

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, source string) *Element {
	t.Helper()
	document, err := Read("", []byte(source))
	require.NoError(t, err)
	return document.Root
}

func lineAndColumn(at Position) []int { return []int{at.Line, at.Column} }

func TestElementsHavePositions(t *testing.T) {
	root := read(t, "<?xml version=\"1.0\"?>\n<!-- é -->\n<a>\n\t<b\n\t  x='1'\n\t/><c/>\r\n  <d>\r\n</d>\n</a>\n")
	require.Equal(t, []int{3, 1}, lineAndColumn(root.Position()))
	require.Equal(t, []string{"4:2 b", "6:4 c", "7:3 d"}, places(root.Children))
	require.Same(t, root, root.Children[0].Parent)
}

func TestColumnsCountBytes(t *testing.T) {
	root := read(t, "<a>é<b ü='é' y=''/></a>")
	require.Equal(t, "1:6 b", places(root.Children)[0])
	require.Equal(t, 17, root.Children[0].Attributes[1].Position().Column)
}

func TestByteOrderMarkIsNotCounted(t *testing.T) {
	root := read(t, "\ufeff<a/>")
	require.Equal(t, []int{1, 1}, lineAndColumn(root.Position()))
}

func TestAttributesHavePositions(t *testing.T) {
	root := read(t, "<a one=\"1\" two = '2'\n\tthree=\n\"3\"\n xmlns='urn:n' four='>/\"'/>")
	positions := []string{}
	for _, attribute := range root.Attributes {
		at, value := attribute.Position(), attribute.ValuePosition()
		positions = append(positions, fmt.Sprintf("%s=%s at %d:%d, %d:%d", attribute.Name, attribute.Value, at.Line, at.Column, value.Line, value.Column))
	}
	require.Equal(t, []string{
		"one=1 at 1:4, 1:9",
		"two=2 at 1:12, 1:19",
		"three=3 at 2:2, 3:2",
		"four=>/\" at 4:16, 4:22",
	}, positions)
}

func TestAttributeValuesAreNormalised(t *testing.T) {
	for written, value := range map[string]string{
		"x\n\ty":              "x  y",
		"x\r\ny\rz":           "x y z",
		"x&#10;y&#9;z&#13;":   "x\ny\tz\r",
		"\n&#10;\r\n&#xA;":    " \n \n",
		"  kept  ":            "  kept  ",
		"&lt;&amp;&gt;\t":     "<&> ",
		"\t&apos;&quot;'":     " '\"'",
		"(\\d+)\n\t(\\w+)":    "(\\d+)  (\\w+)",
		"${ptp_rm:a#value}\n": "${ptp_rm:a#value} ",
	} {
		root := read(t, `<a v="`+written+`"/>`)
		require.Equal(t, value, root.Attributes[0].Value, "%q", written)
	}
	require.Equal(t, " \"", read(t, "<a v='\n\"'/>").Attributes[0].Value)
}

func TestTextIsGatheredAroundCommentsAndChildren(t *testing.T) {
	root := read(t, "<a>\none<!-- no --> two<b/><![CDATA[ <three> ]]>&amp;&#52;<?pi no?></a>")
	require.Equal(t, "\none two <three> &4", root.Text)
	require.Equal(t, []int{1, 4}, lineAndColumn(root.TextWithin(0)))
	visible, ok := root.VisibleText()
	require.True(t, ok)
	require.Equal(t, []int{2, 1}, lineAndColumn(visible))
}

func TestTextOfCharacterDataSectionsBeginsInsideThem(t *testing.T) {
	root := read(t, "<a>\n<b> <![CDATA[x]]></b><c><![CDATA[\n]]></c></a>")
	require.Equal(t, []int{2, 4}, lineAndColumn(root.Children[0].TextWithin(0)))
	require.Equal(t, []int{2, 34}, lineAndColumn(root.Children[1].TextWithin(0)))
}

func TestLineBreaksOfOtherSystemsBecomeNewlines(t *testing.T) {
	require.Equal(t, "a\nb\nc\r", read(t, "<a>a\r\nb\rc&#13;</a>").Text)
}

func TestAppendingToAnElementDoesNotChangeItsNeighbour(t *testing.T) {
	root := read(t, "<a><b x='1'/><c y='2'><d/></c><e><f/></e></a>")
	b, c, e := root.Children[0], root.Children[1], root.Children[2]
	b.Attributes = append(b.Attributes, Attribute{Name: "added"})
	c.Children = append(c.Children, b)
	require.Equal(t, "y", c.Attributes[0].Name)
	require.Equal(t, "f", e.Children[0].Name)
}

func TestNamespacesAreResolved(t *testing.T) {
	root := read(t, `<p:a xmlns:p="urn:p" xmlns="urn:d" p:x="1" x="2" xml:lang="en"><b xmlns="" p:y=""><c/></b><d xmlns:p="urn:q"><p:e/></d></p:a>`)
	require.Equal(t, "urn:p", root.Space)
	require.Equal(t, []string{"urn:p", "", XMLNamespace},
		[]string{root.Attributes[0].Space, root.Attributes[1].Space, root.Attributes[2].Space})
	b, d := root.Children[0], root.Children[1]
	require.Empty(t, b.Space)
	require.Empty(t, b.Children[0].Space)
	require.Equal(t, "urn:p", b.Attributes[0].Space)
	require.Equal(t, "urn:d", d.Space)
	require.Equal(t, "urn:q", d.Children[0].Space)
}

func TestOtherEncodingsAreReadIfTheTextIsASCII(t *testing.T) {
	for _, encoding := range []string{"utf-8", "UTF-8", "US-ASCII", "ISO-8859-1", "windows-1252"} {
		require.Equal(t, "x", read(t, `<?xml version="1.0" encoding="`+encoding+`"?><a>x</a>`).Text)
	}
}

func TestInvalidDocumentsAreRefusedWithAPosition(t *testing.T) {
	const declared = `<?xml version="1.0" encoding="ISO-8859-1"?>`
	bomb := `<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>`
	for name, test := range map[string]struct{ source, expected string }{
		"empty":                     {"", "1:1 xml-syntax the file is empty"},
		"blank":                     {" \n", "1:1 xml-syntax the file is empty"},
		"comment alone":             {"<!-- a -->", "1:1 xml-syntax the file contains no element"},
		"entity bomb":               {bomb, "1:1 xml-doctype document type declarations are not allowed: they can define entities"},
		"external entity":           {"<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n<a/>", "2:1 xml-doctype document type declarations are not allowed: they can define entities"},
		"late document type":        {"<a>\n <!DOCTYPE b></a>", "2:2 xml-doctype document type declarations are not allowed: they can define entities"},
		"unknown entity":            {"<a>\n&nbsp;</a>", `2:1 xml-syntax unknown entity "&nbsp;"`},
		"bare ampersand":            {"<a b='x & y'/>", "1:9 xml-syntax the & begins no reference"},
		"undeclared prefix":         {"<a>\n <x:b/></a>", `2:2 xml-syntax the prefix of "x:b" is not declared`},
		"prefix out of scope":       {"<a><b xmlns:x='urn:x'/>\n<x:c/></a>", `2:1 xml-syntax the prefix of "x:c" is not declared`},
		"undeclared on attribute":   {"<a\n x:b=''/>", `2:2 xml-syntax the prefix of "x:b" is not declared`},
		"two colons":                {"<a:b:c/>", `1:1 xml-syntax "a:b:c" is not a name`},
		"colon at the end":          {"<a:/>", `1:1 xml-syntax "a:" is not a name`},
		"colon at the beginning":    {"<a :b=''/>", `1:4 xml-syntax ":b" is not a name`},
		"prefix without namespace":  {"<a xmlns:x=''/>", `1:4 xml-syntax the prefix "x" is declared without a namespace`},
		"declared xmlns":            {"<a xmlns:xmlns='urn:x'/>", `1:4 xml-syntax the prefix "xmlns" may not be declared`},
		"redefined xml":             {"<a xmlns:xml='urn:x'/>", `1:4 xml-syntax the prefix "xml" and the namespace http://www.w3.org/XML/1998/namespace belong together`},
		"attribute twice":           {"<a b='1'\n b='2'/>", `2:2 xml-syntax duplicate attribute "b" in one tag`},
		"attribute twice by prefix": {"<a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>", `1:36 xml-syntax duplicate attribute "b" in one tag`},
		"declaration twice":         {"<a xmlns='u' xmlns='v'/>", `1:14 xml-syntax duplicate attribute "xmlns" in one tag`},
		"attributes not separated":  {"<a b='1'c='2'/>", `1:9 xml-syntax missing white space before the attribute "c"`},
		"attribute without quotes":  {"<a b=1/>", `1:6 xml-syntax the value of the attribute "b" has no quotes`},
		"attribute without value":   {"<a\n b/>", `2:2 xml-syntax the attribute "b" has no value`},
		"no attribute":              {"<a\n b='1' ?/>", `2:8 xml-syntax expected an attribute or the end of the tag of "a"`},
		"slash in a tag":            {"<a / >", `1:4 xml-syntax expected an attribute or the end of the tag of "a"`},
		"cut before a value":        {"<a b=", `1:6 xml-syntax the value of the attribute "b" has no quotes`},
		"cut after a name":          {"\n<a b='1' ", `2:1 xml-syntax the tag of "a" does not end`},
		"name beyond XML":           {"<a×/>", `1:3 xml-syntax expected an attribute or the end of the tag of "a"`},
		"name beginning with mark":  {"<·a/>", `1:1 xml-syntax "·a" is not a name`},
		"blank before a name":       {"<a>\n 1 < 2</a>", "2:4 xml-syntax no name follows the <"},
		"end tag with attribute":    {"<a>\n</a b=''>", "2:1 xml-syntax the end tag is malformed"},
		"cut in an end tag":         {"<a>\n</a", "2:1 xml-syntax the end tag is malformed"},
		"less-than in a value":      {"<a b='<'/>", `1:7 xml-syntax unescaped < in the value of the attribute "b"`},
		"text before the root":      {"\n x<a/>", "2:2 xml-syntax text outside the root element"},
		"text after the root":       {"<a/>\n&#32;", "2:1 xml-syntax text outside the root element"},
		"section after the root":    {"<a/><![CDATA[]]>", "1:5 xml-syntax text outside the root element"},
		"two roots":                 {"<a/>\n<b/>", "2:1 xml-syntax second root element"},
		"crossed tags":              {"<a>\n<b>\n</a></b>", `3:1 xml-syntax "b", which begins on line 2, is closed by the end tag of "a"`},
		"crossed prefixes":          {"<p:a xmlns:p='u' xmlns:q='u'></q:a>", `1:30 xml-syntax "p:a", which begins on line 1, is closed by the end tag of "q:a"`},
		"closed too often":          {"<a/>\n</a>", `2:1 xml-syntax the end tag of "a" closes nothing`},
		"never closed":              {"<a>\n<b>\n", `2:1 xml-syntax "b" is never closed`},
		"cut in a tag":              {"<a>\n<b c='", `2:6 xml-syntax the value of the attribute "c" does not end`},
		"section end in text":       {"<a>]]></a>", `1:4 xml-syntax "]]>" is not allowed in text`},
		"cut in a section":          {"<a>\n<![CDATA[]]", "2:1 xml-syntax the CDATA section does not end"},
		"cut in a comment":          {"<a>\n<!-- -", "2:1 xml-syntax the comment does not end"},
		"cut in an instruction":     {"<a>\n<?b >", "2:1 xml-syntax the processing instruction does not end"},
		"other markup":              {"<a>\n<!ELEMENT a></a>", "2:1 xml-syntax expected a comment or a CDATA section"},
		"dashes in a comment":       {"<a><!-- -- --></a>", `1:9 xml-syntax "--" is not allowed in a comment`},
		"control character":         {"<a>\x01</a>", "1:4 xml-syntax the character U+0001 is not allowed in XML"},
		"null by reference":         {"<a>&#0;</a>", `1:4 xml-syntax the reference "&#0;" is not a character`},
		"reference without number":  {"<a>\n&#x;</a>", `2:1 xml-syntax the reference "&#x;" is not a character`},
		"reference beyond Unicode":  {"<a>&#99999999999999999999;</a>", `1:4 xml-syntax the reference "&#99999999999999999999;" is not a character`},
		"wrong digit":               {"<a>&#9a;</a>", `1:4 xml-syntax the reference "&#9a;" is not a character`},
		"reference cut by a tag":    {"<a>&lt<b/></a>", "1:4 xml-syntax the & begins no reference"},
		"surrogate by reference":    {"<a>x\n&#xD83D;&#xDE00;</a>", `2:1 xml-syntax the reference "&#xD83D;" is not a character`},
		"surrogate in a value":      {"<a b='&#55357;'/>", `1:7 xml-syntax the reference "&#55357;" is not a character`},
		"non-character":             {"<a>\n\ufffe</a>", "2:1 xml-syntax the character U+FFFE is not allowed in XML"},
		"instruction without blank": {"<a>\n<?b!c?></a>", `2:1 xml-syntax the processing instruction "b" is malformed`},
		"digit after a colon":       {"<x:1 xmlns:x='u'/>", `1:1 xml-syntax "x:1" is not a name`},
		"late declaration":          {"<a/>\n<?xml version='1.0'?>", "2:1 xml-syntax the XML declaration is allowed only at the beginning"},
		"malformed declaration":     {"<?xml version='1.0' encodin='UTF-8'?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"standalone":                {"<?xml version='1.0' standalone='on'?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"declaration in capitals":   {"<?XML version='1.0'?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"declaration without blank": {"<?xml version='1.0'encoding='UTF-8'?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"declaration not closed":    {"<?xml version='1.0?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"name of an encoding":       {"<?xml version='1.0' encoding='8'?><a/>", "1:1 xml-syntax the XML declaration is malformed"},
		"version":                   {"<?xml version='1.1'?><a/>", `1:16 xml-syntax the XML version "1.1" is not supported`},
		"not UTF-8":                 {"<a>\n  \xe9</a>", "2:3 xml-encoding the file is not valid UTF-8"},
		"declared as another":       {"\ufeff" + declared + "<a>é</a>", `1:31 xml-encoding the encoding "ISO-8859-1" is not supported, or not that of the file`},
		"unknown encoding":          {`<?xml version="1.0" encoding="EBCDIC"?><a/>`, `1:31 xml-encoding the encoding "EBCDIC" is not supported, or not that of the file`},
		"UTF-16 that is none":       {`<?xml version="1.0" encoding="UTF-16"?><a/>`, `1:31 xml-encoding the encoding "UTF-16" is not supported, or not that of the file`},
		"UTF-16 declared as UTF-8":  {utf16Text(binary.LittleEndian, `<?xml version="1.0" encoding="UTF-8"?><a/>`), `1:31 xml-encoding the encoding "UTF-8" is not supported, or not that of the file`},
		"half a character":          {utf16Text(binary.LittleEndian, "<a>\n") + "<", "2:1 xml-encoding the file is not valid UTF-16"},
		"half a surrogate pair":     {utf16Text(binary.LittleEndian, "<a>") + "\x3d\xd8", "1:4 xml-encoding the file is not valid UTF-16"},
		"UTF-32":                    {"\xff\xfe\x00\x00<\x00\x00\x00", "1:1 xml-encoding the file is encoded as UTF-32"},
		"no Windows character":      {`<?xml version="1.0" encoding="windows-1252"?>` + "\n<a>\x81</a>", "2:4 xml-encoding the file is not valid windows-1252"},
		"UTF-16 without mark":       {"<\x00a\x00/\x00>\x00", "1:2 xml-syntax the character U+0000 is not allowed in XML"},
		"deep nesting":              {strings.Repeat("<a>", 10_000), "1:601 xml-limit elements are nested more than 200 deep"},
		"many elements":             {"<a>" + strings.Repeat("<b/>", maxElements) + "</a>", "1:800000 xml-limit more than 200000 elements"},
		"many namespaces":           {manyDeclarations(maxDeclarations + 1), "3:4 xml-limit too many namespaces are declared"},
		"many attributes":           {"<a" + manyAttributes(maxAttributes+1) + "/>", "1:1 xml-limit an element has more than 200 attributes"},
		"large file":                {"<a>" + strings.Repeat("0123456789", 10<<20) + "</a>", "1:1 xml-limit the file has 104857607 bytes; a definition has at most 16777216"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read("", []byte(test.source))
			var refused *DocumentError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, test.expected, fmt.Sprintf("%d:%d %s %s", refused.Line, refused.Column, refused.Code, refused))
		})
	}
}

func utf16Text(order binary.AppendByteOrder, text string) string {
	var encoded []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return string(encoded)
}

func TestTheDeclaredEncodingIsUsed(t *testing.T) {
	declared := func(encoding string) string { return `<?xml version="1.0" encoding="` + encoding + `"?>` + "\n" }
	const document = "<a b='é'>ß <c/></a>"
	for name, source := range map[string]string{
		"ISO-8859-1":   declared("ISO-8859-1") + "<a b='\xe9'>\xdf <c/></a>",
		"latin1":       declared("latin1") + "<a b='\xe9'>\xdf <c/></a>",
		"windows-1252": declared("Windows-1252") + "<a b='\xe9'>\xdf <c/></a>",
		"ISO-8859-15":  declared("iso-8859-15") + "<a b='\xe9'>\xdf <c/></a>",
		"UTF-16LE":     utf16Text(binary.LittleEndian, declared("UTF-16")+document),
		"UTF-16BE":     utf16Text(binary.BigEndian, "\n"+document),
		"UTF-8":        declared("UTF-8") + document,
	} {
		t.Run(name, func(t *testing.T) {
			root := read(t, source)
			require.Equal(t, "é", root.Attributes[0].Value)
			require.Equal(t, "ß ", root.Text)
			require.Equal(t, []string{"2:14 c"}, places(root.Children), "positions count bytes of UTF-8")
		})
	}
	require.Equal(t, "€„Ž", read(t, declared("cp1252")+"<a>\x80\x84\x8e</a>").Text)
	require.Equal(t, "€", read(t, declared("ISO-8859-15")+"<a>\xa4</a>").Text)
	require.Equal(t, "ł", read(t, declared("ISO-8859-2")+"<a>\xb3</a>").Text)
	require.Equal(t, "😀", read(t, utf16Text(binary.BigEndian, "<a>😀</a>")).Text)
}

func manyAttributes(number int) string {
	var b strings.Builder
	for i := range number {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

func manyDeclarations(number int) string {
	var b strings.Builder
	b.WriteString("<a")
	for i := range number - 1 {
		if i == number/2 {
			b.WriteString(">\n<b")
		}
		fmt.Fprintf(&b, " xmlns:a%d='u'", i)
	}
	return b.String() + ">\n<c xmlns='u'/></b></a>"
}

// Text in many pieces must not be copied again for every piece.
func TestTextInManyPiecesTakesLinearTime(t *testing.T) {
	piece := "<b/>" + strings.Repeat("x", 70) + "<!---->"
	root := read(t, "<a>"+strings.Repeat(piece, 30_000)+"</a>")
	require.Len(t, root.Text, 30_000*70)
}

func FuzzRead(f *testing.F) {
	for _, source := range seedDocuments(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		document, err := Read("", source)
		if err != nil {
			var refused *DocumentError
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Code)
			return
		}
		lines := strings.Split(strings.TrimPrefix(string(source), "\ufeff"), "\n")
		checkPositions(t, document.Root, lines)
	})
}

// checkPositions checks the position of every element and attribute.
func checkPositions(t *testing.T, e *Element, lines []string) {
	after := func(at Position) string { return lines[at.Line-1][at.Column-1:] }
	require.True(t, strings.HasPrefix(after(e.Position()), "<"))
	for _, attribute := range e.Attributes {
		require.Contains(t, after(attribute.Position()), attribute.Name)
		value := attribute.ValuePosition()
		quote := lines[value.Line-1][value.Column-2]
		require.True(t, quote == '"' || quote == '\'')
	}
	for _, child := range e.Children {
		require.Same(t, e, child.Parent)
		checkPositions(t, child, lines)
	}
}

func places(elements []*Element) []string {
	var found []string
	for _, e := range elements {
		found = append(found, fmt.Sprintf("%d:%d %s", e.Position().Line, e.Position().Column, e.Name))
	}
	return found
}
