package job_test

import (
	"fmt"

	"github.com/rmctl/rmctl/job"
)

// What a scheduler says of a job is believed, except that a job which has
// ended does not come back.
func ExampleNext() {
	fmt.Println(job.Next(job.UserOnHold, job.QueuedActive))
	fmt.Println(job.Next(job.Running, job.QueuedActive))
	fmt.Println(job.Next(job.Running, job.Undetermined))
	fmt.Println(job.Next(job.Completed, job.Running))
	fmt.Println(job.Next(job.Completed, job.Failed))
	// Output:
	// QUEUED_ACTIVE
	// QUEUED_ACTIVE
	// RUNNING
	// COMPLETED
	// FAILED
}

// A word that is not of the vocabulary is no state.
func ExampleParseDetail() {
	detail, known := job.ParseDetail("USER_ON_HOLD")
	fmt.Println(detail, detail.Primary(), detail.OnHold(), known)
	_, known = job.ParseDetail("PENDING")
	fmt.Println(known)
	// Output:
	// USER_ON_HOLD SUBMITTED true true
	// false
}
