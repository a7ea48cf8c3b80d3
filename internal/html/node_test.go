package html

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDataIsEscaped(t *testing.T) {
	const hostile = `'"><script>alert(1)</script>&`
	const escaped = `&#39;&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;`
	for name, try := range map[string]struct {
		node Node
		want HTML
	}{
		"a text":       {P(Text(hostile)), "<p>" + escaped + "</p>"},
		"an attribute": {P(Title(hostile)), `<p title="` + escaped + `"></p>`},
		"an address":   {A(Href("/jobs?q=" + hostile)), `<a href="/jobs?q=` + escaped + `"></a>`},
		"an aria name": {P(Aria("label", hostile)), `<p aria-label="` + escaped + `"></p>`},
	} {
		require.Equal(t, try.want, Render(try.node), name)
	}
}

func TestElementsHaveAttributesBeforeTheirContent(t *testing.T) {
	node := Ul(Text("of "), Group{Class("list"), Li(Text("one")), nil}, If(false, Text("none")), Iff(true, func() Node { return Flag("hidden") }))
	require.EqualValues(t, `<ul class="list" hidden>of <li>one</li></ul>`, Render(node))
	require.EqualValues(t, `<input name="a"> <b>1</b>, <b>2</b>`, Render(Group{Input(Name("a"), Text("lost")), Text(" "), Join(", ", Map([]string{"1", "2"}, func(n string) Node { return B(Text(n)) }))}))
	require.Empty(t, Render(nil))
	require.Equal(t, Render(P(Text("<"))), Render(Render(P(Text("<")))), "what was rendered is not escaped again")
}
