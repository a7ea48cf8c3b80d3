// Package collect reads the stacks of processes on its node, by debuggers. DESIGN.md describes how it
// makes sure that no process stays stopped.
package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/stacks"
)

// usualLimit bounds how long one process is stopped.
const usualLimit = 20 * time.Second

// A Target is a process to read.
type Target struct {
	Namespace  string // of the rank; passed through
	Rank       int
	PID        int
	Start      uint64 // ticks since boot; 0 if unknown
	executable string // identity of its file
}

// A Result is one sample of a process, or why it failed.
type Result struct {
	Target
	Stack   json.RawMessage // an encoded [stacks.Stack]
	Problem string          // one line
}

// Options are the options of a node.
type Options struct {
	Guard  []string      // command that calls [guard.Serve]
	Limit  time.Duration // for each process and sample; 0: 20 s
	AtOnce int           // debuggers that work at the same time; 0: as many as processors
}

// A collector answers one request.
type collector struct {
	options Options
	request stacks.Request
	guard   *guard.Guard
	mutex   sync.Mutex
	give    func(Result)
}

// Collect reads the stacks of processes, and calls give for each result, from several goroutines but never
// concurrently. It skips further samples of a process that failed. When Collect returns, all processes run
// without a debugger.
func Collect(ctx context.Context, options Options, request stacks.Request, targets []Target, give func(Result)) error {
	if err := request.Check(); err != nil {
		return err
	}
	if len(targets) == 0 {
		return nil
	}
	started, err := guard.Start(ctx, options.Guard)
	if err != nil {
		return err
	}
	defer started.Close()
	options.Limit = cmp.Or(options.Limit, usualLimit)
	all := collector{options: options, request: request, guard: started, give: give}
	workers := make([]*worker, min(cmp.Or(options.AtOnce, runtime.NumCPU()), len(targets)))
	for i := range workers {
		workers[i] = &worker{collector: &all}
		defer workers[i].close()
	}
	targets = byExecutable(targets)
	begin := time.Now()
	for sample := range max(1, request.Samples) {
		if sample > 0 && !pause(ctx, begin.Add(time.Duration(sample)*request.Every)) {
			all.fail(targets, problemOf(ctx, context.Cause(ctx), Target{}))
			return nil
		}
		targets = all.round(ctx, workers, targets, sample)
	}
	return nil
}

// byExecutable sorts processes by program, because a debugger keeps the symbols of the last one.
func byExecutable(targets []Target) []Target {
	sorted := append([]Target{}, targets...)
	for i, target := range sorted {
		path := fmt.Sprintf("/proc/%d/exe", target.PID)
		sorted[i].executable, _ = os.Readlink(path)
		if info, err := os.Stat(path); err == nil {
			sorted[i].executable += info.ModTime().String()
		}
	}
	sorting.Stable(sorted, func(a, b Target) int { return strings.Compare(a.executable, b.executable) })
	return sorted
}

// pause waits until a time, and reports false if the context ends before.
func pause(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// round reads one sample of all processes, and returns those that answered.
func (c *collector) round(ctx context.Context, workers []*worker, targets []Target, sample int) []Target {
	next := make(chan int)
	answered := make([]bool, len(targets))
	var group sync.WaitGroup
	for _, worker := range workers {
		group.Go(func() {
			for index := range next {
				stack, err := worker.read(ctx, targets[index])
				if err != nil {
					c.fail(targets[index:index+1], problemOf(ctx, err, targets[index]))
					continue
				}
				stack.Sample = sample
				answered[index] = true
				c.pass(Result{Target: targets[index], Stack: stack.Encode()})
			}
		})
	}
	for index := range targets {
		next <- index
	}
	close(next)
	group.Wait()
	var left []Target
	for index, target := range targets {
		if answered[index] {
			left = append(left, target)
		}
	}
	return left
}

// fail gives a problem as the result of processes.
func (c *collector) fail(targets []Target, problem string) {
	for _, target := range targets {
		c.pass(Result{Target: target, Problem: problem})
	}
}

func (c *collector) pass(result Result) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.give(result)
}

var limits = mi.Limits{Inside: stacks.KeptInside, Outside: stacks.KeptOutside}
