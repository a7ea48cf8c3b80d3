package definitionformat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

const begin = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="x">`

func formatted(t *testing.T, text string) string {
	t.Helper()
	result, err := Format("x.xml", []byte(text))
	require.NoError(t, err)
	again, err := Format("x.xml", result)
	require.NoError(t, err)
	require.Equal(t, string(result), string(again), "formatting twice changes nothing more")
	return string(result)
}

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct{ text, want string }{
		"indentation": {
			begin + "\n<control-data>\n\t\t<attribute   name = 'a'/>\n</control-data>\n\n\n\n</resource-manager-builder>",
			begin + "\n  <control-data>\n    <attribute name=\"a\"/>\n  </control-data>\n\n</resource-manager-builder>\n",
		},
		"short elements stay on a line": {
			begin + "\n<control-data>\n<attribute name='a'> <default>1</default></attribute></control-data></resource-manager-builder>",
			begin + "\n  <control-data>\n    <attribute name=\"a\"><default>1</default></attribute></control-data></resource-manager-builder>\n",
		},
		"long ones do not": {
			begin + "<control-data><attribute name='a'><default>" + long + "</default></attribute></control-data></resource-manager-builder>",
			begin + "\n  <control-data>\n    <attribute name=\"a\"><default>" + long + "</default></attribute>\n  </control-data>\n</resource-manager-builder>\n",
		},
		"attributes on lines of their own": {
			"<resource-manager-builder\n\t\t\tname=\"x\"\n  />",
			"<resource-manager-builder\n  name=\"x\"/>\n",
		},
		"a value with a quote": {
			`<resource-manager-builder name='"x"'/>`,
			`<resource-manager-builder name='"x"'/>` + "\n",
		},
		"comments move with what they are beside": {
			"<!-- a --><resource-manager-builder>\n\t<!-- b\n\t     c\nd -->\n\t<control-data/>  <!-- e --></resource-manager-builder><!-- f -->",
			"<!-- a -->\n<resource-manager-builder>\n  <!-- b\n       c\nd -->\n  <control-data/> <!-- e --></resource-manager-builder>\n<!-- f -->\n",
		},
		"a section with comments alone": {
			begin + "\n<control-data>\n<!-- a -->\n</control-data></resource-manager-builder>",
			begin + "\n  <control-data>\n    <!-- a -->\n  </control-data></resource-manager-builder>\n",
		},
		"texts stay": {
			begin + "\n<control-data>\n<script>\n<line><arg> a\n  b &lt;<!-- c --> <![CDATA[ <d> ]]>\n</arg></line></script></control-data></resource-manager-builder>",
			begin + "\n  <control-data>\n    <script>\n      <line>\n        <arg> a\n  b &lt;<!-- c --> <![CDATA[ <d> ]]>\n</arg>\n      </line></script></control-data></resource-manager-builder>\n",
		},
		"elements of other programs stay": {
			begin + "\n<control-data>\n<o:x xmlns:o=\"urn:o\">\n <o:y/>\n</o:x></control-data></resource-manager-builder>",
			begin + "\n  <control-data>\n    <o:x xmlns:o=\"urn:o\">\n <o:y/>\n</o:x></control-data></resource-manager-builder>\n",
		},
		"other line ends and encodings": {
			"<?xml version='1.0' encoding='ISO-8859-1'?>\r\n<resource-manager-builder name=\"f\xfcr\">\r\n</resource-manager-builder>\r\n",
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<resource-manager-builder name=\"für\">\n</resource-manager-builder>\n",
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, formatted(t, c.text)) })
	}
}

// commentsOf returns the comments of a document, their blanks made one.
func commentsOf(text string) []string {
	var comments []string
	for {
		_, rest, found := strings.Cut(text, "<!--")
		if !found {
			return comments
		}
		var comment string
		comment, text, _ = strings.Cut(rest, "-->")
		comments = append(comments, strings.Join(strings.Fields(comment), " "))
	}
}

func TestDefinitionsKeepTheirMeaningAndComments(t *testing.T) {
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	count := 0
	for _, pattern := range []string{"../../rms/*.xml", "../../config/check/testdata/clean/*.xml", filepath.Join(shared, "definitions", "*.xml")} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			result := formatted(t, string(source))
			before, err := xmltree.Read(file, source)
			require.NoError(t, err)
			after, err := xmltree.Read(file, []byte(result))
			require.NoError(t, err)
			require.True(t, haveSameMeaning(before.Root, after.Root), file)
			require.Equal(t, commentsOf(before.Text), commentsOf(result), file)
			count++
		}
	}
	require.Greater(t, count, 20)
}

func TestShippedDefinitionsAreFormatted(t *testing.T) {
	files, err := filepath.Glob("../../rms/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, formatted(t, string(source)), string(source), "run rmctl definition fmt %s", file)
	}
}

func TestChangesOfMeaningAreDetected(t *testing.T) {
	read := func(inside string) *xmltree.Element {
		document, err := xmltree.Read("x.xml", []byte(begin+inside+"</resource-manager-builder>"))
		require.NoError(t, err)
		return document.Root
	}
	for _, other := range []string{"", "<control-data a='1'/>", "<control-data><script/></control-data>", "<site-data/>", "<script><line><arg>a </arg></line></script>"} {
		require.True(t, haveSameMeaning(read(other), read("\n "+other)))
		require.False(t, haveSameMeaning(read("<script><line><arg>a</arg></line></script>"), read(other)), other)
	}
}

func TestInvalidDefinitionsAreRefused(t *testing.T) {
	for _, text := range []string{"", "<html/>", `<resource-manager-builder xmlns="urn:other"/>`, "<resource-manager-builder>", "<!DOCTYPE a><resource-manager-builder/>"} {
		_, err := Format("x.xml", []byte(text))
		require.Error(t, err, text)
	}
}

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "a.xml"), filepath.Join(folder, "link.xml")
	require.NoError(t, os.WriteFile(file, []byte("<resource-manager-builder/>"), 0o640))
	require.NoError(t, os.Symlink("a.xml", link))

	changed, err := File(link, false)
	require.NoError(t, err)
	require.True(t, changed)
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "<resource-manager-builder/>", string(source), "it was only to be looked at")

	changed, err = File(link, true)
	require.NoError(t, err)
	require.True(t, changed)
	source, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "<resource-manager-builder/>\n", string(source))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2)

	changed, err = File(link, true)
	require.NoError(t, err)
	require.False(t, changed)
}

func FuzzFormat(f *testing.F) {
	f.Add(begin + "\n<control-data a = 'b'>\n<!-- c --><script> <line><arg>x</arg></line></script></control-data></resource-manager-builder>")
	f.Fuzz(func(t *testing.T, text string) {
		result, err := Format("x.xml", []byte(text))
		if err != nil {
			require.NotContains(t, err.Error(), "would change its meaning")
			return
		}
		again, err := Format("x.xml", result)
		require.NoError(t, err)
		require.Equal(t, string(result), string(again))
	})
}
