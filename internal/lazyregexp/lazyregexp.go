// Package lazyregexp compiles the regular expressions of package-level
// variables at their first use, so that they cost nothing at start-up.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is an expression that is compiled when a method first needs it.
// It is safe for concurrent use.
type Regexp struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the Regexp of an expression. A method panics if the expression
// is invalid; a test of this package compiles all of them.
func New(text string) *Regexp {
	return &Regexp{text: text}
}

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.text) })
	return r.compiled
}

// Match reports whether the bytes hold a match.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// MatchString reports whether the text holds a match.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// Find is [regexp.Regexp.Find]; the methods below correspond likewise.
func (r *Regexp) Find(b []byte) []byte { return r.get().Find(b) }

func (r *Regexp) FindString(s string) string             { return r.get().FindString(s) }
func (r *Regexp) FindStringSubmatch(s string) []string   { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int   { return r.get().FindAllIndex(b, n) }
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAll(b, with []byte) []byte       { return r.get().ReplaceAll(b, with) }
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, with)
}
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
