package tokenizer_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

func TestValuesGrowingFromThemselvesAreAnError(t *testing.T) {
	const (
		ofValue = `storing value of attribute "r": larger than the limit of 64 MiB`
		ofAll   = "the parser's values exceed its output by more than the limit of 64 MiB"
		// grown makes the value of g large, so that others can copy it.
		grown = `<target ref="g"><match><expression>(.*)</expression><append field="value" separator=""><entry value="#value"/><entry value="` +
			`0123456789abcdef` + `"/></append></match></target>`
		onlyTwenty = `<target ref="g"><match><expression>\d+</expression><append field="value"><entry value="#value"/><entry value="x"/></append></match></target>`
	)
	growing := func(actions string) string {
		return `<target ref="r"><match><expression>(.*)</expression>` + actions + `</match></target>`
	}
	for name, c := range map[string]struct {
		targets, failure string
	}{
		"append":              {growing(`<append field="value"><entry value="#value"/></append><append field="value"><entry value="x"/></append>`), ofValue},
		"append of several":   {growing(`<append field="value"><entry value="x"/>` + strings.Repeat(`<entry value="#value"/>`, 60) + `</append>`), ofValue},
		"append of a field":   {growing(`<append field="tooltip"><entry value="x"/><entry value="#tooltip"/></append>`), strings.Replace(ofValue, "value", "tooltip", 1)},
		"append of another's": {grown + growing(`<append field="value"><entry value="${ptp_rm:g#value}"/></append>`), `storing value of attribute "g": ` + ofAll},
		"add":                 {growing(`<add field="value"><entry value="#value"/></add><add field="value"><entry value="x"/></add>`), ofValue},
		"add of several":      {growing(`<add field="value"><entry value="x"/>` + strings.Repeat(`<entry value="#value"/>`, 120) + `</add>`), ofValue},
		"put":                 {growing(`<put field="value"><entry key="k" value="v"/></put><put field="value"><entry key="#value" value="#value"/></put>`), ofValue},
		"keys of put":         {growing(`<put field="value"><entry key="k" value="v"/></put><put field="value"><entry key="#value" value="x"/></put>`), ofValue},
		"many attributes": {
			onlyTwenty + `<target><match><expression>line (.*)</expression><set field="name"><entry valueGroup="1"/></set>` +
				`<set field="value"><entry value="${ptp_rm:g#value}"/></set></match></target>`, ofAll},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n" applyToAll="true">`+c.targets+`</stdout-parser>`), variables("r", "g"), "")
			require.NoError(t, err)
			var output strings.Builder
			if strings.Contains(c.targets, "line") {
				output.WriteString(strings.Repeat("1\n", 20))
			}
			for i := range 100 {
				output.WriteString("line " + strings.Repeat("x", i) + "\n")
			}
			before := allocated()
			err = run.Run(strings.NewReader(output.String()))
			var failure *tokenizer.Error
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, c.failure)
			require.Positive(t, failure.Line)
			require.Less(t, allocated()-before, uint64(10*attribute.LargestValue))
		})
	}
}

// allocated returns the total number of bytes allocated so far.
func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}

func TestFortyLinesThatDoubleAValueTakeBoundedMemory(t *testing.T) {
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="r">
<match><expression>first (.*)</expression><set field="value"><entry valueGroup="1"/></set></match>
<match><append field="value"><entry value="#value"/></append></match></target></stdout-parser>`), variables("r"), "")
	require.NoError(t, err)
	before := allocated()
	err = run.Run(strings.NewReader("first line\n" + strings.Repeat("x\n", 40)))
	require.ErrorContains(t, err, `storing value of attribute "r": larger than the limit of 64 MiB`)
	require.Less(t, allocated()-before, uint64(8*attribute.LargestValue))
}

func TestValuesAsLargeAsTheOutputAreAccepted(t *testing.T) {
	line := strings.Repeat("x", 100_000)
	var output strings.Builder
	for i := range 800 { // 80 MB together
		output.WriteString(line[i:] + "\n")
	}
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target><match>
<set field="name"><entry valueGroup="0"/></set><set field="value"><entry valueGroup="0"/></set></match></target></stdout-parser>`), variables(), "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader(output.String())))
	for kind, parser := range map[string]string{
		"replaced":    `<target ref="r"><match><set field="value"><entry valueGroup="0"/></set></match></target>`,
		"constructed": `<target><match><set field="value"><entry valueGroup="0"/></set></match></target>`,
	} {
		run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n">`+parser+`</stdout-parser>`), variables("r"), "")
		require.NoError(t, err)
		require.NoError(t, run.Run(strings.NewReader(output.String())), kind)
	}
}

func TestCopyingALargeValueIntoEachRowIsAnError(t *testing.T) {
	env := variables("g")
	env.Lookup("g").SetValue(strings.Repeat("x", 1<<20))
	run, err := tokenizer.Options{Rows: func(string, tokenizer.Facts, *attribute.Origin) {}}.Compile(parserOf(t,
		`<stdout-parser delim="\n"><target><match><expression>(.*)</expression><set field="name"><entry valueGroup="1"/></set>
<put field="value"><entry key="note" value="${ptp_rm:g#value}"/></put></match></target></stdout-parser>`), env, "")
	require.NoError(t, err)
	require.ErrorContains(t, run.Run(strings.NewReader(strings.Repeat("row\n", 100))), `storing "note" of attribute "row": the parser's values exceed`)
}
