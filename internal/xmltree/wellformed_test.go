package xmltree

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whether Read takes a document that was damaged byte by byte is compared with
// libxml2. On purpose different: names of namespaces need not be URIs here, and
// document types, unknown encodings and versions are refused. So are, against
// libxml2 but with XML, U+0000 after the root element and a declaration without
// white space before "standalone".
func TestReadAgreesWithLibxml2(t *testing.T) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("compares with xmllint only where RMCTL_CLUSTERS=1")
	}
	random := rand.New(rand.NewPCG(7, 2))
	sources := seedDocuments(t)
	folder := t.TempDir()
	refused := map[string]error{}
	var paths []string
	for i := range 6000 {
		damaged := damageBytes(sources[random.IntN(len(sources))], random)
		_, err := Read("", damaged)
		if err != nil && refusedOnPurpose(err) {
			continue
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.xml", i))
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		refused[path] = err
		paths = append(paths, path)
	}
	for len(paths) > 0 {
		batch := paths[:min(500, len(paths))]
		paths = paths[len(batch):]
		faults := map[string]string{}
		output, err := exec.Command("xmllint", append([]string{"--noout", "--nonet"}, batch...)...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil {
			require.ErrorAs(t, err, &exit)
		}
		for line := range strings.Lines(string(output)) {
			path, fault, ok := strings.Cut(line, ".xml:")
			if ok && strings.Contains(fault, " error :") && !strings.Contains(fault, "valid URI") {
				faults[path+".xml"] += fault
			}
		}
		for _, path := range batch {
			if (refused[path] != nil) != (faults[path] != "") {
				document, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Failf(t, "the verdicts differ", "Read: %v\nxmllint: %s\n%q", refused[path], faults[path], document)
			}
		}
	}
}

func seedDocuments(t testing.TB) [][]byte {
	sources := [][]byte{
		[]byte("\ufeff<?xml version='1.0' encoding=\"UTF-8\" standalone='yes'?>\n<!-- c --><?pi x?>" +
			"<p:a xmlns:p='u' xml:space='preserve'\n p:b='&#10;\t&#xA;&lt;'><![CDATA[x]]>&lt;&#233;<!-- é --></p:a>\n<?end?>"),
		[]byte("<a xmlns='u'><b xmlns='' c=\"&quot;'\r\n\"/>x\r\ny\r]]&gt;<![CDATA[\r\n]]]]><c/> &apos;&amp; </a>\r\n"),
	}
	paths, err := filepath.Glob("../../schemas/testdata/violations/*.xml")
	require.NoError(t, err)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		sources = append(sources, source)
	}
	return sources
}

func damageBytes(source []byte, random *rand.Rand) []byte {
	pieces := []string{"<", ">", "/", "'", `"`, "&", "=", ":", "]]>", "<!--", "-->", "--", "<?", "?>", " ", "\n", "\t", "!", "?x",
		"&#1;", "&#xD800;", "&#x110000;", "&amp;", "xmlns", "xml", "<![CDATA[", "<b/>", "a", "-", "0", ".", "é", "×", "·", "\x00", "\ufffe"}
	damaged := bytes.Clone(source)
	for range 1 + random.IntN(2) {
		at := random.IntN(len(damaged))
		switch random.IntN(3) {
		case 0:
			damaged = append(damaged[:at:at], damaged[min(at+1+random.IntN(3), len(damaged)):]...)
		default:
			piece := pieces[random.IntN(len(pieces))]
			damaged = append(append(damaged[:at:at], piece...), damaged[at:]...)
		}
	}
	return damaged
}

func refusedOnPurpose(err error) bool {
	reasons := []string{"document type", "encoding", "XML version", "U+0000", "XML declaration is malformed"}
	return slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(err.Error(), reason) })
}
