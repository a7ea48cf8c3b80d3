package casereport

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rmctl/rmctl/cases"
)

// JUnit collects results as JUnit's XML: a test suite for each definition, a test case for
// each case.
type JUnit struct {
	suites []*junitSuite
}

type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"`
	Time     string        `xml:"time,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`

	took time.Duration
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Add adds one result.
func (r *JUnit) Add(result cases.Result) {
	suite := r.suite(result.Definition)
	one := junitCase{Name: oneLine(result.Folder), Class: suite.Name, Time: seconds(result.Duration)}
	suite.Tests++
	suite.took += result.Duration
	lines := explanation(result)
	switch result.Verdict {
	case cases.Differing:
		suite.Failures++
		one.Failure = &junitProblem{Message: fmt.Sprintf("%d differences", len(lines)), Text: strings.Join(lines, "\n")}
	case cases.Broken:
		suite.Errors++
		one.Error = &junitProblem{Message: "could not run the case", Text: strings.Join(lines, "\n")}
	}
	suite.Cases = append(suite.Cases, one)
}

func (r *JUnit) suite(definition string) *junitSuite {
	name := oneLine(definition)
	if name == "" {
		name = "unreadable"
	}
	for _, suite := range r.suites {
		if suite.Name == name {
			return suite
		}
	}
	suite := &junitSuite{Name: name}
	r.suites = append(r.suites, suite)
	return suite
}

// Write writes the document.
func (r *JUnit) Write(w io.Writer) error {
	all := junitSuites{Name: "rmctl test", Suites: r.suites}
	var took time.Duration
	for _, suite := range r.suites {
		suite.Time = seconds(suite.took)
		took += suite.took
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Errors+suite.Errors
	}
	all.Time = seconds(took)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

// WriteFile writes the report to a file.
func (r *JUnit) WriteFile(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := r.Write(file); err != nil {
		_ = file.Close() // the write error is the cause
		return fmt.Errorf("writing the report %s: %w", name, err)
	}
	return file.Close()
}
