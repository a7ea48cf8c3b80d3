// Package watch shows targets, queues, nodes and jobs on a terminal, full
// screen, and lets a user control them.
//
// It draws from snapshots of a model and never waits for a scheduler: what takes time,
// such as sorting a hundred thousand jobs or canceling one, runs in the background, and a
// key is answered at once. Changes of the model are shown a few times a second at most, so
// that a slow line is not kept busy.
package watch
