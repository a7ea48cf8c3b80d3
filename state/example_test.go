package state_test

import (
	"fmt"

	"github.com/rmctl/rmctl/state"
)

// What a scheduler says of a job is believed, except that a job which has
// ended does not come back.
func ExampleNext() {
	fmt.Println(state.Next(state.UserOnHold, state.QueuedActive))
	fmt.Println(state.Next(state.Running, state.QueuedActive))
	fmt.Println(state.Next(state.Running, state.Undetermined))
	fmt.Println(state.Next(state.Completed, state.Running))
	fmt.Println(state.Next(state.Completed, state.Failed))
	// Output:
	// QUEUED_ACTIVE
	// QUEUED_ACTIVE
	// RUNNING
	// COMPLETED
	// FAILED
}

// A word that is not of the vocabulary is no state.
func ExampleParse() {
	detail, known := state.Parse("USER_ON_HOLD")
	fmt.Println(detail, detail.Primary(), detail.OnHold(), known)
	_, known = state.Parse("PENDING")
	fmt.Println(known)
	// Output:
	// USER_ON_HOLD SUBMITTED true true
	// false
}
