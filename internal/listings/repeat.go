package listings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// quiet limits listings to a twentieth of the time of a scheduler.
const quiet = 20

// A Repeated listing is printed repeatedly: in place on a terminal, otherwise one after the
// other, each with its time.
type Repeated struct {
	Title    string
	Interval time.Duration // the shortest from the beginning of one listing to that of the next
	List     Lister
	Output   Output
	Notices  *tui.Notices // messages below a listing that is in place; nil for others
}

// A Listed is a listing.
type Listed struct {
	Begun time.Time     // zero if the listing began with the call of the lister
	Took  time.Duration // likewise
	// Print prints the listing. The output has the time when it began.
	Print func(output Output) error
}

// A Lister makes a listing. With an error, the listing has times but cannot be printed.
type Lister func(ctx context.Context) (Listed, error)

// IsInPlace reports whether each listing replaces the previous one on the screen.
func IsInPlace(output Output) bool {
	return output.form == formTable && terminal.Is(output.Writer) && os.Getenv("TERM") != "dumb"
}

// Run lists and prints until the context ends, which is no error. The first listing has to
// succeed; if a later one fails, Run prints the error and continues.
func (r *Repeated) Run(ctx context.Context) error {
	err := r.run(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return errors.Join(err, ctx.Err())
}

func (r *Repeated) run(ctx context.Context) error {
	show, isShown := r.append, false
	if file, isFile := r.Output.Writer.(*os.File); isFile && r.Notices != nil {
		show = (&frame{Sink: terminal.Sink{File: file}, draw: tui.InPlace(file)}).show(r)
	}
	for {
		asked := time.Now()
		l, err := r.List(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !isShown {
			return err
		}
		if l.Begun.IsZero() {
			l.Begun, l.Took = asked, time.Since(asked)
		}
		if err := show(l, err); err != nil {
			return err
		}
		isShown = true
		next := l.Begun.Add(max(r.Interval, l.Took*quiet))
		select {
		case <-time.After(max(time.Until(next), 0)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// print prints a listing to a stream.
func (r *Repeated) print(l Listed, w io.Writer) error {
	output := r.Output
	output.Writer, output.Seen = w, job.Timestamp(l.Begun)
	return l.Print(output)
}

// append prints a listing after the others.
func (r *Repeated) append(l Listed, failure error) error {
	if failure != nil {
		r.Output.Say("%s: %v", terminal.Clock(l.Begun), failure)
		return nil
	}
	if r.Output.form != formTable {
		return r.print(l, r.Output.Writer)
	}
	if _, err := fmt.Fprintf(r.Output.Writer, "%s  %s\n", terminal.Clock(l.Begun), r.Title); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	err := r.print(l, r.Output.Writer)
	if err == nil {
		_, err = fmt.Fprintln(r.Output.Writer)
	}
	return err
}

// A frame buffers output until it is drawn over the previous listing.
type frame struct {
	terminal.Sink
	draw func(text string) error
}

// show returns what prints listings in place.
func (f *frame) show(r *Repeated) func(Listed, error) error {
	shown := ""
	return func(l Listed, failure error) error {
		problem := ""
		if failure != nil {
			problem = "\n! " + tui.OneLine(failure.Error())
		} else {
			f.Reset()
			if err := r.print(l, &f.Sink); err != nil {
				return err
			}
			shown = strings.TrimRight(fmt.Sprintf("%s  %s\n%s", terminal.Clock(l.Begun), r.Title, f.String()), "\n")
		}
		for _, notice := range r.Notices.Take() {
			problem += "\n" + tui.OneLine(notice)
		}
		return f.draw(shown + problem)
	}
}
