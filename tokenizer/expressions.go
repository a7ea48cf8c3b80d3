package tokenizer

import (
	"sync"

	"github.com/rmctl/rmctl/internal/javaregex"
)

// maxExpressions bounds the expressions kept: those that contain a job id differ for each job.
const maxExpressions = 4096

// Expressions caches compiled expressions for tokenizers that run the same parsers repeatedly, as tests
// of a definition do. The zero value is ready to use. It is safe for concurrent use.
type Expressions struct {
	lock     sync.RWMutex
	compiled map[patternKey]*javaregex.Regexp
}

// Compile returns the cached expression or compiles it. A nil Expressions compiles it each time. The
// error is that of javaregex.Compile.
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
