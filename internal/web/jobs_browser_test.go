package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/job"
)

func TestJobsInARealBrowser(t *testing.T) {
	b := startBrowser(t)
	t.Run("a job is submitted by keys alone", func(t *testing.T) {
		d := launchSite(t, map[string]string{"local": "local"})
		w := b.opens(t, d.start())
		w.goes(d.base + formOf("local"))
		name := `<img src=x onerror="document.title='ran'">`
		w.reaches("Job name")
		w.presses(name)
		w.reaches("Program")
		w.presses("/bin/echo")
		w.presses(kb.Tab + "'two words' <b>")
		w.shows("job-name=<img src=x onerror=") // in the command line
		w.reaches("Submit")
		w.presses(kb.Enter)
		w.awaits(`location.pathname === "/job"`)
		j, err := d.platform.Job(t.Context(), "local", w.eval(`new URLSearchParams(location.search).get("id")`))
		require.NoError(t, err)
		require.Equal(t, []string{"/bin/echo", "two words", "<b>"}, j.Arguments)
		require.Equal(t, name, j.Attributes["job-name"])
		d.ends(j.Tag, job.Completed)
		require.NotEqual(t, "ran", w.eval("document.title"))
		w.shows("two words <b>")
	})
	t.Run("a job is followed to its end and another one cancelled without loading the page anew", func(t *testing.T) {
		d := launchSite(t, map[string]string{"here": "local"})
		gate := filepath.Join(d.folder, "gate")
		require.NoError(t, syscall.Mkfifo(gate, 0o600))
		w := b.opens(t, d.start())
		_, address := d.submits("sh", "-c", `echo '<script>document.title="ran"</script>'; read line <"$0"; echo "$line"`, gate)
		w.goes(d.base + address)
		w.eval("window.isSame = true")
		w.shows("running")
		w.shows(`<script>document.title="ran"</script>`)
		script := `[...document.querySelectorAll("summary")].filter((s) => s.innerText === "Script")[0]`
		w.eval(`(` + script + `.focus(), ` + script + `.click())`)
		pipe, err := os.OpenFile(gate, os.O_RDWR, 0) // which does not wait for the job, as the job does for what it reads
		require.NoError(t, err)
		_, err = pipe.WriteString("<b>the end</b>\n")
		require.NoError(t, err)
		w.shows("<b>the end</b>")
		require.NoError(t, pipe.Close())
		w.shows("exit code 0")
		w.awaits(`document.getElementById("job-head").innerText.includes("completed")`)
		require.Equal(t, "true true", w.eval(script+`.parentElement.open + " " + (document.activeElement === `+script+`)`), "what was read was closed")
		require.Equal(t, "true", w.eval("window.isSame"), "the page was not loaded again")

		second, address := d.submits("sleep", "300")
		w.goes(d.base + "/jobs")
		w.eval("window.isSame = true")
		running := fmt.Sprintf(`[...document.querySelectorAll("tr")].some((r) => r.innerText.includes("here/%s") && r.innerText.includes("running"))`, second.ID)
		w.awaits(running)
		require.Equal(t, "true", w.eval("window.isSame"))
		w.goes(d.base + address)
		w.clicks("Cancel …")
		w.awaits(`document.querySelector("main form.card button.danger")`)
		w.reaches("Cancel 1 job")
		w.presses(kb.Enter)
		w.awaits("!document.querySelector('main form.card button.danger')")
		d.ends(second.Tag, job.Canceled)
		w.goes(d.base + "/jobs")
		w.awaits("!(" + running + ")")
		require.NotEqual(t, "ran", w.eval("document.title"))
	})
}

func TestSlurmInARealBrowser(t *testing.T) {
	cluster := rmctltest.Slurm(t, "web")
	t.Setenv("SLURM_CONF", cluster.Configuration)
	hostile := `<img src=x onerror="document.title='ran'">`
	cluster.Asks(t, "sbatch", "--job-name="+hostile, "--output=/dev/null", "--wrap=sleep 300")
	b := startBrowser(t)
	d := launchSite(t, map[string]string{"big": "slurm"})
	w := b.opens(t, d.start())
	w.goes(d.base + formOf("big"))
	require.Equal(t, "closed,normal", w.eval(`[...`+fieldOf("Partition")+`.list.options].map((o) => o.value).sort().join()`))
	for _, typed := range [][2]string{{"Job name", "<script>document.title='ran'</script>"}, {"Partition", "normal"}, {"Tasks", "2"}, {"Time limit", "many"}} {
		w.reaches(typed[0])
		w.eval("document.activeElement.select()")
		w.presses(typed[1])
	}
	w.awaits(fieldOf("Time limit") + `.ariaInvalid === "true"`)
	w.eval("document.activeElement.select()")
	w.presses("5")
	w.shows("#SBATCH --time=5")
	w.reaches("Program")
	w.presses("/bin/sleep" + kb.Tab + "300")
	w.shows("/bin/sleep 300")
	script := w.eval(`document.getElementById("launch-script").textContent.trim()`)
	w.clicks("Submit")
	w.awaits(`location.pathname === "/job"`)
	j, err := d.platform.Job(t.Context(), "big", w.eval(`new URLSearchParams(location.search).get("id")`))
	require.NoError(t, err)
	require.Equal(t, script, strings.TrimSpace(j.Script), "the preview was another one")
	known := cluster.Asks(t, "scontrol", "show", "job", j.ID)
	for _, fact := range []string{"NumTasks=2", "TimeLimit=00:05:00", "Partition=normal"} {
		require.Contains(t, known, fact)
	}
	w.eval("window.isSame = true")
	w.shows("running")
	require.Equal(t, "true", w.eval("window.isSame"), "the page was not loaded again")
	w.clicks("Cancel …")
	w.awaits(`document.querySelector("main form.card button.danger")`)
	w.reaches("Cancel 1 job")
	w.presses(kb.Enter)
	w.awaits("!document.querySelector('main form.card button.danger')")
	d.ends(j.Tag, job.Canceled)
	require.Eventually(t, func() bool { // until then it is completing
		return strings.Contains(cluster.Asks(t, "scontrol", "show", "job", j.ID), "JobState=CANCELLED")
	}, browserPatience, 50*time.Millisecond)

	w.goes(d.base + "/jobs")
	w.shows(hostile)
	require.NotEqual(t, "ran", w.eval("document.title"))
}

// ends waits until a job has ended in a state.
func (d *launchDesk) ends(tag string, detail job.Detail) {
	d.t.Helper()
	job, err := d.store.ByTag(d.t.Context(), tag)
	require.NoError(d.t, err)
	controller, err := d.platform.Controller(job.Target)
	require.NoError(d.t, err)
	ctx, cancel := context.WithTimeout(d.t.Context(), browserPatience)
	defer cancel()
	job, err = controller.Wait(ctx, job, "", nil)
	require.NoError(d.t, err, "%s", job.Detail)
	require.Equal(d.t, detail, job.Detail)
}
