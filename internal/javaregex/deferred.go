package javaregex

import "sync"

// A deferred value is made when it is first needed. Unlike those of
// sync.OnceValues it takes no allocation: one that is never needed, the rule
// here, costs nothing.
type deferred[T any] struct {
	once  sync.Once
	value T
	err   error
}

// get returns the value, or the error that making it ended with. What makes it
// must be the same in all calls.
func (l *deferred[T]) get(produce func() (T, error)) (T, error) {
	l.once.Do(func() { l.value, l.err = produce() })
	return l.value, l.err
}
