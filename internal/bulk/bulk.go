// Package bulk does the same with many things.
package bulk

import "golang.org/x/sync/errgroup"

// Width is how many things a command works on at a time, if users do not choose.
const Width = 4

// Each calls work for each thing, a few at a time, and then done with each result, one at a
// time and in the order of the things.
func Each[T, R any](things []T, width int, work func(T) R, done func(int, R)) {
	results := make([]chan R, len(things))
	for i := range results {
		results[i] = make(chan R, 1)
	}
	var running errgroup.Group
	running.SetLimit(width + 1) // one starts the others
	running.Go(func() error {
		for i, thing := range things {
			running.Go(func() error {
				results[i] <- work(thing)
				return nil
			})
		}
		return nil
	})
	for i := range results {
		done(i, <-results[i])
	}
	_ = running.Wait() // its functions return nil
}
