// Package site_test builds the site of the documentation and reads it in a browser, from disk.
package site_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

func TestMain(m *testing.M) { os.Exit(rmctltest.Main(m)) }

// patience bounds every wait for the browser.
const patience = 5 * time.Minute

func TestSiteOpensFromDisk(t *testing.T) {
	rmctltest.NeedClusters(t)
	folder := filepath.Join(t.TempDir(), "site")
	build := exec.Command("./build", folder)
	build.Env = append(os.Environ(), "RMCTL=rmctl")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	ctx, requested := startBrowser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, actions...))
	}
	read := func(expression string) string {
		t.Helper()
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
		require.NoError(t, err)
		return text
	}

	// A reader searches for a word, and follows the result.
	result := `#search-results a[href*="reference/targets-toml.html"]`
	do(chromedp.Navigate("file://"+folder+"/index.html"),
		chromedp.SendKeys(".sidebar-search", "targets.toml"+kb.Enter),
		chromedp.WaitVisible(result), chromedp.Click(result), chromedp.WaitVisible("#targets-toml"))
	require.Contains(t, read("document.title"), "targets.toml")

	// The reference of the commands is that of the program.
	do(chromedp.Navigate("file://"+folder+"/reference/commands/rmctl-submit.html"), chromedp.WaitVisible("#flags"))
	require.Contains(t, read("document.body.innerText"), "--array INDICES")

	background := func() string { return read("getComputedStyle(document.body).backgroundColor") }
	light := background()
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	require.NoError(t, err)
	require.NotEqual(t, light, background(), "a system in dark mode")
	colors := map[string]bool{}
	for range 3 { // automatic, light, dark
		colors[background()] = true
		do(chromedp.Click(".theme-toggle-content .theme-toggle"))
	}
	require.Len(t, colors, 2, "backgrounds: a light one and a dark one")

	for _, address := range requested() {
		require.True(t, strings.HasPrefix(address, "file://"+folder+"/") || strings.HasPrefix(address, "data:"), "a page loads %s", address)
	}
}

// startBrowser starts a Chromium without a window, which reaches no network. The function returns
// the addresses that pages requested.
func startBrowser(t *testing.T) (ctx context.Context, requested func() []string) {
	t.Helper()
	profile, err := os.MkdirTemp("", "rmctl-browser-")
	require.NoError(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(patience), chromedp.Env("HOME="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to have one as root
	}
	limited, cancel := context.WithTimeout(context.Background(), patience)
	allocator, end := chromedp.NewExecAllocator(limited, options...)
	ctx, leave := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		leave()
		end()
		chromedp.FromContext(ctx).Allocator.Wait()
		cancel()
		// Its helpers, which end after it, still write there.
		require.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, patience, 10*time.Millisecond)
	})
	require.NoError(t, chromedp.Do(ctx))

	var mutex sync.Mutex
	var addresses []string
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		if request, isRequest := event.(*network.EventRequestWillBeSent); isRequest {
			mutex.Lock()
			defer mutex.Unlock()
			addresses = append(addresses, request.Request.URL)
		}
	}))
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return ctx, func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return addresses
	}
}
