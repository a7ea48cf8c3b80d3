package cases

import (
	"fmt"
	"io"
	"strings"
)

// A TAPReport writes results in the Test Anything Protocol, version 13.
type TAPReport struct {
	to    io.Writer
	count int
}

// NewTAPReport returns a report that is written to w as results are added.
func NewTAPReport(w io.Writer) *TAPReport { return &TAPReport{to: w} }

// Add writes one result.
func (r *TAPReport) Add(result Result) error {
	var text strings.Builder
	if r.count == 0 {
		text.WriteString("TAP version 13\n")
	}
	r.count++
	word := "not ok"
	if result.Good() {
		word = "ok"
	}
	// a # would begin a directive, such as one to skip the test
	fmt.Fprintf(&text, "%s %d - %s\n", word, r.count, strings.ReplaceAll(oneLine(result.Folder), "#", `\#`))
	for _, line := range result.explanation() {
		fmt.Fprintf(&text, "# %s\n", line)
	}
	_, err := io.WriteString(r.to, text.String())
	return err
}

// Close writes the plan, which tells readers that nothing is missing.
func (r *TAPReport) Close() error {
	header := ""
	if r.count == 0 {
		header = "TAP version 13\n"
	}
	_, err := fmt.Fprintf(r.to, "%s1..%d\n", header, r.count)
	return err
}
