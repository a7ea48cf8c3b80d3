package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestPlotsShowValuesAndARange(t *testing.T) {
	b := startBrowser(t)
	server := serveWith(t, testPlatform(t), func(m *model.Model) { webtest.Demonstrate(t, m, 40, 30, time.Now()) })
	w := b.opens(t, server.start())
	w.goes(server.base + "/utilisation")
	w.awaits(`document.querySelector("svg.area[data-samples]")`)
	w.eval(`document.querySelector("svg.area").focus()`)
	w.presses(kb.End)
	w.awaits(`/: \d+ in use, \d+ free/.test(document.querySelector(".value").textContent)`)
	require.Equal(t, "1", w.eval(`document.querySelectorAll("line.cursor").length`))
	w.presses(kb.Escape)
	require.Empty(t, w.eval(`document.querySelector(".value").textContent`))
	w.eval(`(() => {
		const area = document.querySelector("svg.area");
		const box = area.getBoundingClientRect();
		for (const [kind, share] of [["pointermove", 0.9], ["pointerdown", 0.25], ["pointermove", 0.75], ["pointerup", 0.75]]) {
			area.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, pointerType: "mouse", clientX: box.left + share * box.width, clientY: box.top + 5 }));
		}
	})()`)
	w.awaits(`new URLSearchParams(location.search).has("from") && document.querySelector("form.range")`)
	seconds := w.eval(`new URLSearchParams(location.search).get("to") - new URLSearchParams(location.search).get("from")`)
	var length int
	_, err := fmt.Sscan(seconds, &length)
	require.NoError(t, err)
	require.InDelta(t, 1800, length, 30, "half of an hour")
	w.isUsable("a range of the plots")
}
