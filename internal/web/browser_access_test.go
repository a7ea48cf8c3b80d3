package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// pageRules is an expression for what is wrong with a page for somebody who reads
// it by ear, with bad eyes, by keys, or on a phone.
const pageRules = `(() => {
	const wrong = [];
	const say = (element, what) => wrong.push(what + ": " + (element.outerHTML || element).slice(0, 150));
	if (!document.documentElement.lang) say("html", "the language is not set");
	if (!document.title.trim()) say("title", "the page has no title");
	if (document.querySelectorAll("h1").length !== 1) say("h1", "the page has not one main heading");
	if (document.querySelectorAll("main").length !== 1) say("main", "the page has not one main part");
	let level = 0;
	for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
		const own = Number(heading.tagName[1]);
		if (own > level + 1) say(heading, "a level of headings is left out");
		level = own;
	}
	const ids = new Set();
	for (const element of document.querySelectorAll("[id]")) {
		if (ids.has(element.id)) say(element, "the id is there twice");
		ids.add(element.id);
	}
	for (const element of document.querySelectorAll("[aria-describedby], [aria-labelledby], label[for]")) {
		const named = [element.getAttribute("aria-describedby"), element.getAttribute("aria-labelledby"), element.getAttribute("for")];
		for (const id of named.join(" ").split(/\s+/)) if (id && !ids.has(id)) say(element, "it refers to nothing by " + id);
	}
	for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) say(element, "it has a place of its own in the order of the Tab key");
	for (const table of document.querySelectorAll("table")) if (!table.querySelector("th")) say(table, "the table has no heads");
	if (document.documentElement.scrollWidth > innerWidth) say("html", "the page is " + document.documentElement.scrollWidth + " wide, the window " + innerWidth);

	const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const mixed = (colours) => { // one over the other
		pixel.clearRect(0, 0, 1, 1);
		for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
		return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
	};
	const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const seen = new Set();
	while (texts.nextNode()) {
		const element = texts.currentNode.parentElement;
		if (!texts.currentNode.nodeValue.trim() || seen.has(element) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
		seen.add(element);
		if (element.closest(":disabled, .hidden, .skip, option, datalist, noscript, svg, title, [aria-hidden=true]") || element.closest("label")?.control?.disabled) continue;
		const grounds = ["white"];
		const above = [];
		for (let at = element; at; at = at.parentElement) above.unshift(getComputedStyle(at).backgroundColor);
		const style = getComputedStyle(element);
		const ground = mixed(grounds.concat(above));
		const [a, b] = [light(mixed(grounds.concat(above, [style.color]))), light(ground)].sort((x, y) => y - x);
		const size = parseFloat(style.fontSize);
		const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
		const contrast = (a + 0.05) / (b + 0.05);
		if (contrast < (isLarge ? 3 : 4.5) - 0.01) say(element, "the contrast is " + contrast.toFixed(2));
	}
	return JSON.stringify(wrong);
})()`

// named are the roles of what somebody does something with, which needs a name.
var named = []string{"textbox", "searchbox", "checkbox", "radio", "combobox", "ComboBoxSelect", "listbox", "spinbutton", "button", "link", "slider", "img", "image", "dialog", "group", "region", "table", "navigation"}

// isUsable fails for what is wrong with the page that is shown.
func (w *tab) isUsable(where string) {
	w.t.Helper()
	var wrong []string
	require.NoError(w.t, json.Unmarshal([]byte(w.eval(pageRules)), &wrong))
	tree, err := chromedp.Call(w.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	require.NoError(w.t, err)
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := spoken(node.Role)
		// Groups without a name are boxes that only look like something.
		if slices.Contains(named, role) && strings.TrimSpace(spoken(node.Name)) == "" && role != "group" {
			wrong = append(wrong, fmt.Sprintf("a %s has no name", role))
		}
	}
	require.Empty(w.t, wrong, where)
}

// spoken returns the text for a screen reader.
func spoken(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	var text string
	if err := json.Unmarshal([]byte(value.Value), &text); err != nil {
		return string(value.Value)
	}
	return text
}

// showsFocus fails if the Tab key leads to something that does not show that it
// has the focus, or if it never comes to the end of the page.
func (w *tab) showsFocus(where string) {
	w.t.Helper()
	const look = `(() => {
		const a = document.activeElement;
		if (!a || a === document.body || a.dataset.wasFocused) return "end";
		a.dataset.wasFocused = "yes";
		const s = getComputedStyle(a);
		const isShown = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none" || [...a.querySelectorAll("*")].some((c) => getComputedStyle(c).stroke !== "none");
		return isShown ? "" : a.outerHTML.slice(0, 200);
	})()`
	w.eval("document.activeElement.blur()")
	for range 400 {
		w.presses(kb.Tab)
		switch reported := w.eval(look); reported {
		case "end":
			return
		default:
			require.Empty(w.t, reported, "%s: it does not show that it has the focus", where)
		}
	}
	require.Fail(w.t, "the Tab key never comes to the end of the page", where)
}

// prefers makes the browser one of somebody who likes dark or light pages.
func (w *tab) prefers(scheme string) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(w.t, err)
}

func TestPagesAreUsableByEveryone(t *testing.T) {
	b := startBrowser(t)
	forms := launchSite(t, map[string]string{"all": webtest.EveryWidget, "test": launchDefinition})
	shown := serveWith(t, testPlatform(t), func(m *model.Model) { webtest.Demonstrate(t, m, 400, 300, time.Now()) }).enter()
	menu, _, isMenu := strings.Cut(shown.get("/"), "</nav>")
	require.True(t, isMenu)
	var addresses []string
	for _, link := range regexp.MustCompile(`<li><a href="([^"]+)"`).FindAllStringSubmatch(menu, -1) {
		addresses = append(addresses, link[1])
	}
	require.Len(t, addresses, 7)
	for _, one := range []struct {
		*browser
		addresses []string
	}{
		{forms.browser, []string{"/launch?rm=all", "/launch?rm=all" + "&tab=Second", "/launch?rm=test" + "&set=nodes%3Dmany"}},
		{shown, addresses},
	} {
		w := b.opens(t, one.start())
		for scheme, width := range map[string]int64{"light": 1280, "dark": 390} {
			w.prefers(scheme)
			w.does(chromedp.EmulateViewport(width, 900))
			for _, address := range one.addresses {
				w.goes(one.base + address)
				w.isUsable(fmt.Sprintf("%s, %s, %d wide", address, scheme, width))
			}
		}
		for _, address := range one.addresses {
			w.goes(one.base + address)
			w.showsFocus(address)
		}
	}
}
