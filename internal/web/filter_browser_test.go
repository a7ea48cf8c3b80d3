package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestJobsAreFilteredWhileTyping(t *testing.T) {
	b := startBrowser(t)
	server := serveWith(t, testPlatform(t), func(m *model.Model) { webtest.Demonstrate(t, m, 400, 300, time.Now()) })
	w := b.opens(t, server.start())
	w.goes(server.base + "/jobs")
	w.eval(`document.querySelector("[name=q]").focus()`)
	w.presses("4000007")
	w.awaits(`document.querySelectorAll("#jobs tr").length === 1 && location.search === "?q=4000007"`)
	require.Equal(t, "4000007", w.eval(`document.querySelector("[name=q]").value`))
	require.Equal(t, "q", w.eval(`document.activeElement.name`), "the focus stays")
	require.Contains(t, w.eval(`document.body.dataset.events`), "q=4000007", "the stream is that of the filter")
	w.eval(`document.querySelector("[name=q]").value = ""`)
	w.eval(`document.querySelector("[name=q]").dispatchEvent(new Event("input", { bubbles: true }))`)
	w.awaits(`document.querySelectorAll("#jobs tr").length === 50 && location.search === ""`)
	w.isUsable("the filtered page")
}
