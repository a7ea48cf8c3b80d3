package pages

import (
	"testing"

	"github.com/stretchr/testify/require"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/listing"
)

func TestDataIsEscapedWhereverItStands(t *testing.T) {
	const hostile = `'"><script>alert(1)</script>&`
	const escaped = `&#39;&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;`
	draw := func(n h.Node) string { return string(h.Render(n)) }
	for name, try := range map[string]struct {
		node h.Node
		want string
	}{
		"a text":               {isolated(hostile), "<bdi>" + escaped + "</bdi>"},
		"a title":              {jobRow{Doubt: hostile}.doubt(), ` <span class="tag" title="` + escaped + `">stale</span>`},
		"a value":              {hidden("q", hostile), `<input type="hidden" name="q" value="` + escaped + `">`},
		"an option":            {option(listing.Choice{Value: hostile, Label: hostile}), `<option value="` + escaped + `">` + escaped + `</option>`},
		"data for a script":    {h.Div(h.Data("names", listing.FoldNames([]string{hostile}))), `<div data-names="[&#34;&#39;\&#34;\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u0026&#34;]"></div>`},
		"what a button does":   {h.Button(do("tab", hostile)), `<button name="do" value="[&#34;tab&#34;,&#34;&#39;\&#34;\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u0026&#34;]"></button>`},
		"an address":           {link(listing.ElementAddress("/job", hostile, "1"), "1"), `<a href="/job?id=1&amp;rm=%27%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26">1</a>`},
		"an address sent here": {linkButton(backTo("/jobs?q="+hostile), "Back"), `<a class="button" href="/jobs?q=` + escaped + `">Back</a>`},
		"output":               {output("\n" + hostile), "<pre class=\"output\" tabindex=\"0\">\n\n" + escaped + "</pre>"},
	} {
		require.Equal(t, try.want, draw(try.node), name)
	}
	require.Equal(t, "/jobs", backTo("javascript:alert(1)"))
}
