package tokenizer

import (
	"sync"

	"github.com/rmctl/rmctl/internal/javaregex"
)

// maxExpressions bounds what Expressions keeps: texts with the id of a job in
// them are new for each job.
const maxExpressions = 4096

// Expressions keeps compiled expressions for tokenizers that run the same
// parsers again and again, as tests of a definition do. The zero value is ready
// to use, and may be used by several goroutines at once.
type Expressions struct {
	lock     sync.RWMutex
	compiled map[patternKey]*javaregex.Regexp
}

// Compile returns an expression that was compiled before, or compiles it; nil
// compiles it each time. The error is that of javaregex.Compile.
func (e *Expressions) Compile(text string, flags javaregex.Flags) (*javaregex.Regexp, error) {
	if e == nil {
		return javaregex.Compile(text, flags)
	}
	key := patternKey{text, flags}
	e.lock.RLock()
	known := e.compiled[key]
	e.lock.RUnlock()
	if known != nil {
		return known, nil
	}
	compiled, err := javaregex.Compile(key.text, key.flags)
	if err != nil {
		return nil, err
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.compiled == nil || len(e.compiled) >= maxExpressions {
		e.compiled = map[patternKey]*javaregex.Regexp{}
	}
	e.compiled[key] = compiled
	return compiled, nil
}
