package job_test

import (
	"fmt"

	"github.com/rmctl/rmctl/job"
)

// A word outside the vocabulary is not a state.
func ExampleParseDetail() {
	detail, known := job.ParseDetail("USER_ON_HOLD")
	fmt.Println(detail, detail.Primary(), detail.OnHold(), known)
	_, known = job.ParseDetail("PENDING")
	fmt.Println(known)
	// Output:
	// USER_ON_HOLD SUBMITTED true true
	// false
}
