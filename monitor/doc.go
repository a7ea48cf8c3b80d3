// Package monitor keeps the picture of one scheduler in a model up to date: its queues, nodes
// and jobs, and the user's jobs on record.
//
// A [Monitor] lists as often as the scheduler allows and merges rows while they arrive. A
// complete listing removes what it lacks; a failed one leaves the picture stale. Output is
// hostile: it is bounded here and checked by the model, and mistakes are counted and logged once.
package monitor
