package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// watching prints a listing in a synctest bubble, whose clock begins at 12:00, until its
// answers are used up. It returns the waits between them.
func watching(t *testing.T, a *app, took time.Duration, answers ...string) (waits []time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)))
		ctx, cancel := context.WithCancel(t.Context())
		var ended time.Time
		w := &listingWatch{app: a, title: "nodes of site", interval: 5 * time.Second}
		w.list = func(context.Context) (listed, error) {
			if !ended.IsZero() {
				waits = append(waits, time.Since(ended))
			}
			if len(answers) == 0 {
				cancel()
				return listed{}, ctx.Err()
			}
			time.Sleep(took)
			ended = time.Now()
			answer := answers[0]
			answers = answers[1:]
			if failure, failed := strings.CutPrefix(answer, "fails: "); failed {
				return listed{}, errors.New(failure)
			}
			return listed{print: func(seen string) error {
				if a.json {
					return terminal.JSON(a.stdout, map[string]string{"name": answer, "seen": seen[:len("2006-01-02T15:04:05")]})
				}
				_, err := fmt.Fprintln(a.stdout, answer)
				return err
			}}, nil
		}
		err = unlessInterrupted(ctx, w.run(ctx))
		cancel()
	})
	return waits, err
}

func TestAListingIsPrintedAgainAndAgainWithItsTime(t *testing.T) {
	var stdout, stderr bytes.Buffer
	waits, err := watching(t, &app{stdout: &stdout, stderr: &stderr}, 100*time.Millisecond, "n1 UP", "fails: no \x1b[2Janswer", "n1 DOWN")
	require.NoError(t, err, "an interrupt is how it ends")
	require.Equal(t, "2026-03-01 12:00:00  nodes of site\nn1 UP\n\n2026-03-01 12:00:10  nodes of site\nn1 DOWN\n\n", stdout.String())
	require.Equal(t, "rmctl: 2026-03-01 12:00:05: no \\u001b[2Janswer\n", stderr.String())
	require.Len(t, waits, 3)
	require.Equal(t, 4900*time.Millisecond, waits[0], "from the beginning of one to that of the next")
}

func TestAListingThatTakesLongIsAskedForLessOften(t *testing.T) {
	var stdout, stderr bytes.Buffer
	waits, err := watching(t, &app{stdout: &stdout, stderr: &stderr}, time.Second, "n1 UP")
	require.NoError(t, err)
	require.Equal(t, []time.Duration{19 * time.Second}, waits)
}

func TestEachObjectOfAWatchedListingHasItsTime(t *testing.T) {
	var stdout, stderr bytes.Buffer
	_, err := watching(t, &app{stdout: &stdout, stderr: &stderr, json: true}, 0, "n1", "n2")
	require.NoError(t, err)
	require.Equal(t, "{\"name\":\"n1\",\"seen\":\"2026-03-01T12:00:00\"}\n{\"name\":\"n2\",\"seen\":\"2026-03-01T12:00:05\"}\n", stdout.String())
}

func TestTheFirstListingHasToSucceed(t *testing.T) {
	var stdout, stderr bytes.Buffer
	_, err := watching(t, &app{stdout: &stdout, stderr: &stderr}, 0, "fails: no answer", "n1")
	require.EqualError(t, err, "no answer")
	require.Empty(t, stdout.String())
}

func TestWhatIsSaidStandsBelowAListing(t *testing.T) {
	var written strings.Builder
	a := &app{stdout: &written, stderr: &written}
	w := &listingWatch{app: a, title: "nodes of site"}
	drawn := ""
	f := &frame{notices: &tui.Notices{}, draw: func(text string) error {
		drawn = text
		return nil
	}}
	show := f.show(w)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	require.NoError(t, show(at, func() error {
		_, err := fmt.Fprintln(a.stdout, "n1 UP")
		return err
	}, nil))
	_, err := fmt.Fprintln(f.notices, "rmctl: warning: \x1b[2Jodd")
	require.NoError(t, err)
	require.NoError(t, show(at, nil, errors.New("no answer")))
	require.Equal(t, []string{"2026-03-01 12:00:00  nodes of site", "n1 UP", "! no answer", `rmctl: warning: \u001b[2Jodd`}, strings.Split(drawn, "\n"))
	require.Empty(t, written.String())
}

func TestAListingIsWatchedAtATerminal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a terminal")
	}
	d := rmctltest.NewDesk(t, "", rmctltest.Foreground)
	s := d.Sits("queues", "-t", "local", "--watch")
	s.WaitFor("queues of local")
	s.WaitFor("local  NORMAL")
	s.WaitFor("\x1b[3A")
	s.Type("\x03")
	s.Ends(exitDone)
	require.NotContains(t, s.Screen, "\x1b[?1049h", "what stood above stays")
}
