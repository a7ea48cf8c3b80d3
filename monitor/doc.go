// Package monitor keeps the picture of one resource manager in a model up to date:
// its queues, nodes and jobs, as its scheduler lists them with one command each,
// and the jobs of this user as they are on record.
//
// A [Monitor] asks as often as the scheduler bears, merges the rows while they
// still come, and takes for gone only what a whole listing lacks. When asking fails
// the picture stays, and tells how old it is.
//
// What a scheduler prints is hostile. It is bounded here, checked by the model, and
// shown as it is: who shows it escapes it. What is wrong with it is counted, and
// told once.
package monitor
