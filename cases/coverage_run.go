package cases

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// Coverages collects the coverage of all definitions that a Runner's cases use.
// Its methods may be called from several goroutines at once; the zero value is
// ready to use.
type Coverages struct {
	lock      sync.RWMutex
	coverages map[*config.Definition]*definitionCoverage
}

// Watch makes a runner tell what parsers do, beside whom it tells already. Call it
// before the runner tries cases.
func (c *Coverages) Watch(runner *Runner) {
	before := runner.Trace
	runner.Trace = func(read Reading, event tokenizer.TraceEvent) {
		if before != nil {
			before(read, event)
		}
		c.of(read.Definition).Trace(read.Parser, event)
	}
}

// Add counts a definition even if no case uses it.
func (c *Coverages) Add(definition *config.Definition) { c.of(definition) }

func (c *Coverages) of(definition *config.Definition) *definitionCoverage {
	c.lock.RLock()
	coverage := c.coverages[definition]
	c.lock.RUnlock()
	if coverage != nil {
		return coverage
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if coverage := c.coverages[definition]; coverage != nil {
		return coverage
	}
	if c.coverages == nil {
		c.coverages = map[*config.Definition]*definitionCoverage{}
	}
	coverage = newCoverage(definition)
	c.coverages[definition] = coverage
	return coverage
}

// Reports tells what of each definition was exercised so far, by their names.
func (c *Coverages) Reports() []CoverageReport {
	c.lock.RLock()
	defer c.lock.RUnlock()
	reports := make([]CoverageReport, 0, len(c.coverages))
	for _, coverage := range c.coverages {
		reports = append(reports, coverage.report())
	}
	slices.SortFunc(reports, func(a, b CoverageReport) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.File, b.File))
	})
	return reports
}
