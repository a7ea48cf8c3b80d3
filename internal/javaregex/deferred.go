package javaregex

import "sync"

// A deferred value is created on first use. Unlike sync.OnceValues it needs no allocation, so a value
// that is never used, the usual case, is free.
type deferred[T any] struct {
	once  sync.Once
	value T
	err   error
}

// get returns the value or the error of creating it. The function must be the same in all calls.
func (l *deferred[T]) get(produce func() (T, error)) (T, error) {
	l.once.Do(func() { l.value, l.err = produce() })
	return l.value, l.err
}
