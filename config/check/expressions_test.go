package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// Proofs that take too long are given up, so checks of a definition made to be
// slow end in time.
func TestChecksOfExpressionsAreBounded(t *testing.T) {
	t.Parallel()
	var matches strings.Builder
	for i := range 400 {
		fmt.Fprintf(&matches, `<match><expression>(?:a|b)*a(?:a|b){%d}x</expression><add field="value"><entry valueGroup="0"/></add></match>`, i%40+1)
		fmt.Fprintf(&matches, `<match><expression>(?!x%d)(?:\w+\s?)*(?:\d+-?)*y</expression><add field="value"><entry valueGroup="0"/></add></match>`, i)
	}
	source := `<resource-manager-builder name="slow"><control-data><attribute name="queues" visible="false"/><start-up-command name="list"><arg>list</arg><stdout-parser delim="\n"><target ref="queues">` +
		matches.String() + `</target></stdout-parser></start-up-command></control-data></resource-manager-builder>`
	_, problems := config.Load("slow.xml", []byte(source), nil, func(d *config.Definition, root *xmltree.Element) config.Diagnostics {
		return problemsOf(d, root, inspectionEffort/4)
	})
	require.NoError(t, problems.Err())
	codes := map[string]int{}
	for _, problem := range problems {
		codes[problem.Code]++
	}
	require.NotZero(t, codes["runaway-expression"], "what is hard to prove leaves time for the rest")
	require.Less(t, codes["runaway-expression"], 20, "trying each would take long")
}
