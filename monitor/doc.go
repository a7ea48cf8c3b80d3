// Package monitor keeps the picture of one resource manager in a model up to date:
// its queues, nodes and jobs, as its scheduler lists them with one command each,
// and the jobs of this user as they are on record.
//
// A [Monitor] queries as often as the scheduler bears and merges the rows while they
// still come. Only what a whole listing lacks is gone. When a query fails the picture
// stays, and says how old it is.
//
// What a scheduler prints is hostile. It is bounded here and checked by the model; views
// escape it. What is wrong with it is counted, and logged once.
package monitor
