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
	ofParser  map[*config.Parser]*Coverage
	coverages map[*config.Definition]*Coverage
}

// Watch makes a runner tell what parsers do, beside whom it tells already. Call it
// before the runner tries cases.
func (c *Coverages) Watch(runner *Runner) {
	before := runner.Trace
	runner.Trace = func(one *Case, parser *config.Parser, event tokenizer.Event) {
		if before != nil {
			before(one, parser, event)
		}
		if coverage := c.of(runner, one, parser); coverage != nil {
			coverage.Trace(parser, event)
		}
	}
}

// of returns the coverage that a parser belongs to.
func (c *Coverages) of(runner *Runner, one *Case, parser *config.Parser) *Coverage {
	c.lock.RLock()
	coverage := c.ofParser[parser]
	c.lock.RUnlock()
	if coverage != nil {
		return coverage
	}
	definition, err := runner.Load(one.Definition, one.Folder)
	if err != nil {
		return nil // the runner tells it of the case
	}
	return c.add(definition)
}

// Add counts a definition even if no case uses it.
func (c *Coverages) Add(definition *config.Definition) { c.add(definition) }

func (c *Coverages) add(definition *config.Definition) *Coverage {
	c.lock.Lock()
	defer c.lock.Unlock()
	if coverage := c.coverages[definition]; coverage != nil {
		return coverage
	}
	if c.coverages == nil {
		c.ofParser, c.coverages = map[*config.Parser]*Coverage{}, map[*config.Definition]*Coverage{}
	}
	coverage := NewCoverage(definition)
	c.coverages[definition] = coverage
	for parser := range coverage.things.commands {
		c.ofParser[parser] = coverage
	}
	return coverage
}

// Reports tells what of each definition was exercised so far, by their names.
func (c *Coverages) Reports() []CoverageReport {
	c.lock.RLock()
	defer c.lock.RUnlock()
	reports := make([]CoverageReport, 0, len(c.coverages))
	for _, coverage := range c.coverages {
		reports = append(reports, coverage.Report())
	}
	slices.SortFunc(reports, func(a, b CoverageReport) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.File, b.File))
	})
	return reports
}
