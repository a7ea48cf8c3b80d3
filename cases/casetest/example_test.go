package casetest_test

import (
	"testing"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/cases/casetest"
)

// In a file whose name ends in _test.go this tries all cases below testdata.
func ExampleRun() {
	_ = func(t *testing.T) { // TestDefinition
		casetest.Run(t, "testdata/cases")
	}
}

// The recordings of one definition can be tried on another, such as the one that
// a site has made of it.
func ExampleRunWith() {
	_ = func(t *testing.T) { // TestSiteReadsWhatTheShippedDefinitionReads
		casetest.RunWith(t, &cases.Runner{Definition: "mysite.xml"}, "testdata/cases")
	}
}
