package schemas

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// largeDefinition is as large as the largest definitions from the field: 1,600
// lines, most of them a form.
func largeDefinition() []byte {
	var b bytes.Buffer
	b.WriteString("<resource-manager-builder xmlns=\"" + xmltree.CoreNamespace + "\" name=\"large\">\n\t<control-data>\n")
	for i := range 80 {
		fmt.Fprintf(&b, "\t\t<attribute name=\"a%d\" type=\"string\">\n\t\t\t<description>Attribute %d</description>\n"+
			"\t\t\t<tooltip>What it is for, in a sentence or two.</tooltip>\n\t\t\t<default>%d</default>\n\t\t</attribute>\n", i, i, i)
	}
	b.WriteString("\t\t<script insertEnvironmentAfter=\"40\">\n")
	for i := range 80 {
		fmt.Fprintf(&b, "\t\t\t<line>\n\t\t\t\t<arg isUndefinedIfMatches=\"#PBS -l a%d=\">#PBS -l a%d=${ptp_rm:a%d#value}</arg>\n\t\t\t</line>\n", i, i, i)
	}
	b.WriteString("\t\t</script>\n\t\t<launch-tab>\n\t\t\t<dynamic>\n\t\t\t\t<title>Basic</title>\n")
	for i := range 100 {
		fmt.Fprintf(&b, "\t\t\t\t<widget type=\"text\" style=\"SWT.BORDER\" attribute=\"a%d\">\n\t\t\t\t\t<layout-data>\n\t\t\t\t\t\t<grid-data"+
			" horizontalAlign=\"SWT.FILL\" horizontalSpan=\"2\" grabExcessHorizontal=\"false\"/>\n\t\t\t\t\t</layout-data>\n"+
			"\t\t\t\t\t<tooltip>${ptp_rm:a%d#tooltip}</tooltip>\n\t\t\t\t</widget>\n", i, i)
	}
	b.WriteString("\t\t\t</dynamic>\n\t\t</launch-tab>\n\t</control-data>\n</resource-manager-builder>\n")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	source := largeDefinition()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		_, err := xmltree.Read("", source)
		require.NoError(b, err)
	}
}

// BenchmarkReadShipped reads the largest definition that rmctl brings along.
func BenchmarkReadShipped(b *testing.B) {
	source, err := os.ReadFile("../rms/slurm.xml")
	require.NoError(b, err)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		_, err := xmltree.Read("", source)
		require.NoError(b, err)
	}
}

func BenchmarkValidate(b *testing.B) {
	document, err := xmltree.Read("", largeDefinition())
	require.NoError(b, err)
	for b.Loop() {
		require.Empty(b, Validate(document.Root))
	}
}

func BenchmarkCompileSchemas(b *testing.B) {
	for b.Loop() {
		_, err := compile(rmText, extensionsText)
		require.NoError(b, err)
	}
}
