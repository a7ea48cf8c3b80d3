package web

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/web/webtest"
)

// sendUnchanged loads the page of a form beside the one that is shown, sends what
// its inputs hold, and gives the edits that come of it.
const sendUnchanged = `(async () => {
	const ask = (method, address, body) => new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open(method, address);
		request.responseType = "document";
		request.onload = () => resolve(request.response);
		request.onerror = () => reject(new Error(method + " " + address));
		request.send(body);
	});
	const address = %q;
	const before = (await ask("GET", address)).querySelector("form[data-launch]");
	if (!before) return "there is no form";
	const after = (await ask("POST", address, new URLSearchParams(new FormData(before)))).querySelector("form[data-launch]");
	return after ? after.querySelector("[name=edits]").value : "there is no form after it";
})()`

func TestFormsInARealBrowser(t *testing.T) {
	b := startBrowser(t)
	t.Run("rules show and hide fields while somebody types", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": launchDefinition})
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test"))
		w.shows("#Q queue=day nodes=1")
		w.reaches("Queue")
		w.presses(kb.End + "light")
		w.shows("#Q queue=daylight nodes=1")
		w.reaches("Nodes")
		w.presses(kb.ArrowUp + kb.ArrowUp)
		w.shows("nodes=3")
		require.Equal(t, "undefined", w.eval(fieldOf("Address")))
		w.reaches("Send mail")
		w.presses(" ")
		w.awaits(fieldOf("Address") + " !== undefined")
		require.Equal(t, "true", w.eval("document.activeElement === "+fieldOf("Send mail")), "the focus is lost when fields are shown")
		w.reaches("Address")
		w.presses("nobody")
		w.shows("that is no address")
		w.clicks("Submit")
		w.shows("The job was not submitted: one field is invalid.")
		w.awaits("document.activeElement === " + fieldOf("Address"))
		w.presses(kb.End + "@home")
		w.shows("#Q address=nobody@home")
		w.hides("that is no address")
		w.eval(fieldOf("Send mail") + ".click()")
		w.hides("#Q address")
		require.Equal(t, "undefined", w.eval(fieldOf("Address")))
		w.clicks("Options")
		w.awaits(fieldOf("extra") + " !== undefined")
		w.clicks("Basic")
		w.awaits(fieldOf("Queue") + "?.value === 'daylight'")
	})
	t.Run("a page that nothing was changed on changes nothing", func(t *testing.T) {
		definitions := map[string]*config.Definition{}
		for i, definition := range webtest.LaunchDefinitions(t, filepath.Join("..", "..")) {
			definitions[fmt.Sprintf("d%d", i)] = definition
		}
		d := inventedSite(t, definitions)
		w := b.opens(t, d.start())
		for name, definition := range definitions {
			tabs := []string{""}
			if definition.LaunchTab != nil {
				tabs = nil
				for _, tab := range definition.LaunchTab.Tabs {
					tabs = append(tabs, tab.Title)
				}
			}
			for _, tab := range tabs {
				address := formOf(name) + "&" + url.Values{"tab": {tab}}.Encode()
				edits := w.evalLater(fmt.Sprintf(sendUnchanged, address))
				require.Contains(t, []string{"null", "[]"}, edits, "%s, %s", definition.File, tab)
			}
		}
	})
	t.Run("what is typed while a command runs is not lost", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": strings.Replace(launchDefinition, "<arg>echo night</arg>", "<arg>cat DESK/gate</arg>", 1)})
		gate := filepath.Join(d.folder, "gate")
		require.NoError(t, syscall.Mkfifo(gate, 0o600))
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test"))
		w.clicks("Look")
		w.awaits(`document.getElementById("launch").ariaBusy === "true"`)
		w.reaches("Program")
		w.presses("./simulate")
		require.NoError(t, os.WriteFile(gate, []byte("night\n"), 0o600)) // which the command waits for
		w.shows("#Q queue=night nodes=1\n./simulate")
		require.Equal(t, "true", w.eval("document.activeElement === "+fieldOf("Program")))
	})
	t.Run("the way back leads to what was filled in", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": launchDefinition})
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test"))
		w.reaches("Send mail")
		w.presses(" ")
		w.awaits(fieldOf("Address") + " !== undefined")
		w.reaches("Address")
		w.presses("ada@home")
		w.reaches("Program")
		w.presses("./simulate")
		w.clicks("Submit")
		w.awaits(`location.pathname === "/job"`)
		w.eval("history.back()")
		w.awaits(fieldOf("Address") + `?.value === "ada@home" && ` + fieldOf("Program") + `.value === "./simulate"`)
		w.shows("#Q address=ada@home")
		w.clicks("Submit")
		w.shows("already submitted")
		w.eval("location.reload()")
		w.awaits(`performance.getEntriesByType("navigation")[0].type === "reload" && ` + fieldOf("Address") + `?.value === "ada@home"`)
	})
	t.Run("a form that the server does not answer says so", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": launchDefinition})
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test"))
		require.NoError(t, d.server.Close())
		w.reaches("Queue")
		w.presses("x")
		w.shows("No connection to rmctl serve")
		w.forgives("ERR_")
	})
	t.Run("what is wrong with several values stands on lines of their own", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": launchDefinition})
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test") + "&set=one%3D1&set=two%3D2")
		w.awaits(`/attribute "one".*\n(.*\n)?attribute "two"/.test(document.getElementById("own-further-problem").innerText)`)
	})
	t.Run("a path is chosen, a table is filled in and a configuration is saved without another page", func(t *testing.T) {
		d := launchSite(t, map[string]string{"test": launchDefinition})
		hostile := `<img src=x onerror="document.title='ran'">`
		require.NoError(t, os.MkdirAll(filepath.Join(d.home, "in", hostile), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(d.home, "in", "data"), nil, 0o600))
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("test") + "&tab=Options")
		w.eval("window.isSame = true")
		w.eval(`document.querySelector("[aria-label='Browse for file']").focus()`)
		w.presses(kb.Enter)
		w.awaits(`document.activeElement.closest("[role=dialog]")`)
		w.clicks("in/")
		w.shows(hostile + "/")
		w.presses(kb.Escape)
		w.awaits(`document.activeElement.ariaLabel === "Browse for file"`)
		w.presses(kb.Enter)
		w.clicks("in/")
		w.clicks("data")
		w.awaits(fieldOf("file") + fmt.Sprintf(`.value === %q && document.activeElement === `, filepath.Join(d.home, "in", "data")) + fieldOf("file"))

		w.eval(`document.querySelector("[aria-label='Use extra']").click()`)
		w.awaits("!" + fieldOf("extra") + ".disabled")
		w.reaches("extra")
		w.presses(kb.End + "treme")
		w.shows("#Q extra=xtreme")
		w.reaches("Save as")
		w.presses("nightly")
		w.clicks("Save")
		w.shows(`Saved as "nightly"`)
		require.Equal(t, "true", w.eval("window.isSame"), "the page was not loaded again")
		w.goes(d.base + "/launch")
		w.clicks("nightly")
		w.shows("#Q extra=xtreme")
		require.NotEqual(t, "ran", w.eval("document.title"))
	})
}
