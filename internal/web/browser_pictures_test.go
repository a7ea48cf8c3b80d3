package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// maxPicture bounds a picture of the documentation, in bytes.
const maxPicture = 150 << 10

// An inventedPlace is a connection to a place that nobody has.
type inventedPlace struct{ remote.Connection }

func (inventedPlace) Info() remote.Info {
	return remote.Info{Transport: "ssh", User: "ada", Host: "login.example.org", Home: "/home/ada", System: "linux"}
}

// inventedSite serves the forms of definitions, by the names of targets
// that nobody has.
func inventedSite(t *testing.T, definitions map[string]*config.Definition) *launchDesk {
	t.Helper()
	folder := t.TempDir()
	text := ""
	for name, definition := range definitions {
		text += "[targets." + name + "]\ndefinition = \"slurm\"\n"
		definition.Commands = slices.DeleteFunc(slices.Clone(definition.Commands), func(c *config.Command) bool { return c.Element == config.StartUpCommand })
		definition.Monitor = config.Monitor{}
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte(text), 0o600))
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	store, err := jobstore.Open(t.Context(), filepath.Join(folder, "state"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	d := &launchDesk{folder: folder, store: store}
	d.platform, err = views.New(views.Options{Targets: targets, Folders: settings.Folders{User: folder}, Show: slices.Collect(maps.Keys(definitions)), Store: store,
		Open: func(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
			local, err := remote.NewLocal()
			if err != nil {
				return nil, nil, err
			}
			return control.New(control.Options{Target: target.Name, Definition: definitions[target.Name], Connection: inventedPlace{local}, Store: store}), local.Close, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.platform.Close()) })
	d.browser = serveWith(t, site{Platform: d.platform, Store: store, Folder: folder}, nil)
	for name := range definitions {
		d.starts(name)
	}
	return d
}

// inventedHistory writes what was in use of a cluster in the hour before as a server keeps it.
func inventedHistory(t *testing.T, now time.Time) string {
	var samples [][10]int
	for step := 360; step > 0; step-- {
		at := now.Add(-time.Duration(step) * 10 * time.Second)
		wave := math.Sin(float64(step)/50) + math.Sin(float64(step)/17)/4
		used := 700 + int(150*wave)
		samples = append(samples, [10]int{int(at.Unix()), 3, used, 942 - used, 18, 61440, used * 57, used - 100, 2000 + step + int(200*wave), 58})
	}
	text, err := json.Marshal(map[string]any{"version": 1, "managers": []any{map[string]any{"id": "cluster", "tiers": []any{samples, samples[:0], samples[:0]}}}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "history.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// RMCTL_UPDATE=1 RMCTL_CLUSTERS=1 go test ./internal/web -run Pictures redraws the pictures
// of the documentation, with invented jobs and places.
func TestPicturesOfTheDocumentation(t *testing.T) {
	if os.Getenv("RMCTL_UPDATE") != "1" {
		t.Skip("RMCTL_UPDATE=1 redraws the pictures of docs/images")
	}
	b := startBrowser(t)
	slurm, _, err := check.UsableDefinition("slurm")
	require.NoError(t, err)
	form := inventedSite(t, map[string]*config.Definition{"cluster": slurm})
	saved := &settings.LaunchConfiguration{Name: "nightly", Target: "cluster", Submission: job.Submission{Executable: "./simulate"}}
	require.NoError(t, saved.Save(form.folder, false))
	options := testPlatform(t)
	options.History = inventedHistory(t, time.Now())
	shown := serveWith(t, options, func(m *model.Model) { webtest.Demonstrate(t, m, 3000, 960, time.Now()) })
	w := b.opens(t, shown.start())
	w.prefers("light")
	w.does(chromedp.EmulateViewport(1280, 800))
	for name, address := range map[string]string{
		"managers": "/", "machines": "/machines", "queues": "/queues", "jobs": "/jobs", "timeline": "/timeline",
	} {
		w.goes(shown.base + address)
		w.saves(name)
	}
	w.goes(shown.base + "/utilisation")
	w.eval(`document.querySelector("main time.age").dateTime = new Date(Date.now() - 7200000).toISOString()`)
	w.shows("2 hours ago")
	w.saves("utilisation")
	w.does(chromedp.EmulateViewport(390, 780))
	w.goes(shown.base + "/jobs")
	w.saves("jobs-phone")

	pictureOfJob(t, b)

	w = b.opens(t, form.start())
	w.prefers("light")
	w.does(chromedp.EmulateViewport(1280, 1040))
	w.goes(form.base + "/launch?config=nightly&rm=cluster" + "&set=tasks%3D32&set=partition%3Dnormal")
	w.reaches("Memory per node")
	w.presses("16G")
	w.reaches("Time limit")
	w.presses("two hours")
	w.awaits(fieldOf("Time limit") + `.ariaInvalid === "true"`)
	w.saves("launch")
	w.eval("document.activeElement.select()")
	w.presses("2:00:00" + kb.Tab)
	w.awaits(fieldOf("Time limit") + `.ariaInvalid !== "true"`)
	w.does(chromedp.EmulateViewport(390, 780))
	w.eval("scrollTo(0, 0)")
	w.saves("launch-phone")
}

// pictureOfJob draws the page of a job of this machine, with other names for it.
func pictureOfJob(t *testing.T, b *realBrowser) {
	t.Helper()
	d := launchSite(t, map[string]string{"here": "local"})
	program := filepath.Join(d.home, "simulate")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nfor i in 1 2 3 4 5; do echo \"$1: step $i of 100, residual 0.0$((97 - 7 * i))\"; done\nexec sleep 300\n"), 0o700))
	job, address := d.submits(program, "plate.in")
	w := b.opens(t, d.start())
	w.prefers("light")
	w.does(chromedp.EmulateViewport(1280, 1000))
	w.goes(d.base + address)
	w.shows("running")
	w.shows("step 5 of 100")
	host, err := os.Hostname()
	require.NoError(t, err)
	for _, renamed := range [][2]string{{d.home, "/home/ada"}, {host, "login.example.org"}, {userName(t), "ada"}, {"here", "local"}} {
		w.eval(fmt.Sprintf(`(() => {
			const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (texts.nextNode()) texts.currentNode.nodeValue = texts.currentNode.nodeValue.replaceAll(%q, %q);
		})()`, renamed[0], renamed[1]))
	}
	w.saves("job")
	require.NoError(t, d.platform.Operate(t.Context(), "here", job.ID, control.Cancel))
	w.goes("about:blank") // the output that this page follows ends with the server
}

// saves draws what the window shows.
func (w *tab) saves(name string) {
	w.t.Helper()
	picture, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	require.NoError(w.t, err)
	picture = small(w.t, picture)
	require.Less(w.t, len(picture), maxPicture, "%s is too large for the documentation", name)
	folder := filepath.Join(rmctltest.Project(w.t), "docs", "images")
	require.NoError(w.t, os.MkdirAll(folder, 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
}

// small returns a picture in its 256 most frequent colours. Pages have few; the
// others are edges of letters.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	drawn, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	counts := map[color.Color]int{}
	bounds := drawn.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[drawn.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	reduced := image.NewPaletted(bounds, color.Palette(colours[:min(len(colours), 256)]))
	nearest := map[color.Color]uint8{}
	for _, each := range colours {
		nearest[each] = uint8(reduced.Palette.Index(each))
	}
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			reduced.SetColorIndex(x, y, nearest[drawn.At(x, y)])
		}
	}
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, reduced))
	return out.Bytes()
}
