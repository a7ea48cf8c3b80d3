package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rmctl/rmctl/internal/debug/guard"
	"github.com/rmctl/rmctl/internal/plaintext"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/stacks"
)

// mostCores bounds how many core files are read for one question.
const mostCores = 8192

// A RankOf returns the rank that an environment names.
type RankOf func(environment map[string]string) (rank int, isKnown bool)

// Cores reads the stacks in the core files that the patterns of a request match. The ranks come from the
// environments in the files; if one has none, or two have the same, all are numbered in the order of
// their names instead.
func Cores(ctx context.Context, options Options, request stacks.Request, rankOf RankOf, give func(Result)) error {
	if err := request.Check(); err != nil {
		return err
	}
	paths, err := expand(request.Cores)
	if err != nil {
		return err
	}
	cores := make([]core, len(paths))
	for i, path := range paths {
		cores[i] = readCore(path)
	}
	number(cores, rankOf)
	started, err := guard.Start(ctx, options.Guard)
	if err != nil {
		return err
	}
	defer started.Close()
	options.Limit = cmp.Or(options.Limit, usualLimit)
	worker := worker{collector: &collector{options: options, request: request, guard: started, give: give}}
	defer worker.close()
	for _, each := range cores {
		target := Target{Rank: each.rank}
		stack, err := worker.readCore(ctx, each)
		if err != nil {
			worker.fail([]Target{target}, filepath.Base(plaintext.Clean(each.path, 200))+": "+problemOf(ctx, err, target))
			continue
		}
		worker.pass(Result{Target: target, Stack: stack.Encode()})
	}
	return nil
}

// expand returns the files that patterns match, in the order of their names with numbers in
// them as numbers.
func expand(patterns []string) ([]string, error) {
	var paths []string
	isListed := map[string]bool{}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("invalid pattern of core files %q: %w", pattern, err)
		}
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !isListed[path] {
				isListed[path] = true
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no core file matches %s", plaintext.Clean(strings.Join(patterns, " "), 200))
	}
	if len(paths) > mostCores {
		return nil, fmt.Errorf("too many core files: %d, at most %d", len(paths), mostCores)
	}
	sorting.Stable(paths, sorting.CompareNumbered)
	return paths, nil
}

// number sets the ranks of cores.
func number(cores []core, rankOf RankOf) {
	owners := map[int]bool{}
	for i := range cores {
		rank, isKnown := rankOf(cores[i].environment)
		if cores[i].err == nil && (!isKnown || owners[rank]) {
			for i := range cores {
				cores[i].rank = i
			}
			return
		}
		owners[rank] = true
		cores[i].rank = rank
	}
}

// readCore reads the stack in a core file.
func (w *worker) readCore(ctx context.Context, core core) (stacks.Stack, error) {
	if ctx.Err() != nil {
		return stacks.Stack{}, context.Cause(ctx)
	}
	if core.err != nil {
		return stacks.Stack{}, core.err
	}
	if _, err := os.Stat(core.executable); err != nil {
		return stacks.Stack{}, fmt.Errorf("the executable is missing: %s", plaintext.Clean(cmp.Or(core.executable, "unknown"), 200))
	}
	w.close() // a debugger keeps the state of the last core
	if err := w.start(core.executable); err != nil {
		return stacks.Stack{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.Limit)
	defer cancel()
	threads, err := w.session.OpenCore(ctx, core.executable, core.path)
	if err != nil {
		return stacks.Stack{}, errors.New("the debugger cannot read it: " + err.Error())
	}
	return w.readThreads(ctx, Target{}, threads)
}
