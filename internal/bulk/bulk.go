// Package bulk repeats an operation for many things, a few at a time.
package bulk

import (
	"sync"
	"sync/atomic"
)

// Width is how many things a command works on at a time, if users do not choose.
const Width = 4

// Each calls work for each thing, a few at a time and begun in their order, and then done with
// each result, one at a time and in the order of the things.
func Each[T, R any](things []T, width int, work func(T) R, done func(int, R)) {
	results := make([]chan R, len(things))
	for i := range results {
		results[i] = make(chan R, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(width, len(things)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(things)); i = next.Add(1) - 1 {
				results[i] <- work(things[i])
			}
		})
	}
	for i := range results {
		done(i, <-results[i])
	}
	workers.Wait()
}
