package rsl_test

import (
	"errors"
	"fmt"

	"github.com/rmctl/rmctl/rsl"
)

func Example() {
	text := `&(executable = $(HOME)/bin/solver) (count = 4)`
	spec, err := rsl.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	job := spec.(*rsl.Boolean)
	job.Set("count", rsl.Literals("8")...)
	fmt.Println(rsl.Print(job))

	evaluated, _, err := rsl.Evaluate(job, map[string]string{"HOME": "/home/ann"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rsl.PrintValue(evaluated.(*rsl.Boolean).Relation("executable").Values[0]))
	// Output:
	// &("executable" = $("HOME") # "/bin/solver" )("count" = "8" )
	// "/home/ann/bin/solver"
}

func ExampleParse_errors() {
	text := "&(executable=)\n (count=two=2)"
	_, err := rsl.Parse(text)
	if problems, isInvalid := errors.AsType[rsl.Problems](err); isInvalid {
		for _, problem := range problems {
			fmt.Println(problem)
		}
	}
	// Output:
	// line 1, column 14: attribute "executable" has no value
	// line 2, column 12: unexpected "=" instead of a value or ")"
}
