package listings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// watching prints a listing in a synctest bubble, whose clock begins at 12:00, until its
// answers are used up. It returns the waits between them.
func watching(t *testing.T, output Output, took time.Duration, answers ...string) (waits []time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)))
		ctx, cancel := context.WithCancel(t.Context())
		var ended time.Time
		r := &Repeated{Title: "nodes of site", Interval: 5 * time.Second, Output: output}
		r.List = func(context.Context) (Listed, error) {
			if !ended.IsZero() {
				waits = append(waits, time.Since(ended))
			}
			if len(answers) == 0 {
				cancel()
				return Listed{}, ctx.Err()
			}
			time.Sleep(took)
			ended = time.Now()
			answer := answers[0]
			answers = answers[1:]
			if failure, failed := strings.CutPrefix(answer, "fails: "); failed {
				return Listed{}, errors.New(failure)
			}
			return Listed{Print: func(output Output) error {
				if output.form == formJSON {
					return terminal.JSON(output.Writer, map[string]string{"name": answer, "seen": output.Seen[:len("2006-01-02T15:04:05")]})
				}
				_, err := fmt.Fprintln(output.Writer, answer)
				return err
			}}, nil
		}
		err = r.Run(ctx)
		cancel()
	})
	return waits, err
}

func TestAListingIsPrintedAgainAndAgainWithItsTime(t *testing.T) {
	var stdout, stderr bytes.Buffer
	waits, err := watching(t, Output{Writer: &stdout, Say: sayTo(&stderr)}, 100*time.Millisecond, "n1 UP", "fails: no \x1b[2Janswer", "n1 DOWN")
	require.NoError(t, err, "an interrupt is how it ends")
	require.Equal(t, "2026-03-01 12:00:00  nodes of site\nn1 UP\n\n2026-03-01 12:00:10  nodes of site\nn1 DOWN\n\n", stdout.String())
	require.Equal(t, "2026-03-01 12:00:05: no \x1b[2Janswer\n", stderr.String())
	require.Len(t, waits, 3)
	require.Equal(t, 4900*time.Millisecond, waits[0], "from the beginning of one to that of the next")
}

func TestASlowListingIsQueriedLessOften(t *testing.T) {
	var stdout, stderr bytes.Buffer
	waits, err := watching(t, Output{Writer: &stdout, Say: sayTo(&stderr)}, time.Second, "n1 UP")
	require.NoError(t, err)
	require.Equal(t, []time.Duration{19 * time.Second}, waits)
}

func TestEachObjectOfAWatchedListingHasItsTime(t *testing.T) {
	var stdout bytes.Buffer
	_, err := watching(t, Output{Writer: &stdout, form: formJSON}, 0, "n1", "n2")
	require.NoError(t, err)
	require.Equal(t, "{\"name\":\"n1\",\"seen\":\"2026-03-01T12:00:00\"}\n{\"name\":\"n2\",\"seen\":\"2026-03-01T12:00:05\"}\n", stdout.String())
}

func TestAFailedFirstListingIsAnError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	_, err := watching(t, Output{Writer: &stdout, Say: sayTo(&stderr)}, 0, "fails: no answer", "n1")
	require.EqualError(t, err, "no answer")
	require.Empty(t, stdout.String())
}

func TestMessagesAreBelowAListing(t *testing.T) {
	var written strings.Builder
	r := &Repeated{Title: "nodes of site", Output: Output{Writer: &written, Say: sayTo(&written)}, Notices: &tui.Notices{}}
	drawn := ""
	show := (&frame{draw: func(text string) error {
		drawn = text
		return nil
	}}).show(r)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	require.NoError(t, show(Listed{Begun: at, Print: func(output Output) error {
		_, err := fmt.Fprintln(output.Writer, "n1 UP")
		return err
	}}, nil))
	_, err := fmt.Fprintln(r.Notices, "rmctl: warning: \x1b[2Jodd")
	require.NoError(t, err)
	require.NoError(t, show(Listed{Begun: at}, errors.New("no answer")))
	require.Equal(t, []string{"2026-03-01 12:00:00  nodes of site", "n1 UP", "! no answer", `rmctl: warning: \u001b[2Jodd`}, strings.Split(drawn, "\n"))
	require.Empty(t, written.String())
}

// sayTo returns a function that writes messages to a stream.
func sayTo(w io.Writer) func(string, ...any) {
	return func(format string, arguments ...any) { fmt.Fprintf(w, format+"\n", arguments...) }
}
