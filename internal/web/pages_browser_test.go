package web

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestPagesOfTheModelInARealBrowser(t *testing.T) {
	b := startBrowser(t)
	t.Run("jobs change on the page while others stay chosen", func(t *testing.T) {
		server := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 30, 20, time.Now()) })
		w := b.opens(t, server.start())
		w.goes(server.base + "/jobs?sort=id")
		w.eval(`window.untouched = true`)
		w.eval(`document.querySelector("[aria-label='Select job 4000001']").click()`)
		w.shows("With the selected job:")
		w.awaits(`getComputedStyle(document.querySelector(".chosen")).display !== "none"`)
		change := func(id, state string) {
			server.model.Update(func(u *model.Update) {
				u.Put(model.Row{Manager: "cluster", Kind: model.Job, Parent: "short", ID: id, Attributes: webtest.Attributes(vocabulary.AttributeJobState, state, vocabulary.AttributeName, "<img src=x onerror=fail()>")})
			})
		}
		change("4000001", "SUSPENDED")
		w.awaits(`document.querySelector("tr:has([aria-label='Select job 4000001'])")?.innerText.includes("suspended")`)
		w.shows("<img src=x onerror=fail()>")
		require.Equal(t, "true", w.eval(`document.querySelector("[aria-label='Select job 4000001']").checked`))
		change("4999999", "RUNNING")
		w.shows("4999999")
		require.Equal(t, "true", w.eval("window.untouched"), "the page was reloaded")
		w.eval(`document.querySelector("[aria-label='Select all jobs on this page']").click()`)
		w.shows("selected jobs:")
		require.Equal(t, "0", w.eval(`document.querySelectorAll("input[data-row]:not(:checked)").length`))
	})
	t.Run("the focus stays where it is while rows and counts change", func(t *testing.T) {
		server := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 30, 20, time.Now()) })
		w := b.opens(t, server.start())
		w.goes(server.base + "/jobs?sort=name")
		put := func(id, name, state string) {
			server.model.Update(func(u *model.Update) {
				u.Put(model.Row{Manager: "cluster", Kind: model.Job, Parent: "short", ID: id, Attributes: webtest.Attributes(vocabulary.AttributeJobState, state, vocabulary.AttributeName, name)})
			})
		}
		put("1", "!a", "RUNNING")
		put("2", "!b", "RUNNING")
		w.awaits(`document.querySelector("#jobs tr:nth-child(2) th a").innerText === "2"`)
		link := `document.querySelector("#jobs th a[href*='id=2&']")`
		w.eval(link + `.focus()`)
		put("1", "~", "RUNNING") // the last one now, so that the others move up
		w.awaits(`document.querySelector("#jobs tr:nth-child(1) th a").innerText === "2"`)
		require.Equal(t, "true", w.eval(`document.activeElement === `+link))
		put("2", "!b", vocabulary.StateTerminated) // and cannot be chosen any more
		w.awaits(`document.querySelector("#jobs tr:nth-child(1)").innerText.includes("ended")`)
		require.Equal(t, "true", w.eval(`document.activeElement === `+link))

		chip := `document.querySelector("#jobs-filters a[href*='state=running']")`
		w.eval(`(` + chip + `.focus(), window.count = ` + chip + `.innerText)`)
		put("3", "new", "RUNNING")
		w.awaits(chip + `.innerText !== window.count`)
		require.Equal(t, "true", w.eval(`document.activeElement === `+chip))
	})
	t.Run("keys lead over the map of nodes", func(t *testing.T) {
		server := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 0, 5000, time.Now()) })
		w := b.opens(t, server.start())
		w.goes(server.base + "/machines?rm=cluster")
		w.eval(`document.querySelector("#node-map svg").focus()`)
		w.shows("n00001: down")
		w.presses(kb.ArrowRight + kb.ArrowRight + kb.ArrowLeft)
		w.shows("n00002: partly in use")
		w.presses(kb.End)
		w.shows("n05000: ")
		server.model.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: "cluster", Kind: model.Node, Parent: "login.example.org", ID: "n05000", Attributes: webtest.Attributes(vocabulary.AttributeNodeState, "ERROR", vocabulary.AttributeNodeExtraState, "NONE")})
		})
		w.shows("n05000: error")
		w.presses(kb.Enter)
		w.awaits(`document.getElementById("node-details").innerText.includes("Node Number")`)
		w.eval(`document.querySelector("#node-details a").focus()`)
		server.model.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: "cluster", Kind: model.Node, Parent: "login.example.org", ID: "n05000", Attributes: webtest.Attributes(vocabulary.AttributeNodeState, "DOWN", vocabulary.AttributeNodeExtraState, "NONE")})
		})
		w.awaits(`document.getElementById("node-details").innerText.includes("down")`)
		require.Equal(t, "n05000", w.eval(`document.activeElement.innerText`))
		w.clicks("n05000")
		w.awaits(`location.pathname === "/node" && document.querySelector("h1")?.innerText === "Node n05000"`)
	})
	t.Run("output comes as it is written, and stays text", func(t *testing.T) {
		d := launchSite(t, map[string]string{"here": "local"})
		w := b.opens(t, d.start())
		job, address := d.submits("sh", "-c", `echo '<b>one</b>'; echo bad >&2; while ! [ -e go ]; do sleep 0.1; done; printf 'two\033[31m\n'; sleep 600`)
		w.goes(d.base + address)
		w.shows("<b>one</b>")
		d.submits("touch", "go")
		w.shows("two␛[31m")
		w.eval(`(window.real = window.fetch, window.fetch = () => { window.fetch = window.real; return Promise.reject(new TypeError("the line is cut")); })`)
		w.clicks("Standard error")
		w.shows("bad")
		require.Equal(t, "true", w.eval("window.fetch === window.real"), "the line was not cut")
		w.clicks("Cancel …")
		w.clicks("Cancel 1 job")
		w.awaits(`location.pathname === "/job"`)
		w.shows("canceled")
		d.sees(job.ID, vocabulary.StateTerminated)
	})
}
