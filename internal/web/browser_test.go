package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// browserPatience bounds every wait for something that must happen in a browser.
const browserPatience = 5 * time.Minute

// A realBrowser is a Chromium without a window, which reaches nothing but this
// machine.
type realBrowser struct {
	ctx context.Context
}

// startBrowser starts a browser, which ends with the test.
func startBrowser(t *testing.T) *realBrowser {
	t.Helper()
	rmctltest.NeedClusters(t)
	program, err := exec.LookPath("chromium")
	require.NoError(t, err, "testdata/clusters/install.sh installs it")
	profile, err := os.MkdirTemp("", "rmctl-browser-")
	require.NoError(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(browserPatience), // on a busy machine it starts slowly
		chromedp.Env("HOME="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium refuses to have as root; it sees pages of the test alone
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, leave := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		leave()
		end()
		chromedp.FromContext(ctx).Allocator.Wait()
		// Its helpers, which end after it, still write there.
		require.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, browserPatience, 10*time.Millisecond)
	})
	require.NoError(t, chromedp.Do(ctx), "starting %s", program)
	return &realBrowser{ctx: ctx}
}

// A tab is a window of a browser, of a user who has no cookies yet.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // what scripts complained of, and what the policy of pages forbade
	forgiven []string // texts of problems that do not count
}

// opens opens an address in a window of its own. The test fails at its end if a
// script failed there, or did what it must not do.
func (b *realBrowser) opens(t *testing.T, address string) *tab {
	t.Helper()
	ctx, leave := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	w := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		leave()
		w.mu.Lock()
		defer w.mu.Unlock()
		require.Empty(t, slices.DeleteFunc(w.problems, func(problem string) bool {
			return slices.ContainsFunc(w.forgiven, func(text string) bool { return strings.Contains(problem, text) })
		}))
	})
	require.NoError(t, chromedp.Listen(ctx, w.listen))
	_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	// Several windows of one browser: each is to behave as the one in front.
	_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	require.NoError(t, err)
	w.goes(address)
	return w
}

func (w *tab) listen(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			problem += " " + thrown.Description
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a script asks: " + e.Message
	case *log.EventEntryAdded:
		// That the server refuses a form is no fault of the page.
		if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "status of 422") {
			problem = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if problem != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.problems = append(w.problems, problem)
	}
}

// forgives lets complaints that hold a text not count, those that are still to come included.
func (w *tab) forgives(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgiven = append(w.forgiven, text)
}

// does does something, which must succeed in time.
func (w *tab) does(actions ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, browserPatience)
	defer cancel()
	require.NoError(w.t, chromedp.Do(ctx, actions...), "%s", w.seen())
}

// seen returns the text of the page, for the messages of tests.
func (w *tab) seen() string {
	ctx, cancel := context.WithTimeout(w.ctx, browserPatience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

func (w *tab) goes(address string) {
	w.t.Helper()
	w.does(chromedp.Navigate(address))
}

// awaits waits until an expression is true on the page, which may be another one by then.
func (w *tab) awaits(expression string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, browserPatience)
	defer cancel()
	// A page that is just loading has parts of what expressions look at.
	watching := fmt.Sprintf(`new Promise((resolve) => {
		const holds = () => { try { return %s; } catch { return false; } };
		const look = () => holds() ? resolve(true) : setTimeout(look, 20);
		look();
	})`, expression)
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](watching, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		isLeft := strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed") || strings.Contains(err.Error(), "Cannot find context")
		require.True(w.t, isLeft && ctx.Err() == nil, "waiting for %s: %v\n%s", expression, err, w.seen())
	}
}

// shows waits until the page shows a text.
func (w *tab) shows(text string) {
	w.t.Helper()
	w.awaits(fmt.Sprintf("document.body && document.body.innerText.includes(%s)", quotedForScript(text)))
}

// hides waits until the page does not show a text any more.
func (w *tab) hides(text string) {
	w.t.Helper()
	w.awaits(fmt.Sprintf("document.body && !document.body.innerText.includes(%s)", quotedForScript(text)))
}

// eval returns the value of an expression on the page.
func (w *tab) eval(expression string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, browserPatience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(w.t, err, "%s", expression)
	return text
}

// evalLater returns the value of a promise on the page.
func (w *tab) evalLater(promise string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, browserPatience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](promise, chromedp.EvalAwaitPromise))
	require.NoError(w.t, err, "%s", promise)
	return text
}

// fieldOf is an expression for the input that a label is for.
func fieldOf(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("label")].filter((l) => l.innerText.trim() === %s).map((l) => l.control)[0]`, quotedForScript(label))
}

// reaches moves the focus with the Tab key alone until it is on the field of a
// label or on the button of a text.
func (w *tab) reaches(label string) {
	w.t.Helper()
	here := fmt.Sprintf(`(() => { const a = document.activeElement; return a === %s || a.matches("button, a") && a.innerText.trim() === %s; })()`, fieldOf(label), quotedForScript(label))
	for range 200 {
		if w.eval(here) == "true" {
			return
		}
		w.presses(kb.Tab)
	}
	require.Fail(w.t, "the Tab key leads nowhere near", "%q in %s", label, w.seen())
}

// presses presses keys where the focus is.
func (w *tab) presses(keys string) {
	w.t.Helper()
	w.does(chromedp.KeyEvent(keys))
}

// clicks clicks on the button of a text.
func (w *tab) clicks(button string) {
	w.t.Helper()
	w.awaits(buttonOf(button) + " !== undefined")
	w.eval(buttonOf(button) + ".click()")
}

func buttonOf(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("button, a")].filter((b) => b.innerText.trim() === %s)[0]`, quotedForScript(text))
}

func quotedForScript(text string) string { return fmt.Sprintf("%q", text) }
