// Package breaks changes definitions as authors err, and reports the changes that no case
// notices.
package breaks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
)

// A Survivor is a change that no case notices.
type Survivor struct {
	Change   string `json:"change"`
	Position string `json:"position"`         // of the changed thing
	Reason   string `json:"reason,omitempty"` // from the reasons file
}

// A Report lists the changes of a definition that no case notices.
type Report struct {
	Definition string     `json:"definition"` // as the cases name it
	Cases      int        `json:"cases"`      // and flows
	Changes    int        `json:"changes"`    // that were tried
	Survivors  []Survivor `json:"survivors"`  // in document order
	Stale      []string   `json:"stale"`      // reasons for changes that do not survive
}

// Unexplained returns the number of survivors without a reason.
func (r Report) Unexplained() int {
	count := 0
	for _, each := range r.Survivors {
		if each.Reason == "" {
			count++
		}
	}
	return count
}

// Run changes the definitions with readers of the cases and flows in the folders. Reasons
// are by definition and change. The error is that of ctx or of an unreadable definition,
// or names a case that fails without any change.
func Run(ctx context.Context, runner *cases.Runner, folders []string, reasons map[string]map[string]string) ([]Report, error) {
	of := map[string][]string{} // folders by definition
	err := runner.RunAll(ctx, folders, func(result cases.Result) error {
		if result.Verdict != cases.Passed {
			return fmt.Errorf("%s fails; only cases that pass can notice a change", result.Folder)
		}
		name, err := runner.Resolve(result.Definition, result.Folder)
		of[name] = append(of[name], result.Folder)
		return err
	})
	if err != nil {
		return nil, err
	}
	var reports []Report
	for _, name := range slices.Sorted(maps.Keys(of)) {
		b := breaker{name: name, folders: of[name], parallel: cmp.Or(max(runner.Parallel, 0), runtime.GOMAXPROCS(0))}
		report, err := b.run(ctx, reasons[strings.TrimSuffix(filepath.Base(name), ".xml")])
		if err != nil {
			return nil, err
		}
		if report.Changes > 0 || len(report.Stale) > 0 {
			reports = append(reports, report)
		}
	}
	return reports, nil
}

// A breaker breaks one definition.
type breaker struct {
	name     string // or file of the definition
	parallel int

	mu      sync.Mutex
	folders []string // those that noticed recent changes first, since they are likely to notice similar ones
}

// order returns the folders in the order to run them.
func (b *breaker) order() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.folders)
}

// noticed moves a folder to the front.
func (b *breaker) noticed(folder string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.folders, folder)
	copy(b.folders[1:], b.folders[:at])
	b.folders[0] = folder
}

// load reads the definition again, since a change modifies it.
func (b *breaker) load() (*config.Definition, error) {
	file, source, err := check.ReadDefinition(b.name)
	if err != nil {
		return nil, err
	}
	return config.Read(file, source, check.ReadBase)
}

func (b *breaker) run(ctx context.Context, reasons map[string]string) (Report, error) {
	report := Report{Definition: b.name, Cases: len(b.folders), Survivors: []Survivor{}, Stale: []string{}}
	definition, err := b.load()
	if err != nil {
		return report, err
	}
	all := changesOf(definition)
	survive := make([]bool, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.parallel)
	for i, c := range all {
		group.Go(func() (err error) {
			survive[i], err = b.survives(ctx, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return report, err
	}
	report.Changes = len(all)
	used := map[string]bool{}
	for i, c := range all {
		if survive[i] {
			used[c.what] = true
			report.Survivors = append(report.Survivors, Survivor{Change: c.what, Position: c.at.String(), Reason: reasons[c.what]})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(reasons)) {
		if !used[what] {
			report.Stale = append(report.Stale, what)
		}
	}
	return report, nil
}

// errNoticed stops at the first case that notices a change.
var errNoticed = errors.New("a case notices it")

// survives reports whether no case notices a change. A case that can no longer run, since
// its command is missing, notices nothing.
func (b *breaker) survives(ctx context.Context, c change) (bool, error) {
	definition, err := b.load()
	if err != nil {
		return false, err
	}
	c.applyTo(definition)
	runner := &cases.Runner{Loaded: definition, Parallel: 1}
	err = runner.RunAll(ctx, b.order(), func(result cases.Result) error {
		if result.Verdict == cases.Differing {
			b.noticed(result.Folder)
			return errNoticed
		}
		return nil
	})
	if errors.Is(err, errNoticed) {
		return false, nil
	}
	return err == nil, err
}
