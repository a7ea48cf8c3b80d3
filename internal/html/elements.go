package html

// The attributes that pages have many of. Aria and Data have a part of the name.
func Action(value string) Node     { return Attr("action", value) }
func Class(value string) Node      { return Attr("class", value) }
func Content(value string) Node    { return Attr("content", value) }
func For(value string) Node        { return Attr("for", value) }
func Href(value string) Node       { return Attr("href", value) }
func ID(value string) Node         { return Attr("id", value) }
func Method(value string) Node     { return Attr("method", value) }
func Name(value string) Node       { return Attr("name", value) }
func Role(value string) Node       { return Attr("role", value) }
func Scope(value string) Node      { return Attr("scope", value) }
func TabIndex(value string) Node   { return Attr("tabindex", value) }
func Title(value string) Node      { return Attr("title", value) }
func Type(value string) Node       { return Attr("type", value) }
func Value(value string) Node      { return Attr("value", value) }
func Aria(name, value string) Node { return Attr("aria-"+name, value) }
func Data(name, value string) Node { return Attr("data-"+name, value) }

// Document returns a whole page of a head and a body.
func Document(head, body Node) Node {
	return Group{HTML("<!DOCTYPE html>\n"), El("html", Attr("lang", "en"), head, body), HTML("\n")}
}

// The elements of pages.
func A(children ...Node) Node          { return El("a", children...) }
func Article(children ...Node) Node    { return El("article", children...) }
func Aside(children ...Node) Node      { return El("aside", children...) }
func B(children ...Node) Node          { return El("b", children...) }
func Body(children ...Node) Node       { return El("body", children...) }
func Button(children ...Node) Node     { return El("button", children...) }
func Caption(children ...Node) Node    { return El("caption", children...) }
func Code(children ...Node) Node       { return El("code", children...) }
func DataList(children ...Node) Node   { return El("datalist", children...) }
func Dd(children ...Node) Node         { return El("dd", children...) }
func Details(children ...Node) Node    { return El("details", children...) }
func Div(children ...Node) Node        { return El("div", children...) }
func Dl(children ...Node) Node         { return El("dl", children...) }
func Dt(children ...Node) Node         { return El("dt", children...) }
func FieldSet(children ...Node) Node   { return El("fieldset", children...) }
func FigCaption(children ...Node) Node { return El("figcaption", children...) }
func Figure(children ...Node) Node     { return El("figure", children...) }
func Footer(children ...Node) Node     { return El("footer", children...) }
func Form(children ...Node) Node       { return El("form", children...) }
func H1(children ...Node) Node         { return El("h1", children...) }
func H2(children ...Node) Node         { return El("h2", children...) }
func H3(children ...Node) Node         { return El("h3", children...) }
func Head(children ...Node) Node       { return El("head", children...) }
func Header(children ...Node) Node     { return El("header", children...) }
func Input(children ...Node) Node      { return El("input", children...) }
func Label(children ...Node) Node      { return El("label", children...) }
func Legend(children ...Node) Node     { return El("legend", children...) }
func Li(children ...Node) Node         { return El("li", children...) }
func Link(children ...Node) Node       { return El("link", children...) }
func Main(children ...Node) Node       { return El("main", children...) }
func Meta(children ...Node) Node       { return El("meta", children...) }
func Meter(children ...Node) Node      { return El("meter", children...) }
func Nav(children ...Node) Node        { return El("nav", children...) }
func NoScript(children ...Node) Node   { return El("noscript", children...) }
func Ol(children ...Node) Node         { return El("ol", children...) }
func Option(children ...Node) Node     { return El("option", children...) }
func P(children ...Node) Node          { return El("p", children...) }
func Pre(children ...Node) Node        { return El("pre", children...) }
func Script(children ...Node) Node     { return El("script", children...) }
func Section(children ...Node) Node    { return El("section", children...) }
func Select(children ...Node) Node     { return El("select", children...) }
func Span(children ...Node) Node       { return El("span", children...) }
func Strong(children ...Node) Node     { return El("strong", children...) }
func Summary(children ...Node) Node    { return El("summary", children...) }
func TBody(children ...Node) Node      { return El("tbody", children...) }
func THead(children ...Node) Node      { return El("thead", children...) }
func Table(children ...Node) Node      { return El("table", children...) }
func Td(children ...Node) Node         { return El("td", children...) }
func Textarea(children ...Node) Node   { return El("textarea", children...) }
func Th(children ...Node) Node         { return El("th", children...) }
func Time(children ...Node) Node       { return El("time", children...) }
func Tr(children ...Node) Node         { return El("tr", children...) }
func Ul(children ...Node) Node         { return El("ul", children...) }
