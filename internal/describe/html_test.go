package describe

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
)

// hostile is what would break out of text, of an attribute's quotes, of a
// style and of a comment.
const hostile = `"'></td></style></title>--><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)" style="x:expression(1)">` + "\x7f"

var (
	styleSheet = regexp.MustCompile(`(?s)<style>.*?</style>`)
	anyTag     = regexp.MustCompile(`<([^\s>]*)([^>]*)>`)
	attributes = regexp.MustCompile(`\s+[\w-]+="[^"<>]*"`)
	// ownTags and ownAttributes are those of the page itself.
	ownAttributes = regexp.MustCompile(`^\s+(lang|charset|name|content|http-equiv|id|class|href|title|scope|value|aria-label)=`)
	ownTags       = regexp.MustCompile(`^/?(html|head|meta|title|style|body|div|nav|ul|ol|li|a|main|header|h1|h2|h3|p|span|code|pre|section|article|table|thead|tbody|tr|th|td|caption|dl|dt|dd|details|summary|strong|footer)$`)
)

func pageOf(t *testing.T, source string) string {
	t.Helper()
	definition, problems := check.Load(hostile, []byte(source), check.ReadBase)
	require.NotNil(t, definition, "%v", problems)
	var page bytes.Buffer
	require.NoError(t, Of(definition).WritePage(&page))
	return page.String()
}

// requireOwnTagsOnly demands that a page has no tag and no attribute but those
// its own.
func requireOwnTagsOnly(t *testing.T, page string) {
	t.Helper()
	body, found := strings.CutPrefix(strings.TrimSpace(page), "<!DOCTYPE html>")
	require.True(t, found)
	body = styleSheet.ReplaceAllString(body, "<style></style>")
	for _, tag := range anyTag.FindAllStringSubmatch(body, -1) {
		require.Regexp(t, ownTags, tag[1])
		rest := attributes.ReplaceAllStringFunc(tag[2], func(attribute string) string {
			require.Regexp(t, ownAttributes, attribute)
			require.NotContains(t, attribute, `href="javascript`)
			return ""
		})
		require.Empty(t, strings.TrimSpace(rest), tag[0])
	}
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<img")
}

func TestPagesOfHostileDefinitionsAreHarmless(t *testing.T) {
	var escaped bytes.Buffer
	require.NoError(t, xml.EscapeText(&escaped, []byte(hostile)))
	h := escaped.String()
	elements := regexp.MustCompile(`H`)
	source := elements.ReplaceAllLiteralString(`<resource-manager-builder xmlns:x="urn:rmctl:definition:1" name="H"><site-data><connection-name>H</connection-name></site-data><control-data>
	<attribute name="H" type="H" status="H" translateBooleanAs="H" min="1"><description>H</description><tooltip>H</tooltip><choice>H,a</choice>
		<translateChoiceAs>H,b</translateChoiceAs><items-from>H</items-from><default>H ${ptp_rm:H#value} ${ptp_rm:x"y#H}</default><value>H</value><link-value-to>H</link-value-to>
		<validator><regex expression="H"/><error-message>H</error-message></validator></attribute>
	<attribute name="control.queue.name" visible="false"><link-value-to>H</link-value-to></attribute>
	<managed-files><file-staging-location>H</file-staging-location><file name="H" mode="H"><contents>H</contents></file><file name="i"><line><arg isUndefinedIfMatches="H" attribute="H">H</arg></line></file><file name="j"><path>H</path></file></managed-files>
	<script insertEnvironmentAfter="0"><file-staging-location>H</file-staging-location><line><arg isUndefinedIfMatches="H">H</arg></line></script>
	<start-up-command name="H" directory="H" x:timeout="1s"><arg attribute="H" isUndefinedIfMatches="H">H</arg><input>H</input><environment name="H" value="H"/><environment name="I"><arg>H</arg></environment>
		<stdout-parser delim="H"><target ref="H"><match><expression>H</expression><set field="H"><entry value="H"/></set><throw message="H"/></match>
		<test><value>H</value><value>#H</value><append field="H" separator="H"><entry key="H" value="H"/></append></test></target><exit-on>H</exit-on><exit-after>H</exit-after></stdout-parser>
		<stderr-parser><type>H</type></stderr-parser><pre-launch-cmd exec="H"/><post-launch-cmd exec="H"/></start-up-command>
	<submit-batch name="s"><arg>H</arg></submit-batch>
	<get-job-status name="H"><arg>H</arg><stdout-parser delim="\n"><target ref="@jobId"><match><expression>H</expression><set field="value"><entry value="RUNNING"/></set></match></target></stdout-parser><x:fallback name="H" on="H"><arg>H</arg></x:fallback></get-job-status>
	<launch-tab><dynamic includeWidgetValuesFrom="H"><title>H</title><composite><title>H</title><widget type="text" title="H" buttonId="H" attribute="H"><fixed-text>H</fixed-text><control-state><show-if attribute="H" value="H"/></control-state></widget>
		<action title="H"><button-action><action>H</action></button-action></action><viewer name="H"><label>H</label><items><include>H</include></items></viewer></composite></dynamic><import title="H"/></launch-tab>
	<x:outcome kind="H" expression="H"/></control-data><monitor-data schedulerType="H"/></resource-manager-builder>`, h)
	page := pageOf(t, source)
	require.Greater(t, strings.Count(page, "alert(1)"), 100, "all of the definition is on the page")
	requireOwnTagsOnly(t, page)
}

func TestPagesOfAllDefinitionsAreWritten(t *testing.T) {
	shipped, err := filepath.Glob(filepath.Join("..", "..", "rms", "*.xml"))
	require.NoError(t, err)
	field, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "..", "shared")), "definitions", "*.xml"))
	require.NoError(t, err)
	for _, file := range append(shipped, field...) {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, problems := check.Load(file, source, check.ReadBase)
		require.NoError(t, problems.Err(), file)
		var page bytes.Buffer
		d := Of(definition)
		require.NoError(t, d.WritePage(&page), file)
		requireOwnTagsOnly(t, page.String())
		require.NotEmpty(t, d.Text(true))
	}
}
